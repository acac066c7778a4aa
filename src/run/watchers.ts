// Who watches a run on behalf of a front door: progress for people, the event stream for programs.

import { createProgress } from '../subscribers/progress.ts';
import { createStreamJson } from '../subscribers/stream-json.ts';
import type { RunRequest } from './run.ts';

export interface WatchOptions {
  /** Takes progress lines for people. */
  progress: { write(text: string): void; quiet: boolean; verbose: boolean; color: boolean };
  /** Takes one event a line; absent: nobody wants them. */
  events?: (line: string) => void;
}

/** The subscribers of a run that report to a terminal, a log or a pipe. */
export function watchRun({ progress, events }: WatchOptions): RunRequest['subscribers'] {
  return (place) => [
    createProgress({
      ...progress,
      transcript: place.transcript,
      earlier: place.earlier,
      next: place.next,
    }),
    ...(events ? [createStreamJson(events)] : []),
  ];
}
