/**
 * Collects lines and writes them together: a write for each line takes longer than to make the line. The order stays, and no
 * line is lost when the process exits or crashes. Only SIGKILL loses what was collected in the last milliseconds.
 */
import type { Clock } from '../../os/clock.ts';

export interface LineBuffer {
  write(line: string): void;
  /** Writes what is collected, now. */
  flush(): void;
  /** Flushes, and leaves the process alone. Later lines are written at once. */
  close(): void;
}

/** The first one comes before Node.js prints the exception, the other one last of all. */
type ExitEvent = 'uncaughtExceptionMonitor' | 'exit';

/** The part of `process` that is used. */
export interface ExitSource {
  on(event: ExitEvent, listener: () => void): unknown;
  off(event: ExitEvent, listener: () => void): unknown;
}

export interface LineBufferOptions {
  /** Synchronous, because nothing else runs in a process that exits. So are standard output and error, unless their pipe is full. */
  readonly write: (text: string) => void;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly exits: ExitSource;
  readonly gatherMs?: number;
}

/** A person who follows the log does not notice it. */
const GATHER_MS = 10;
/** Without a reason, each abort would create an exception. */
const NOT_NEEDED = new Error('written before');
/** A pipe takes 64 KiB at once. */
const MAX_LENGTH = 32_768;

export function createLineBuffer({
  write,
  clock,
  exits,
  gatherMs = GATHER_MS,
}: LineBufferOptions): LineBuffer {
  let lines: string[] = [];
  let length = 0;
  let timer: AbortController | undefined;
  let closed = false;
  exits.on('uncaughtExceptionMonitor', flush);
  exits.on('exit', stopCollecting);

  return {
    write(line) {
      lines.push(line);
      length += line.length;
      if (closed || length >= MAX_LENGTH) flush();
      else if (!timer) void startTimer();
    },
    flush,
    close() {
      stopCollecting();
      exits.off('uncaughtExceptionMonitor', flush);
      exits.off('exit', stopCollecting);
    },
  };

  function stopCollecting(): void {
    closed = true;
    flush();
  }

  function flush(): void {
    timer?.abort(NOT_NEEDED);
    timer = undefined;
    if (lines.length === 0) return;
    const text = lines.join('');
    lines = [];
    length = 0;
    write(text);
  }

  async function startTimer(): Promise<void> {
    const started = new AbortController();
    timer = started;
    await clock.sleep(gatherMs, started.signal).catch(() => undefined);
    if (timer !== started) return;
    timer = undefined;
    flush();
  }
}
