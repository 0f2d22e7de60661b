/** Everything that a command uses of its process, so that tests can replace it. */
import { printableStream } from '../kube/objects/printable.ts';
import type { Clock } from '../os/clock.ts';
import { createSystemClock } from '../os/system-clock.ts';
import type { Screen } from '../views/text/frame.ts';

export interface Io {
  /** The result of the command, and nothing else. */
  out(text: string): void;
  /** Progress, warnings and errors. */
  err(text: string): void;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly clock: Clock;
  /** stderr is a terminal, and this is not CI. */
  readonly interactive: boolean;
  /** Whether stdout takes colors: a terminal, and NO_COLOR is not set. */
  readonly color: boolean;
  /** The terminal that stdout is, as large as it is now. Undefined: it is not a terminal, or one that cannot be redrawn. */
  screen(): Screen | undefined;
  /** Aborted by Ctrl-C, SIGTERM and the end of the terminal; with OutputClosed when the reader of the output ends. */
  readonly signal: AbortSignal;
}

/** The reader of the output ended: that a command cannot print the rest is not an error. */
export class OutputClosed extends Error {
  override readonly name = 'OutputClosed';

  constructor() {
    super('the output was closed');
  }
}

export function createProcessIo(signal: AbortSignal): Io {
  const { env } = process;
  return {
    out: (text) => void process.stdout.write(printableStream(text)),
    err: (text) => void process.stderr.write(printableStream(text)),
    env,
    cwd: process.cwd(),
    clock: createSystemClock(),
    interactive: process.stderr.isTTY && env['CI'] === undefined,
    color: shouldUseColor(env, process.stdout.isTTY),
    screen: () => screenOf(process.stdout, env),
    signal,
  };
}

/** The conventions of no-color.org and force-color.org. */
export function shouldUseColor(env: Io['env'], isTerminal: boolean): boolean {
  if (env['NO_COLOR']) return false;
  if (env['FORCE_COLOR']) return env['FORCE_COLOR'] !== '0';
  return isTerminal && env['TERM'] !== 'dumb';
}

interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** Some terminals report no size, or 0. */
export function screenOf({ isTTY, columns, rows }: Output, env: Io['env']): Screen | undefined {
  if (!isTTY || env['CI'] !== undefined || env['TERM'] === 'dumb') return undefined;
  return { columns: columns || 80, rows: rows || 24 };
}
