/** Decides how long the status of a machine may wait for a later one that replaces it. Pure. */
import type { Machine, MachineStatus } from '../../../api/generated/types.ts';
import { hasGrants } from '../../../api/machine/entry-report.ts';
import { HEARTBEAT_MS } from '../../../api/machine/heartbeat.ts';
import { type Condition, conditionOf } from '../../../kube/objects/conditions.ts';
import { canonicalJson } from '../../../kube/objects/digest.ts';

/**
 * An update that ends within this time changes the status once, with its end. It is one heartbeat: whether the agent lives is known no
 * earlier. The states of its components are reported by the agent itself after two seconds.
 */
export const UPDATE_MS = HEARTBEAT_MS;

/** The conditions that follow from the update, and not from the host or the Node. */
const UPDATE_CONDITIONS: ReadonlySet<string> = new Set(['Ready', 'Progressing']);

/**
 * Returns how long the status may wait. Only what an update with a grant changes may: the Defender and the set that gave the grant
 * know that the machine is in work. A machine that joins, is held, or whose host, agent or Node changed is reported at once.
 */
export function statusDelayMs(
  { spec, status }: Pick<Machine, 'spec' | 'status'>,
  next: MachineStatus,
): number {
  if (status?.node?.establishedAt === undefined) return 0;
  const live = ownFields(status, next);
  const isSettled = canonicalJson(withoutGenerations(live)) === canonicalJson(withoutGenerations(next));
  const isOfUpdate = canonicalJson(withoutUpdate(live)) === canonicalJson(withoutUpdate(next));
  return isSettled || (hasGrants(spec) && isOfUpdate) ? UPDATE_MS : 0;
}

/** Returns the fields of the live status that this controller writes. A wait is absent when it is over. */
function ownFields(live: MachineStatus, next: MachineStatus): MachineStatus {
  const names = new Set([...Object.keys(next), 'waiting']);
  const own = Object.fromEntries(Object.entries(live).filter(([name]) => names.has(name)));
  const conditions = next.conditions.flatMap(({ type }) => conditionOf(live.conditions, type) ?? []);
  return { ...own, conditions };
}

function withoutGenerations({
  observedGeneration: _generation,
  conditions,
  ...rest
}: MachineStatus): unknown {
  return { ...rest, conditions: conditions.map(contentOf) };
}

function withoutUpdate({
  observedGeneration: _generation,
  phase: _phase,
  waiting: _waiting,
  conditions,
  ...rest
}: MachineStatus): unknown {
  return {
    ...rest,
    conditions: conditions.filter(({ type }) => !UPDATE_CONDITIONS.has(type)).map(contentOf),
  };
}

function contentOf({ type, status, reason, message }: Condition): unknown {
  return [type, status, reason, message];
}
