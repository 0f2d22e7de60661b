/** Plans again from what the API server has now, where a view that is late would create or delete a Machine too many. */
import type { Client } from '../../kube/client/client.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { listFollow } from './observe.ts';
import type { FollowOwner, FollowSource, OwnerObject } from './owner.ts';
import { type FollowInput, type FollowPlan, planFollow } from './plan.ts';

interface Observed<Theirs extends OwnerObject> {
  readonly source: FollowSource<Theirs>;
  readonly client: Pick<Client, 'pages'>;
  readonly owner: FollowOwner<Theirs>;
  readonly observed: FollowInput<Theirs>;
}

/** Returns a plan that no late view has made. Without a deletion theirs are taken as observed: a list of them may be large. */
export async function certainPlan<Theirs extends OwnerObject>(
  plan: FollowPlan,
  { observed, owner, ...from }: Observed<Theirs>,
  context: ReconcileContext,
): Promise<FollowPlan> {
  if (plan.actions.every(({ type }) => type === 'Update')) return plan;
  const deletes = plan.actions.some(({ type }) => type === 'Delete');
  const certain = planFollow(
    await listFollow({ ...from, theirs: deletes ? undefined : observed.theirs }, context),
    owner,
  );
  // Theirs were not listed: what only the list has shown is for the next reconcile.
  return deletes ? certain : { ...certain, actions: certain.actions.filter(({ type }) => type !== 'Delete') };
}
