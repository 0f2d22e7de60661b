/**
 * Decides whether the readiness gates of a machine are stable. A gate that flaps ends each wait before its deadline, so the
 * condition GatesStable remembers since when one was lost. Pure.
 */
import type { Machine } from '../../api/generated/types.ts';
import { type Condition, type ConditionStatus, conditionOf } from '../../kube/objects/conditions.ts';
import { type Finding, finding } from './finding.ts';

/** How long gates have to be True: as long as a machine may wait for a gate. */
export const STABLE_SECONDS = 600;
const TYPE = 'GatesStable';
const RECOVERING = 'Recovering';
/** The reason of the condition Stalled while gates flap. */
export const FLAPPING = 'GateFlapping';

export interface GatesStability {
  readonly findings: readonly Finding[];
  /** When time alone makes the gates stable. */
  readonly changesAt?: Date;
}

/** Returns the condition GatesStable, and nothing for a machine without a gate. */
export function gatesStability(machine: Machine, now: Date): GatesStability {
  const gates = gatesOf(machine);
  if (gates.length === 0) return { findings: [] };
  const lost = gates.find(({ gate }) => gate !== undefined && gate.status !== 'True');
  if (lost) return found('False', 'GateLost', `the readiness gate ${lost.type} is not True`);
  const wasLost = conditionOf(machine.status?.conditions, TYPE)?.status === 'False';
  const missing = gates.find(({ gate }) => gate === undefined);
  if (missing) {
    const message = `the readiness gate ${missing.type} is not reported`;
    return found(wasLost ? 'False' : 'Unknown', 'NotReported', message);
  }
  return recovery(gates, wasLost, now);
}

function recovery(gates: readonly Gate[], wasLost: boolean, now: Date): GatesStability {
  const stableAt = new Date(Math.max(...gates.map(({ gate }) => stableFrom(gate))));
  if (!wasLost || stableAt <= now) return found('True', 'AsWanted', 'the readiness gates stay True');
  const message = `all readiness gates are True; they have to stay so until ${stableAt.toISOString()}`;
  return { ...found('False', RECOVERING, message), changesAt: stableAt };
}

/** Returns since when gates flap, once that is for so long that a person has to look. `stability` is the condition as it is now. */
export function gatesFlapSince(
  machine: Machine,
  stability: Condition | undefined,
  now: Date,
): string | undefined {
  if (stability?.status !== 'False' || machine.metadata.deletionTimestamp !== undefined) return undefined;
  const { lastTransitionTime: since, reason } = stability;
  const isLate = now.getTime() >= Date.parse(since) + STABLE_SECONDS * 1000;
  const hasChanged = gatesOf(machine).some(({ gate }) => changedAt(gate) > Date.parse(since));
  // Stalled ends when the gates were True for long enough, not at the next change.
  const isTold = isLate && hasChanged && (wasFlapping(machine) || reason !== RECOVERING);
  return isTold ? since : undefined;
}

function wasFlapping({ status }: Machine): boolean {
  const before = conditionOf(status?.conditions, 'Stalled');
  return before?.status === 'True' && before.reason === FLAPPING;
}

interface Gate {
  readonly type: string;
  /** The condition of the gate. Undefined: it was not reported yet. */
  readonly gate: Condition | undefined;
}

function gatesOf({ spec, status }: Machine): readonly Gate[] {
  return spec.readinessGates.map(({ conditionType: type }) => ({
    type,
    gate: conditionOf(status?.conditions, type),
  }));
}

function changedAt(gate: Condition | undefined): number {
  return Date.parse(gate?.lastTransitionTime ?? '');
}

function stableFrom(gate: Condition | undefined): number {
  return changedAt(gate) + STABLE_SECONDS * 1000;
}

function found(status: ConditionStatus, reason: string, message: string): GatesStability {
  return { findings: [finding(TYPE, status, reason, message)] };
}
