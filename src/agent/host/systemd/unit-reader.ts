/**
 * Reads the state of units from systemd. One call answers for all units that were ever asked for, and its answer holds
 * for a moment: a reconcile asks for each unit several times, and every call costs milliseconds of the node.
 */
import type { Clock } from '../../../os/clock.ts';
import { HostError } from '../errors.ts';
import { failureText, type RunCommand } from './commands.ts';
import { unitName } from './unit-files.ts';
import { PROPERTIES, parseUnits, type UnitProperties } from './unit-properties.ts';

const FRESH_MS = 250;

interface Snapshot {
  readonly atMs: number;
  readonly units: Promise<ReadonlyMap<string, UnitProperties>>;
}

export class UnitReader {
  readonly #run: RunCommand;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #names = new Set<string>();
  #snapshot: Snapshot | undefined;

  constructor(run: RunCommand, clock: Pick<Clock, 'monotonicMs'>) {
    this.#run = run;
    this.#clock = clock;
  }

  /** Reads a unit. Undefined when the host has no such unit. */
  async read(name: string): Promise<UnitProperties | undefined> {
    const unit = unitName(name);
    if (!this.#names.has(unit)) {
      this.#names.add(unit);
      this.forget();
    }
    const found = (await this.#current()).get(unit);
    return found?.exists ? found : undefined;
  }

  /** Forgets what was read. It is called after every call that changes something. */
  forget(): void {
    this.#snapshot = undefined;
  }

  async #current(): Promise<ReadonlyMap<string, UnitProperties>> {
    const nowMs = this.#clock.monotonicMs();
    if (!this.#snapshot || nowMs - this.#snapshot.atMs > FRESH_MS) {
      this.#snapshot = { atMs: nowMs, units: this.#readAll([...this.#names]) };
    }
    return await this.#snapshot.units;
  }

  async #readAll(names: readonly string[]): Promise<ReadonlyMap<string, UnitProperties>> {
    const [shown, files] = await Promise.all([
      this.#ask(['systemctl', 'show', `--property=${PROPERTIES.join(',')}`, '--', ...names]),
      // Of the disk: `show` has the state of the last time that systemd read it.
      this.#ask(['systemctl', 'list-unit-files', '--output=json', '--', ...names]),
    ]);
    return parseUnits(shown, files);
  }

  async #ask(argv: readonly string[]): Promise<string> {
    const answer = await this.#run(argv);
    // Without any of these units list-unit-files ends with 1.
    if (answer.exitCode === 0 || answer.stderr.trim() === '') return answer.stdout;
    throw new HostError('NoAccess', `systemd does not answer: ${failureText(answer)}`, {
      where: argv.join(' '),
      hint: 'run the agent as root on a machine that was booted with systemd',
    });
  }
}
