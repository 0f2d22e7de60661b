/** The streams, environment and clock of a command, in memory. */

import type { Io } from '../../src/cli/io.ts';
import type { Clock } from '../../src/os/clock.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import type { Screen } from '../../src/views/text/frame.ts';

export interface TestIo extends Io {
  readonly stdout: string;
  readonly stderr: string;
  interrupt(): void;
}

export interface TestIoOptions {
  readonly env?: Io['env'];
  readonly cwd?: string;
  readonly clock?: Clock;
  readonly interactive?: boolean;
  readonly screen?: Screen;
  readonly color?: boolean;
}

export function testIo({
  env = {},
  cwd = process.cwd(),
  clock = createSystemClock(),
  interactive = false,
  screen,
  color = false,
}: TestIoOptions = {}): TestIo {
  const written = { out: '', err: '' };
  const interrupted = new AbortController();
  return {
    out: (text) => {
      written.out += text;
    },
    err: (text) => {
      written.err += text;
    },
    env,
    cwd,
    clock,
    interactive,
    color,
    screen: () => screen,
    signal: interrupted.signal,
    get stdout() {
      return written.out;
    },
    get stderr() {
      return written.err;
    },
    interrupt: () => interrupted.abort(new Error('stopped by SIGINT')),
  };
}
