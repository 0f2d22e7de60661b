/**
 * Whether a machine is drained now, for a component that waits for it or for its deletion. What was begun is recorded in
 * `status.drain` before the first act, so that no cordon is forgotten after a crash. Pure.
 */
import type { Machine, MachineComponentEntry, MachineDrain, MachineHold } from '../../api/generated/types.ts';
import { reportOf } from '../../api/machine/entry-report.ts';
import { readinessOf } from '../../api/machine/node-state.ts';
import { ANNOTATION_CORDONED_BY } from '../../api/names.ts';
import type { JsonPatchOperation } from '../../kube/controller/writes/declared-fields.ts';
import { type CordonMark, cordonState, planCordon, planUncordon } from '../../kube/drain/cordon.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { holdInForce } from '../../rollout/holds.ts';
import type { MachineWait } from './plan.ts';

/** The grant under which a machine is drained. */
export interface DrainOrder {
  readonly id: string;
  readonly fence: number;
}

export interface MachineDrainInput {
  readonly machine: Machine;
  readonly node: KubeObject | undefined;
  /** Undefined: nothing asks for a drain now. */
  readonly order: DrainOrder | undefined;
  readonly now: Date;
}

export type DrainDecision = { readonly because: string } & (
  | { readonly type: 'Nothing' }
  | { readonly type: 'Evict' }
  | { readonly type: 'End' }
  | { readonly type: 'Record'; readonly drain: MachineDrain }
  | { readonly type: 'Cordon'; readonly operations: readonly JsonPatchOperation[] }
  | { readonly type: 'Uncordon'; readonly operations: readonly JsonPatchOperation[] }
  | { readonly type: 'Wait'; readonly wait: MachineWait }
);

/** That of the component whose agent waits for it, or that goes on after it. */
export function componentOrder(machine: Machine): DrainOrder | undefined {
  const { spec, status } = machine;
  const entries = spec.components.filter((entry) => !isSettled(machine, entry));
  const inForce = entries.find(({ grant }) => grant !== undefined && grant.id === status?.drain?.grant);
  return (inForce ?? entries.find((entry) => isWaiting(machine, entry)))?.grant;
}

export function planMachineDrain(situation: MachineDrainInput): DrainDecision {
  const { machine, node, order, now } = situation;
  const recorded = machine.status?.drain;
  if (!order && !recorded) return { type: 'Nothing', because: 'no drain is asked for' };
  const hold = holdInForce(machine, node, now);
  if (hold?.scope === 'All') return waitForHold(machine, 'HeldAll');
  if (!order || isOfAnother(recorded, order)) return planRelease(situation);
  return planOrdered(situation, order, hold);
}

function planOrdered(
  situation: MachineDrainInput,
  order: DrainOrder,
  hold: MachineHold | undefined,
): DrainDecision {
  const { machine } = situation;
  if (machine.status?.drain?.state === 'Drained') {
    return { type: 'Nothing', because: 'the machine is drained' };
  }
  return hold ? waitForHold(machine, 'HeldDisruptive') : planDrainStep(situation, order);
}

function isOfAnother(recorded: MachineDrain | undefined, { id }: DrainOrder): boolean {
  return recorded !== undefined && recorded.grant !== id;
}

export function planDrainStep(
  { machine, node, now }: Omit<MachineDrainInput, 'order'>,
  order: DrainOrder,
): DrainDecision {
  const recorded = machine.status?.drain;
  if (!recorded) {
    const drain: MachineDrain = { grant: order.id, state: 'Cordoned', since: now.toISOString() };
    return { type: 'Record', drain, because: `grant ${order.id}` };
  }
  if (!node) {
    return { type: 'Record', drain: { ...recorded, state: 'Drained' }, because: 'the Node does not exist' };
  }
  const { state, operations, because } = planCordon(node, markOf(order.id));
  if (state === 'None') return { type: 'Cordon', operations, because: `grant ${order.id}` };
  const blocker = { kind: 'Node', name: node.metadata.name };
  if (state === 'UncordonedByPerson') return wait('UncordonedByPerson', because, blocker);
  if (state === 'OtherOwner') return wait('MachineBusy', because, blocker);
  return { type: 'Evict', because };
}

/**
 * A Node that is not Ready stays cordoned, and is named: pods would not start on it. Unless the next drain waits: it cordons the Node
 * again, and what it is for may be the cure.
 */
function planRelease({ machine, node, order }: MachineDrainInput): DrainDecision {
  if (!node) return { type: 'End', because: 'the Node does not exist' };
  const mark = markOf(machine.status?.drain?.grant ?? '');
  if (!order && staysCordoned(node, mark)) {
    const name = node.metadata.name;
    return wait('NodeNotReady', `Node ${name} stays cordoned until it is Ready`, { kind: 'Node', name });
  }
  const { operations, because } = planUncordon(node, mark);
  return operations.length > 0 ? { type: 'Uncordon', operations, because } : { type: 'End', because };
}

function staysCordoned(node: KubeObject, mark: CordonMark): boolean {
  return readinessOf(node) !== 'Ready' && cordonState(node, mark) === 'Ours';
}

/** The agent reports the version that the grant is for, or that it gave it up. */
function isSettled(machine: Machine, entry: MachineComponentEntry): boolean {
  const report = reportOf(machine, entry);
  if (report?.state === 'Committed') return report.digest === entry.digest;
  return report?.state === 'RolledBack' || report?.state === 'Failed' || report?.state === 'Absent';
}

function isWaiting(machine: Machine, entry: MachineComponentEntry): boolean {
  return entry.grant !== undefined && reportOf(machine, entry)?.state === 'WaitingForDrain';
}

function markOf(owner: string): { readonly annotation: string; readonly owner: string } {
  return { annotation: ANNOTATION_CORDONED_BY, owner };
}

export function waitForHold({ metadata: { name } }: Machine, reason: string): DrainDecision {
  return wait(reason, 'the machine is held', { kind: 'Machine', name });
}

function wait(reason: string, message: string, blocker: MachineWait['blocker']): DrainDecision {
  return {
    type: 'Wait',
    because: message,
    wait: { step: 'Draining', reason, message, ...(blocker ? { blocker } : {}) },
  };
}
