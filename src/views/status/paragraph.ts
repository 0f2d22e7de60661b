/** A text of a hub, fitted into the width of an output. Pure. */
import { relativeTimes } from '../text/age.ts';
import { formatHanging } from '../text/wrap.ts';
import { inOneLine } from './hub-status.ts';

export interface FrameSize {
  readonly now: Date;
  readonly columns: number;
  /** So that the commands of hints work where they are printed. */
  readonly makeRunnable: (text: string) => string;
}

/** Behind the head; further lines begin below the text. With relative times, and commands that work here. */
export function hubParagraph(head: string, text: string, { now, columns, makeRunnable }: FrameSize): string {
  return formatHanging(head, makeRunnable(relativeTimes(inOneLine(text), now)), columns);
}
