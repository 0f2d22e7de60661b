/**
 * Decides what the deletion of a Machine needs next: a grant, a drain, the end of its Node, and then the removal of the
 * finalizer. It keeps no memory but the ledger and `status.drain`, so that a crash at any write ends the same way. Pure.
 */
import type { LedgerGrant, Machine, MachineDrain, MachineKept } from '../../api/generated/types.ts';
import { isOutOfUse } from '../../api/machine/kept.ts';
import { hasStartupTaint, isCordoned, readinessOf } from '../../api/machine/node-state.ts';
import { ANNOTATION_CORDONED_BY, ANNOTATION_DELETE, LABEL_MACHINE } from '../../api/names.ts';
import { pointerTo } from '../../kube/controller/writes/json-patch.ts';
import { cordonState } from '../../kube/drain/cordon.ts';
import { textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import { isFollowed } from '../../providers/followed.ts';
import { isOnInstance } from '../../providers/node-provider-id.ts';
import { holdInForce } from '../../rollout/holds.ts';
import { type DrainDecision, type DrainOrder, planDrainStep, waitForHold } from './drain.ts';
import { deletionDeadline, type KeepingInput, keptUntil, planKeeping } from './instance/keeping.ts';
import { mayHaveInstance } from './instance/plan.ts';

export interface MachineDeletionInput extends KeepingInput {
  /** The Node of the same name. */
  readonly node: KubeObject | undefined;
  /** The grant of this machine in the ledger, which may be late. */
  readonly entry: LedgerGrant | undefined;
  /** A grant that was just given. */
  readonly order?: DrainOrder;
}

export type DeletionDecision =
  | DrainDecision
  | ({ readonly because: string } & (
      | { readonly type: 'Ask' }
      /** Returns a grant that is for a Node that does not exist any more, while another one does. */
      | { readonly type: 'Return'; readonly order: DrainOrder }
      | {
          readonly type: 'DeleteNode';
          readonly order: DrainOrder;
          readonly node: KubeObject;
          /** Whether pods may be left on the Node. */
          readonly isIncomplete: boolean;
          /** Whether its instance is kept. Otherwise the instance is deleted first. */
          readonly keepsInstance: boolean;
        }
      /** Records that the instance is kept, before the Node is deleted. */
      | { readonly type: 'Keep'; readonly kept: MachineKept }
      /** Waits, and settles a grant of the machine or its set: until the instance is deleted, nothing is disturbed. */
      | { readonly type: 'Kept'; readonly until: Date; readonly settle?: DrainOrder }
      /** Finishes the deletion. Without an order the grant is settled, or belongs to a job, which settles it. */
      | { readonly type: 'Finish'; readonly order?: DrainOrder }
    ));

/** The actions whose grant permits a deletion. A job that replaces a machine has its own grant for it. */
const DELETING: readonly string[] = ['DeleteMachine', 'ReplaceMachine'];

const FOLLOWED = 'the instance and the Node belong to another system, which keeps or deletes them';

export function planDeletion(situation: MachineDeletionInput): DeletionDecision {
  const { machine, node, now } = situation;
  // Nothing is disturbed, so that neither a grant nor the end of a hold is needed.
  if (isFollowed(machine)) return { type: 'Finish', because: FOLLOWED };
  const hold = holdInForce(machine, node, now);
  if (hold) return waitForHold(machine, hold.scope === 'All' ? 'HeldAll' : 'HeldDisruptive');
  return planUnheld({ ...situation, node: ownNode(machine, node) });
}

/** Plans the deletion of a machine that is not held. From here on `node` is that of this machine. */
function planUnheld(situation: MachineDeletionInput): DeletionDecision {
  const { machine, node, entry, now } = situation;
  if (!node && wasSettled(machine, entry)) return { type: 'Finish', because: 'the grant is settled' };
  const until = keptUntil(situation);
  if (until && isOutOfUse(machine, node)) return keptDecision(situation, until);
  const order = situation.order ?? orderOf(entry, now);
  if (!order) return { type: 'Ask', because: 'a deletion needs a grant' };
  if (isForAnother(node, entry, order)) {
    return { type: 'Return', order, because: `grant ${order.id} is for another Node` };
  }
  return planGranted(situation, order);
}

function keptDecision({ machine, entry, now }: MachineDeletionInput, until: Date): DeletionDecision {
  const { name } = machine.metadata;
  const settle = isOfJob(entry) ? undefined : orderOf(entry, now);
  const because = `the instance is kept for an analysis until ${until.toISOString()}. To end it now: kubectl annotate machines.kubenode.dev ${name} ${ANNOTATION_DELETE}=`;
  return { type: 'Kept', until, because, ...optional('settle', settle) };
}

/** Returns only the Node that was observed as that of this Machine, or that can only be it, on the instance of this Machine. */
export function ownNode(machine: Machine, node: KubeObject | undefined): KubeObject | undefined {
  if (!node || !wasObserved(machine, node)) return undefined;
  const instance = machine.status?.infra?.providerID;
  const provider = textAt(node, 'spec', 'providerID');
  const isOther = instance !== undefined && provider !== undefined && !isOnInstance(instance, provider);
  return isOther ? undefined : node;
}

/** Tells whether the Node was observed as that of this Machine. The label is written before the UID is recorded. */
function wasObserved(machine: Machine, node: KubeObject): boolean {
  const recorded = machine.status?.node?.uid;
  const label = node.metadata.labels?.[LABEL_MACHINE];
  if (recorded !== undefined) return recorded === node.metadata.uid || hasRegisteredAgain(machine, node);
  return label === undefined ? hasJustJoined(machine, node) : label === machine.metadata.name;
}

/** Tells whether the kubelet of an instance that is kept registered after its Node was deleted. */
function hasRegisteredAgain({ status, metadata }: Machine, node: KubeObject): boolean {
  const label = node.metadata.labels?.[LABEL_MACHINE];
  if (!status?.kept || (label !== undefined && label !== metadata.name)) return false;
  return secondOf(node.metadata.creationTimestamp) >= secondOf(status.kept.since);
}

/** Returns the whole second, as the API server records a creation. */
function secondOf(time: string | undefined): number {
  return Math.floor(Date.parse(time ?? '') / 1000);
}

/** Tells whether the kubelet registered when the Machine was being deleted: only the host on its instance has that name. */
function hasJustJoined(machine: Machine, { metadata: { creationTimestamp } }: KubeObject): boolean {
  if (!mayHaveInstance(machine)) return false;
  return Date.parse(creationTimestamp ?? '') >= Date.parse(machine.metadata.creationTimestamp ?? '');
}

function isForAnother(
  node: KubeObject | undefined,
  entry: LedgerGrant | undefined,
  { id }: DrainOrder,
): boolean {
  return node !== undefined && entry?.id === id && entry.nodeUID !== node.metadata.uid;
}

function planGranted(situation: MachineDeletionInput, order: DrainOrder): DeletionDecision {
  const { machine, node, entry } = situation;
  const end = node ? drainEnd(situation, node, order) : 'Drained';
  if (!end) return planDrain(situation, order);
  const kept = end === 'Drained' ? planKeeping(situation) : undefined;
  if (kept) return { type: 'Keep', kept, because: `job ${kept.job} keeps the instance` };
  if (node) return planNodeDeletion(situation, { node, order, isIncomplete: end === 'Incomplete' });
  const because = `grant ${order.id}: Machine ${machine.metadata.name} has no Node any more`;
  return isOfJob(entry) ? { type: 'Finish', because } : { type: 'Finish', order, because };
}

function planNodeDeletion(
  situation: MachineDeletionInput,
  deletion: Pick<Extract<DeletionDecision, { type: 'DeleteNode' }>, 'node' | 'order' | 'isIncomplete'>,
): DeletionDecision {
  const { node, order, isIncomplete } = deletion;
  // Pods that may be left end with their host only.
  const keepsInstance = !isIncomplete && keptUntil(situation) !== undefined;
  const because = `grant ${order.id}: ${node.metadata.name} is deleted`;
  return { type: 'DeleteNode', ...deletion, keepsInstance, because };
}

/** Returns how the drain ended; undefined while pods have to leave. A Node that was never initialized has no pods of people. */
function drainEnd(
  situation: MachineDeletionInput,
  node: KubeObject,
  order: DrainOrder,
): 'Drained' | 'Incomplete' | undefined {
  const { spec, status } = situation.machine;
  if (spec.deletion.drain === 'Skip' || hasStartupTaint(node)) return 'Drained';
  if (isDrained(status?.drain, order) && isCordoned(node)) return 'Drained';
  return isForced(situation) || isUnreachable(situation, node) ? 'Incomplete' : undefined;
}

function isForced({ machine: { spec, status }, now }: MachineDeletionInput): boolean {
  const { drain, drainTimeoutSeconds } = spec.deletion;
  return drain === 'Force' && isPast(status?.drain?.since, drainTimeoutSeconds, now);
}

function isUnreachable({ machine, now }: MachineDeletionInput, node: KubeObject): boolean {
  return isDeletionOverdue(machine, now) && readinessOf(node) === 'Unknown';
}

/** Tells whether the deletion has taken as long as it may wait for a host that does not answer. */
export function isDeletionOverdue(machine: Machine, now: Date): boolean {
  const deadline = deletionDeadline(machine);
  return deadline !== undefined && deadline <= now;
}

function isDrained(drain: MachineDrain | undefined, { id }: DrainOrder): boolean {
  return drain?.state === 'Drained' && drain.grant === id;
}

function isPast(since: string | undefined, seconds: number, now: Date): boolean {
  return since !== undefined && now.getTime() >= Date.parse(since) + seconds * 1000;
}

/** Plans the drain. What another grant began continues under this one: its cordon stays. */
function planDrain(situation: MachineDeletionInput, order: DrainOrder): DrainDecision {
  const { machine, node, now } = situation;
  const before = machine.status?.drain?.grant;
  if (before === undefined || before === order.id) return planDrainStep(situation, order);
  const because = `grant ${order.id} follows ${before}`;
  const mark = { annotation: ANNOTATION_CORDONED_BY, owner: before };
  if (node && cordonState(node, mark) === 'Ours') {
    const path = pointerTo('metadata', 'annotations', ANNOTATION_CORDONED_BY);
    return { type: 'Cordon', operations: [{ op: 'add', path, value: order.id }], because };
  }
  const drain: MachineDrain = { grant: order.id, state: 'Cordoned', since: now.toISOString() };
  return { type: 'Record', drain, because };
}

function orderOf(entry: LedgerGrant | undefined, now: Date): DrainOrder | undefined {
  if (!entry || !DELETING.includes(entry.action) || entry.state === 'Settled') return undefined;
  const isLapsed = entry.state === 'Granted' && Date.parse(entry.notAfter) <= now.getTime();
  return isLapsed ? undefined : { id: entry.id, fence: entry.fence };
}

/**
 * Tells whether we settled the grant before a crash. It is not that of an earlier machine of that name, which was deleted before
 * this one was created, and not the grant that ended when the instance began to be kept.
 */
function wasSettled(machine: Machine, entry: LedgerGrant | undefined): boolean {
  if (machine.status?.kept) return false;
  if (entry?.action !== 'DeleteMachine' || entry.outcome !== 'Succeeded') return false;
  return Date.parse(entry.settledAt ?? '') >= Date.parse(machine.metadata.deletionTimestamp ?? '');
}

function isOfJob(entry: LedgerGrant | undefined): boolean {
  return entry?.holder.kind === 'RemedyOperationJob';
}
