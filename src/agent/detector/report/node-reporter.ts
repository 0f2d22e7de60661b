/** Writes the conditions to the Node: after each change, and every five minutes so that readers see that they are current. */
import { MANAGER_AGENT } from '../../../api/names.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import type { Log } from '../../../kube/process/log.ts';
import type { Clock } from '../../../os/clock.ts';
import type { DetectedCondition } from '../match/condition.ts';
import type { NodeConditionsApi, WrittenCondition } from './node-conditions-api.ts';
import { planWriters, type StandbyCondition } from './writers.ts';

export interface NodeReporterOptions {
  readonly api: NodeConditionsApi;
  readonly clock: Clock;
  readonly log: Log;
  readonly otherDetectorRuns: () => Promise<boolean>;
  /** Conditions that another program began, or ceased, to write. */
  readonly onStandby: (standby: readonly StandbyCondition[]) => void;
}

const HEARTBEAT_MS = 5 * 60_000;
const RETRY_MS = 5000;
/** How often the processes are searched for node-problem-detector. */
const LOOK_MS = 10_000;

export class NodeReporter {
  readonly #options: NodeReporterOptions;
  #written: readonly DetectedCondition[] | undefined;
  #nextMs = Number.NEGATIVE_INFINITY;
  #retryMs = Number.NEGATIVE_INFINITY;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #otherRuns = false;
  #standby: readonly StandbyCondition[] = [];
  #failure: string | undefined;

  constructor(options: NodeReporterOptions) {
    this.#options = options;
  }

  /** Writes when something changed or a heartbeat is due. Never fails: what was not written is written later. */
  async report(conditions: readonly DetectedCondition[]): Promise<void> {
    const nowMs = this.#options.clock.monotonicMs();
    if (await this.#look(nowMs)) this.#written = undefined;
    if (nowMs < this.#retryMs || (nowMs < this.#nextMs && !this.#isChanged(conditions))) return;
    const outcome = await this.#tryWrite(conditions);
    this.#written = outcome === 'Written' ? conditions : undefined;
    this.#nextMs = nowMs + HEARTBEAT_MS;
    this.#retryMs = outcome === 'NotWritten' ? nowMs + RETRY_MS : Number.NEGATIVE_INFINITY;
  }

  /** After a conflict the next write sees who wrote. */
  async #tryWrite(conditions: readonly DetectedCondition[]): Promise<'Written' | 'NotWritten' | 'Conflict'> {
    try {
      const isWritten = await this.#write(conditions);
      this.#failure = undefined;
      return isWritten ? 'Written' : 'NotWritten';
    } catch (error) {
      this.#warn(error);
      return isKubeError(error, 'Conflict') ? 'Conflict' : 'NotWritten';
    }
  }

  #isChanged(conditions: readonly DetectedCondition[]): boolean {
    const { length } = this.#written ?? [];
    return (
      !this.#written ||
      length !== conditions.length ||
      conditions.some((each) => !this.#written?.includes(each))
    );
  }

  async #look(nowMs: number): Promise<boolean> {
    if (nowMs - this.#lookedMs < LOOK_MS) return false;
    this.#lookedMs = nowMs;
    const before = this.#otherRuns;
    this.#otherRuns = await this.#options.otherDetectorRuns();
    return before !== this.#otherRuns;
  }

  /** False while the Node is missing. */
  async #write(conditions: readonly DetectedCondition[]): Promise<boolean> {
    const { api, clock } = this.#options;
    const node = await api.node();
    if (!node) return false;
    const now = clock.now();
    const types = conditions.map(({ type }) => type);
    const otherDetectorRuns = this.#otherRuns;
    const plan = planWriters({ node, types, manager: MANAGER_AGENT, otherDetectorRuns, now });
    this.#noteStandby(plan.standby);
    const written = conditions.filter(({ type }) => plan.write.includes(type));
    // Without force the server refuses to overwrite what another program wrote since the Node was read.
    await api.write(
      written.map((each) => writtenCondition(each, now)),
      { force: plan.takeOver.length > 0 },
    );
    return true;
  }

  #noteStandby(standby: readonly StandbyCondition[]): void {
    if (JSON.stringify(standby) === JSON.stringify(this.#standby)) return;
    this.#standby = standby;
    this.#options.onStandby(standby);
  }

  /** One line for each outage. */
  #warn(error: unknown): void {
    const because = error instanceof Error ? error.message : String(error);
    if (because !== this.#failure) this.#options.log.warn('conditions not written', { error });
    this.#failure = because;
  }
}

const MAX_MESSAGE_BYTES = 1024;

function writtenCondition({ since, message, ...condition }: DetectedCondition, now: Date): WrittenCondition {
  return {
    ...condition,
    message: message.slice(0, MAX_MESSAGE_BYTES),
    lastHeartbeatTime: toSeconds(now),
    lastTransitionTime: toSeconds(new Date(since)),
  };
}

/** The API server keeps seconds. */
function toSeconds(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z');
}
