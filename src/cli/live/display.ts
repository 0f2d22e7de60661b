/**
 * Displays a live view: in a terminal, which is redrawn; in a log, a line for each change; or for a program, a document for each change.
 */
import { isDeepStrictEqual } from 'node:util';
import { printableLine, printableText } from '../../kube/objects/printable.ts';
import type { Screen } from '../../views/text/frame.ts';
import { type FrameLine, frameLines } from '../../views/text/frame.ts';
import { formatYaml } from '../../views/text/yaml.ts';
import type { Io } from '../io.ts';
import { type OutputFormat } from '../output.ts';

export interface Display<View> {
  show(view: View, stale: string | undefined): void;
  /** The time after which the view is shown again although nothing changed, because ages did. Undefined: never. */
  readonly redrawMs?: number;
}

/** Describes how the views of one command are shown. Pure. */
export interface Presentation<View> {
  /** Returns the text with which the warnings of a log begin. */
  readonly label: (view: View) => string;
  /** Returns a line for each change since `before`; without it, the current state. */
  readonly changes: (before: View | undefined, after: View, now: Date) => readonly string[];
  readonly frame: (view: View, now: Date, screen: Screen) => readonly FrameLine[];
  /** Returns what decides whether a program gets a new document: two equal values are one document. Default: the whole view. */
  readonly compared?: (view: View) => unknown;
}

export function createDisplay<View>(
  io: Io,
  output: OutputFormat,
  presentation: Presentation<View>,
): Display<View> {
  if (output !== 'table') return documentDisplay(io, output, presentation);
  return io.screen() ? screenDisplay(io, presentation) : lineDisplay(io, presentation);
}

function documentDisplay<View>(
  io: Io,
  output: 'json' | 'yaml',
  { label, compared = (view) => view }: Presentation<View>,
): Display<View> {
  const warn = createWarnings(io);
  let before: unknown;
  return {
    show(view, stale) {
      warn(label(view), stale);
      const next = compared(view);
      if (isDeepStrictEqual(before, next)) return;
      before = next;
      io.out(output === 'json' ? `${printableText(JSON.stringify(view))}\n` : `---\n${formatYaml(view)}`);
    },
  };
}

function lineDisplay<View>(io: Io, { label, changes }: Presentation<View>): Display<View> {
  const warn = createWarnings(io);
  let before: View | undefined;
  return {
    show(view, stale) {
      warn(label(view), stale);
      for (const line of changes(before, view, io.clock.now())) io.out(`${line}\n`);
      before = view;
    },
  };
}

/** Creates a function that warns once for each reason, and when it is over. */
function createWarnings(io: Io): (label: string, stale: string | undefined) => void {
  let warned: string | undefined;
  return (label, stale) => {
    if (stale === warned) return;
    warned = stale;
    io.err(`${label}: ${stale === undefined ? 'the server answers again' : printableLine(stale)}\n`);
  };
}

function screenDisplay<View>(io: Io, { frame }: Presentation<View>): Display<View> {
  let drawn = 0;
  return {
    redrawMs: 1000,
    show(view, stale) {
      const screen = io.screen() ?? { columns: 80, rows: 24 };
      const lines = frameLines(frame(view, io.clock.now(), screen), stale, screen, io.color);
      io.out(
        `${drawn === 0 ? '' : `\r\u001B[${drawn}A\u001B[J`}${lines.map((line) => `${line}\n`).join('')}`,
      );
      drawn = lines.length;
    },
  };
}
