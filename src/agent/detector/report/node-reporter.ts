/** Writes the conditions to the Node: after each change, and every five minutes so that readers see that they are current. */

import { MANAGER_AGENT } from '../../../api/names.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Log } from '../../../kube/process/log.ts';
import type { Clock } from '../../../os/clock.ts';
import { wholeSeconds } from '../../../os/dates.ts';
import { messageOf } from '../../../os/errors.ts';
import type { DetectedCondition } from '../match/condition.ts';
import { findCondition, type NodeCondition, type NodeWithConditions, typesOf } from './condition-owners.ts';
import { type HostPrograms, NODE_PROBLEM_DETECTOR } from './host-programs.ts';
import type { NodeConditionsApi } from './node-conditions-api.ts';
import { ObservedSilence } from './writer-silence.ts';
import { isSilent, planWriters, type StandbyCondition, type WritersPlan } from './writers.ts';

export interface NodeReporterOptions {
  readonly api: Pick<NodeConditionsApi, 'node' | 'write'>;
  readonly clock: Clock;
  readonly log: Log;
  /** The programs that run on this host; undefined on a host that does not show them. */
  readonly programs: () => Promise<HostPrograms | undefined>;
  /** Conditions that another program began, or ceased, to write. */
  readonly onStandby: (standby: readonly StandbyCondition[]) => void;
}

export interface ReportOutcome {
  /** Conditions that another program writes; undefined before the Node was read. */
  readonly standby: readonly ActiveWriter[] | undefined;
  /** Conditions of node-problem-detector that no file of the agent declares. */
  readonly beside?: readonly ActiveWriter[];
  /** Reasons of the Events that these programs write, where that is known. */
  readonly reasons?: ReadonlySet<string>;
  /** Whether the Node has all that was to be written. */
  readonly isWritten: boolean;
}

export interface ActiveWriter extends StandbyCondition {
  /** When the writer last showed that it is alive, by the monotonic clock. */
  readonly aliveMs: number;
}

const HEARTBEAT_MS = 5 * 60_000;
const RETRY_MS = 5000;
/** How often the processes are searched for the program of another writer. */
const LOOK_MS = 10_000;

interface Written {
  readonly conditions: readonly DetectedCondition[];
  readonly atMs: number;
}

export class NodeReporter {
  readonly #options: NodeReporterOptions;
  readonly #silence: ObservedSilence;
  #written: Written | undefined;
  #retryMs = Number.NEGATIVE_INFINITY;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #programs: HostPrograms | undefined;
  #hadConflict = false;
  #standby: readonly StandbyCondition[] | undefined;
  #beside: readonly StandbyCondition[] = [];
  #failure: string | undefined;

  constructor(options: NodeReporterOptions) {
    this.#options = options;
    this.#silence = new ObservedSilence(options.clock);
  }

  /** Writes when something changed or a heartbeat is due. Never fails: what was not written is written later. */
  async report(conditions: readonly DetectedCondition[]): Promise<ReportOutcome> {
    let isWritten = false;
    if (this.#options.clock.monotonicMs() >= this.#retryMs) isWritten = await this.#tryReport(conditions);
    const active = (each: StandbyCondition): ActiveWriter => ({ ...each, aliveMs: this.#aliveMs(each) });
    const [standby, beside] = [this.#standby?.map(active), this.#beside.map(active)];
    return { standby, beside, ...optional('reasons', this.#programs?.npdReasons), isWritten };
  }

  async #tryReport(conditions: readonly DetectedCondition[]): Promise<boolean> {
    try {
      const isWritten = await this.#report(conditions);
      [this.#failure, this.#hadConflict] = [undefined, false];
      return isWritten;
    } catch (error) {
      this.#warn(error);
      this.#written = undefined;
      // After a conflict the next try reads who wrote.
      this.#hadConflict = isKubeError(error, 'Conflict');
      if (!this.#hadConflict) this.#retryLater();
      return false;
    }
  }

  async #report(conditions: readonly DetectedCondition[]): Promise<boolean> {
    const node = await this.#options.api.node({ fresh: this.#hadConflict });
    if (!node) {
      [this.#written, this.#beside] = [undefined, []];
      this.#noteStandby([]);
      return conditions.length === 0;
    }
    const types = conditions.map(({ type }) => type);
    const theirs = typesOf(node, NODE_PROBLEM_DETECTOR, MANAGER_AGENT).filter(
      (type) => !types.includes(type),
    );
    if (this.#silence.observe(node, [...types, ...theirs], MANAGER_AGENT)) await this.#look();
    this.#noteBeside(theirs);
    const plan = planWriters({ node, types, manager: MANAGER_AGENT, silence: this.#silence });
    this.#noteStandby(plan.standby);
    const mine = conditions.filter(({ type }) => plan.write.includes(type));
    if (this.#isDue(node, mine, plan)) await this.#write(node, mine, plan);
    return true;
  }

  #isDue(node: NodeWithConditions, mine: readonly DetectedCondition[], plan: WritersPlan): boolean {
    if (plan.remove.length > 0 || plan.takeOver.length > 0) return true;
    if (mine.length === 0) return false;
    if (!this.#written) return true;
    const { conditions, atMs } = this.#written;
    if (this.#options.clock.monotonicMs() - atMs >= HEARTBEAT_MS) return true;
    // A condition is missing when the Node was registered again, or another program removed it.
    return mine.some((each) => !conditions.includes(each) || !findCondition(node, each.type));
  }

  async #write(
    node: NodeWithConditions,
    mine: readonly DetectedCondition[],
    { keep }: WritersPlan,
  ): Promise<void> {
    const { api, clock } = this.#options;
    const now = clock.now();
    const written = [...mine.map((each) => writtenCondition(each, now)), ...keep];
    await api.write(written, node);
    this.#written = { conditions: mine, atMs: clock.monotonicMs() };
  }

  async #look(): Promise<void> {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#lookedMs < LOOK_MS) return;
    this.#lookedMs = nowMs;
    this.#programs = await this.#options.programs();
    this.#silence.noteRunning(this.#programs?.names);
  }

  #noteBeside(types: readonly string[]): void {
    const writer = NODE_PROBLEM_DETECTOR;
    const active = types.filter((type) => !isSilent(type, writer, this.#silence));
    this.#beside = active.map((type) => ({ type, because: `${writer} writes it`, writer }));
  }

  #aliveMs({ type, writer }: StandbyCondition): number {
    const heartbeatMs = this.#silence.heartbeatMs(type);
    const silentMs = Math.min(heartbeatMs, this.#silence.programMs(writer) ?? heartbeatMs);
    return this.#options.clock.monotonicMs() - silentMs;
  }

  #retryLater(): void {
    this.#retryMs = this.#options.clock.monotonicMs() + RETRY_MS;
  }

  #noteStandby(standby: readonly StandbyCondition[]): void {
    const isSame = JSON.stringify(standby) === JSON.stringify(this.#standby ?? []);
    this.#standby = standby;
    if (!isSame) this.#options.onStandby(standby);
  }

  /** Logs the error, once for each outage. */
  #warn(error: unknown): void {
    const because = messageOf(error);
    if (because !== this.#failure) this.#options.log.warn('conditions not written', { error });
    this.#failure = because;
  }
}

const MAX_MESSAGE_BYTES = 1024;

function writtenCondition({ since, message, ...condition }: DetectedCondition, now: Date): NodeCondition {
  return {
    ...condition,
    message: message.slice(0, MAX_MESSAGE_BYTES),
    lastHeartbeatTime: wholeSeconds(now),
    lastTransitionTime: wholeSeconds(new Date(since)),
  };
}
