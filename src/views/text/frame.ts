/** Fits a live view into a terminal. Pure. */
import { styleText } from 'node:util';
import { printableLine } from '../../kube/objects/printable.ts';
import { formatCount } from './counts.ts';

/** The size of a terminal. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
}

export interface FrameLine {
  readonly text: string;
  readonly tone?: Tone;
}

export type Tone = 'good' | 'busy' | 'bad' | 'quiet';

const STYLES = { good: 'green', busy: 'yellow', bad: 'red', quiet: 'dim' } as const;

/** Splits a text into lines without a tone. */
export function plainLines(text: string): readonly FrameLine[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => ({ text: line }));
}

/** Fits lines into the terminal. Returns never more or longer lines than it has: the next frame goes back over exactly these. */
export function frameLines(
  lines: readonly FrameLine[],
  stale: string | undefined,
  { columns, rows }: Screen,
  color: boolean,
): readonly string[] {
  const warning: readonly FrameLine[] =
    stale === undefined ? [] : [{ text: `! ${printableLine(stale)}`, tone: 'bad' }];
  return fitRows([...warning, ...lines], Math.max(1, rows - 1)).map(({ text, tone }) => {
    const fitting = text.slice(0, columns);
    // The stream is not asked: `color` has decided already.
    return color && tone ? styleText(STYLES[tone], fitting, { validateStream: false }) : fitting;
  });
}

function fitRows(lines: readonly FrameLine[], rows: number): readonly FrameLine[] {
  if (lines.length <= rows) return lines;
  const shown = lines.slice(0, rows - 1);
  return [...shown, { text: `and ${formatCount(lines.length - shown.length, 'more line')}`, tone: 'quiet' }];
}
