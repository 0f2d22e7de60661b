/** A text of a hub, fitted into the width of an output. Pure. */
import { relativeTimes } from '../../age.ts';
import { makeRunnable } from '../../format/runnable.ts';
import { formatHanging } from '../../format/wrap.ts';
import type { Io } from '../../io.ts';
import { inOneLine } from './hub-status.ts';

export interface FrameSize {
  readonly now: Date;
  readonly columns: number;
  /** In which the commands of hints run. */
  readonly env: Io['env'];
}

/** Behind the head; further lines begin below the text. With relative times, and commands that work here. */
export function hubParagraph(head: string, text: string, { now, columns, env }: FrameSize): string {
  return formatHanging(head, makeRunnable(relativeTimes(inOneLine(text), now), env), columns);
}
