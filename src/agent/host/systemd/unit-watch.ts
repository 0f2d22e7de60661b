/**
 * Notices changes of units between reconciles: a process that ended by its start time in /proc, which costs a few
 * microseconds, and a unit that was enabled, masked or edited by its files.
 */
import type { Clock } from '../../../os/clock.ts';
import { isRunning } from '../../../os/process/identity.ts';
import type { HostFiles, UnitProcess } from '../port.ts';
import { SYSTEMD_DIRECTORY, WANTS_DIRECTORY } from './unit-files.ts';

const POLL_MS = 1000;

export class UnitWatch {
  readonly #clock: Clock;
  readonly #onChange: (unit: string) => void;
  readonly #processes = new Map<string, UnitProcess>();
  readonly #closed = new AbortController();

  constructor(clock: Clock, onChange: (unit: string) => void) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  /** Records the process that was last read of a unit. */
  observed(unit: string, process: UnitProcess | undefined): void {
    if (process) this.#processes.set(unit, process);
    else this.#processes.delete(unit);
  }

  open(files: HostFiles): void {
    const watching = files.watch([SYSTEMD_DIRECTORY, WANTS_DIRECTORY], (path) => this.#onChange(path));
    this.#closed.signal.addEventListener('abort', () => void watching[Symbol.asyncDispose]());
    this.#poll().catch(() => undefined);
  }

  close(): void {
    this.#closed.abort();
  }

  async #poll(): Promise<void> {
    for (;;) {
      await this.#clock.sleep(POLL_MS, this.#closed.signal);
      for (const [unit, process] of this.#processes) {
        if (isAlive(process)) continue;
        this.#processes.delete(unit);
        this.#onChange(unit);
      }
    }
  }
}

/** Tells whether a process still runs. One that cannot be read counts as ended, so that a reconcile observes it. */
function isAlive({ pid, startId }: UnitProcess): boolean {
  try {
    return isRunning({ pid, startTicks: startId });
  } catch {
    return false;
  }
}
