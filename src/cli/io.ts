/** Everything a command touches of the process that it runs in, so that a test can hand in its own. */

import type { Clock } from '../os/clock.ts';
import { createSystemClock } from '../os/system-clock.ts';

export interface Io {
  /** What the command was asked for. Nothing else goes there. */
  out(text: string): void;
  /** Progress, warnings and errors. */
  err(text: string): void;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly clock: Clock;
  /** A person watches: stderr is a terminal. */
  readonly interactive: boolean;
  /** Colours on stdout: a terminal, and NO_COLOR is not set. */
  readonly color: boolean;
  /** Aborted by Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
}

export function processIo(signal: AbortSignal): Io {
  const { env } = process;
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    env,
    cwd: process.cwd(),
    clock: createSystemClock(),
    interactive: process.stderr.isTTY && env['CI'] === undefined,
    color: wantsColor(env, process.stdout.isTTY),
    signal,
  };
}

/** The conventions of no-color.org and force-color.org. */
export function wantsColor(env: Io['env'], isTerminal: boolean): boolean {
  if (env['NO_COLOR']) return false;
  if (env['FORCE_COLOR']) return env['FORCE_COLOR'] !== '0';
  return isTerminal && env['TERM'] !== 'dumb';
}
