/**
 * Measures how long other writers of conditions are silent. Ages are of the monotonic clock: a wall clock that jumps makes
 * no writer look dead, or alive for longer.
 */
import type { Clock } from '../../../os/clock.ts';
import {
  conditionOwners,
  findCondition,
  HEARTBEAT,
  type NodeWithConditions,
  type OtherOwner,
  otherWriter,
} from './condition-owners.ts';
import { NODE_PROBLEM_DETECTOR, programName } from './host-programs.ts';
import type { WriterSilence } from './writers.ts';

interface Heartbeat {
  /** The time of the last write, as it is in the Node. */
  readonly text: string;
  readonly atMs: number;
}

export class ObservedSilence implements WriterSilence {
  readonly #clock: Clock;
  #heartbeats: ReadonlyMap<string, Heartbeat> = new Map();
  #writers: ReadonlySet<string> = new Set();
  /** By field manager: when its program was last observed, or first looked for. */
  readonly #ranMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether another program is the last writer of one of the conditions. */
  observe(node: NodeWithConditions, types: readonly string[], manager: string): boolean {
    const found = types.flatMap((type) => {
      const writer = otherWriter(conditionOwners(node, type, manager));
      return writer ? [{ type, writer }] : [];
    });
    this.#heartbeats = new Map(found.map(({ type, writer }) => [type, this.#heartbeat(node, type, writer)]));
    this.#writers = new Set(found.map(({ writer }) => writer.manager));
    return found.length > 0;
  }

  /** The names of all programs on this host; undefined on a host that does not show them. */
  noteRunning(programs: ReadonlySet<string> | undefined): void {
    if (!programs) return;
    for (const manager of this.#writers) {
      // Any other program may write from elsewhere, unless it was observed here.
      const isNew = manager === NODE_PROBLEM_DETECTOR && !this.#ranMs.has(manager);
      if (isNew || programs.has(programName(manager))) {
        this.#ranMs.set(manager, this.#clock.monotonicMs());
      }
    }
  }

  heartbeatMs(type: string): number {
    const last = this.#heartbeats.get(type);
    return last ? this.#clock.monotonicMs() - last.atMs : Number.POSITIVE_INFINITY;
  }

  programMs(manager: string): number | undefined {
    const ranMs = this.#ranMs.get(manager);
    return ranMs === undefined ? undefined : this.#clock.monotonicMs() - ranMs;
  }

  /** Keeps the time at which a heartbeat was first observed. */
  #heartbeat(node: NodeWithConditions, type: string, writer: OtherOwner): Heartbeat {
    const text = lastWriteText(node, type, writer);
    const before = this.#heartbeats.get(type);
    if (before?.text === text) return before;
    const ageMs = this.#clock.now().getTime() - Date.parse(text);
    // Without a time nothing shows that it is still written.
    const sinceMs = Number.isNaN(ageMs) ? Number.POSITIVE_INFINITY : Math.max(0, ageMs);
    return { text, atMs: this.#clock.monotonicMs() - sinceMs };
  }
}

/** The manager may own other fields only. Then the server knows when it last wrote. */
function lastWriteText(node: NodeWithConditions, type: string, { fields, time }: OtherOwner): string {
  const text = fields.includes(HEARTBEAT) ? findCondition(node, type)?.lastHeartbeatTime : time;
  return text ?? '';
}
