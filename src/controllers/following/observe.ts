/** Reads what the plan is made from: theirs, our Machines, and the Nodes of this cluster. */
import { MACHINES } from '../../api/generated/resources.ts';
import type { Machine } from '../../api/generated/types.ts';
import type { Client } from '../../kube/client/client.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { NODES } from '../../kube/objects/core-kinds.ts';
import type { FollowSource, OwnerObject } from './owner.ts';
import type { FollowInput } from './plan.ts';

/** Undefined: theirs are being listed for the first time. */
export function observeFollow<Theirs extends OwnerObject>(
  source: FollowSource<Theirs>,
  context: ReconcileContext,
): FollowInput<Theirs> | undefined {
  const theirs = source.read(context.view(NODES));
  if (theirs === undefined) return undefined;
  return { theirs, machines: context.view<Machine>(MACHINES).list(), nodeOf: nodeOf(context) };
}

/**
 * Reads our Machines from the API server, and theirs before a Machine of kubenode is deleted: a view may not show a Machine that a person just created, or
 * theirs that came back.
 */
export async function listFollow<Theirs extends OwnerObject>(
  {
    source,
    client,
    theirs,
  }: {
    readonly source: FollowSource<Theirs>;
    readonly client: Pick<Client, 'pages'>;
    /** Those that were observed; undefined: they are listed. */
    readonly theirs: FollowInput<Theirs>['theirs'] | undefined;
  },
  context: ReconcileContext,
): Promise<FollowInput<Theirs>> {
  const { signal } = context;
  const machines: Machine[] = [];
  for await (const { items } of client.pages<Machine>(MACHINES, { signal })) machines.push(...items);
  return { theirs: theirs ?? (await source.list(signal)), machines, nodeOf: nodeOf(context) };
}

function nodeOf(context: ReconcileContext): FollowInput<OwnerObject>['nodeOf'] {
  const nodes = context.view(NODES);
  return (name) => nodes.get(name);
}
