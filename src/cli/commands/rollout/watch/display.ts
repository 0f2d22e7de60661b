/** Where a live view goes: a terminal, which is redrawn; a log, a line for each change; or a program, a JSON object for each change. */
import { isDeepStrictEqual } from 'node:util';
import { printableLine, printableText } from '../../../../kube/objects/printable.ts';
import type { Io, Screen } from '../../../io.ts';
import { formatRollout } from '../view/text.ts';
import type { RolloutView } from '../view/view.ts';
import { changeLines } from './changes.ts';

export interface Display {
  show(view: RolloutView, stale: string | undefined): void;
  /** After this time it is shown again although nothing changed, because ages did. Undefined: never. */
  readonly redrawMs?: number;
}

export function createDisplay(io: Io, output: 'table' | 'json'): Display {
  if (output === 'json') return jsonDisplay(io);
  return io.screen() ? screenDisplay(io) : lineDisplay(io);
}

function jsonDisplay(io: Io): Display {
  let before: RolloutView | undefined;
  return {
    show(view, stale) {
      if (stale !== undefined) io.err(`${printableLine(stale)}\n`);
      if (isDeepStrictEqual(before, view)) return;
      before = view;
      io.out(`${printableText(JSON.stringify(view))}\n`);
    },
  };
}

function lineDisplay(io: Io): Display {
  let before: RolloutView | undefined;
  let warned: string | undefined;
  return {
    show(view, stale) {
      if (stale !== undefined && stale !== warned) io.err(`${view.set}: ${printableLine(stale)}\n`);
      warned = stale;
      for (const line of changeLines(before, view)) io.out(`${line}\n`);
      before = view;
    },
  };
}

function screenDisplay(io: Io): Display {
  let drawn = 0;
  return {
    redrawMs: 1000,
    show(view, stale) {
      const screen = io.screen() ?? { columns: 80, rows: 24 };
      const lines = frameLines(view, stale, io.clock.now(), screen);
      io.out(
        `${drawn === 0 ? '' : `\r\u001B[${drawn}A\u001B[J`}${lines.map((line) => `${line}\n`).join('')}`,
      );
      drawn = lines.length;
    },
  };
}

/** The summary has up to this many lines besides the lists of machines. */
const SUMMARY_ROWS = 16;

/** Never more or longer lines than the terminal has: the next frame goes back over exactly these. */
export function frameLines(
  view: RolloutView,
  stale: string | undefined,
  now: Date,
  { columns, rows }: Screen,
): readonly string[] {
  const listRows = Math.max(1, rows - SUMMARY_ROWS);
  const text = formatRollout(view, now, { columns, listRows });
  const lines = [
    ...(stale === undefined ? [] : [`! ${printableLine(stale)}`]),
    ...text.trimEnd().split('\n'),
  ];
  return lines.slice(0, rows - 1).map((line) => line.slice(0, columns));
}
