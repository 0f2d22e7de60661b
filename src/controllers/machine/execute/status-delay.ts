/** Decides how long the status of a machine may wait for a later one that replaces it. Pure. */
import { createHash } from 'node:crypto';
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

/**
 * A generation alone may wait for twice as long. The machines of a batch end together: without the spread, their last reports were a burst
 * of writes beside a later batch.
 */
const SPREAD_MS = UPDATE_MS;

/** The conditions that follow from the update, and not from the host or the Node. */
const UPDATE_CONDITIONS: ReadonlySet<string> = new Set(['Ready', 'Progressing']);

/**
 * Returns how long the status may wait. Only what an update with a grant changes may: the Defender and the set that gave the grant
 * know that the machine is in work. A machine that joins, is held, or whose host, agent or Node changed is reported at once.
 */
export function statusDelayMs(
  { metadata, spec, status }: Pick<Machine, 'metadata' | 'spec' | 'status'>,
  next: MachineStatus,
): number {
  if (status?.node?.establishedAt === undefined) return 0;
  const live = ownFields(status, next);
  if (canonicalJson(withoutGenerations(live)) === canonicalJson(withoutGenerations(next))) {
    return UPDATE_MS + Math.floor(shareOf(metadata.name) * SPREAD_MS);
  }
  const isOfUpdate = canonicalJson(withoutUpdate(live)) === canonicalJson(withoutUpdate(next));
  return hasGrants(spec) && isOfUpdate ? UPDATE_MS : 0;
}

/** Returns a number in [0, 1) that depends on the name only, so that a report that waits keeps its time. */
function shareOf(name: string): number {
  return createHash('sha256').update(name).digest().readUInt32BE() / 2 ** 32;
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
