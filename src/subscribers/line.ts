/** `info` is left out by --quiet, `detail` is shown only by --verbose, `end` is the last line of a run that went well. */
export type Level = 'info' | 'detail' | 'warning' | 'error' | 'end';

/** One line for people, before it is made safe for where it goes. */
export interface Line {
  level: Level;
  text: string;
}
