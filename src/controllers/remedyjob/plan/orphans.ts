/**
 * Cordons and taints of missing jobs, such as one whose finalizer was removed by force: they are removed from the Node. What the ledger or
 * the Machine still knows belongs to somebody. The taint that releases pods and volumes is removed when the host has booted. Pure.
 */
import type { DefenderLedger, Machine, RemedyOperationJob } from '../../../api/generated/types.ts';
import { ANNOTATION_CORDONED_BY } from '../../../api/names.ts';
import type { JsonPatchOperation } from '../../../kube/controller/writes/declared-fields.ts';
import { planUncordon } from '../../../kube/drain/cordon.ts';
import { ownValue } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { holdInForce } from '../../../rollout/holds.ts';
import { planBackInService, returnedGrant } from '../power/out-of-service.ts';
import { planUntaint, taintGrants } from './owned-taints.ts';

export interface OrphanInput {
  readonly node: KubeObject;
  readonly machine: Machine | undefined;
  readonly ledger: DefenderLedger | undefined;
  readonly jobOf: (grant: string) => RemedyOperationJob | undefined;
  readonly now: Date;
}

export type OrphanPlan =
  | { readonly type: 'Nothing' }
  | { readonly type: 'Wait' }
  | { readonly type: 'Remove'; readonly grant: string; readonly operations: readonly JsonPatchOperation[] };

/** One grant at a time: each removal changes the Node. */
export function planOrphan(input: OrphanInput): OrphanPlan {
  const { node, machine, jobOf, now } = input;
  const returned = returnedGrant(node, taintGrants(node), jobOf);
  // Also while the machine is held: its pods and volumes are released while it runs.
  if (returned !== undefined) {
    return { type: 'Remove', grant: returned, operations: planBackInService(node, returned) };
  }
  const grant = markGrants(node).find((id) => jobOf(id) === undefined && !isOfMachine(machine, id));
  if (grant === undefined) return { type: 'Nothing' };
  if (!machine || holdInForce(machine, node, now) || isInLedger(input, grant)) return { type: 'Wait' };
  const mark = { annotation: ANNOTATION_CORDONED_BY, owner: grant };
  return {
    type: 'Remove',
    grant,
    operations: [...planUncordon(node, mark).operations, ...planUntaint(node, grant)],
  };
}

/** The grants for which the Node is cordoned or tainted. */
export function markGrants(node: KubeObject): readonly string[] {
  const cordon = ownValue(node.metadata.annotations ?? {}, ANNOTATION_CORDONED_BY);
  const taints = taintGrants(node);
  return cordon === undefined || taints.includes(cordon) ? taints : [cordon, ...taints];
}

/** A drain for a component or for a deletion. */
function isOfMachine(machine: Machine | undefined, grant: string): boolean {
  if (machine?.status?.drain?.grant === grant) return true;
  return (machine?.spec.components ?? []).some((entry) => entry.grant?.id === grant);
}

/** Not read, or not settled: its holder may still act. */
function isInLedger({ ledger, machine }: OrphanInput, grant: string): boolean {
  if (!ledger) return true;
  const entry = ownValue(ledger.spec.grants, machine?.metadata.name ?? '');
  return entry?.id === grant && entry.state !== 'Settled';
}
