// Who watches a run on behalf of a front door: progress for people, the event stream for programs.

import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { createBodies } from '../subscribers/bodies.ts';
import { createProgress } from '../subscribers/progress.ts';
import { createStreamJson } from '../subscribers/stream-json.ts';
import { BODIES } from './run-folder.ts';
import type { Clock } from '../core/ports.ts';
import { createLiveArea as liveOn, type LiveArea } from '../subscribers/live-area.ts';
import type { RunRequest } from './run.ts';

export { liveOn, type LiveArea };

export interface WatchOptions {
  /** Takes progress lines for people. */
  progress: {
    write(text: string): void;
    quiet: boolean;
    verbose: boolean;
    color: boolean;
    /** Absent: nobody is told when nothing happens. */
    clock?: Clock;
    /** A terminal, with one line that is redrawn. */
    live?: LiveArea;
  };
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
    ...(progress.verbose ? [createBodies((text) => appendTo(join(place.run_dir, BODIES), text))] : []),
    ...(events ? [createStreamJson(events)] : []),
  ];
}

function appendTo(file: string, text: string): void {
  appendFileSync(file, text, { mode: 0o600 });
}
