/** The Lease that the agent of each machine renews, as controllers read it: by our own clock. */
import { type KeysOf, type KindRead, read } from '../../kube/controller/controller.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { LEASES } from '../../kube/leader/record.ts';
import { textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { MACHINES } from '../generated/resources.ts';
import type { Machine } from '../generated/types.ts';
import { NAMESPACE_AGENTS } from '../names.ts';
import { SILENT_MS } from './heartbeat.ts';
import { parseTime } from './node-state.ts';

export interface AgentLease {
  /** As the agent wrote it, by its own clock. */
  readonly renewTime: string;
  /** Since it was renewed, or since this process began, if it was there before. */
  readonly ageMs: number;
}

const RENEWED = 'renewed';

/** Only the first heartbeat after a silence triggers a reconcile, and the first one of another Machine with the name. */
export function readAgentLeases(keys: KeysOf): KindRead {
  return read(LEASES, {
    keys: (lease) => (lease.metadata.namespace === NAMESPACE_AGENTS ? keys(lease) : []),
    changed: (before, after) =>
      renewedAt(after) - renewedAt(before) > SILENT_MS || ownerUid(after) !== ownerUid(before),
    ages: { [RENEWED]: (lease) => textAt(lease, 'spec', 'renewTime') },
  });
}

/** Undefined: the agent of the machine has none. */
export function agentLease(
  { metadata: { name, uid } }: Pick<Machine, 'metadata'>,
  context: ReconcileContext,
): AgentLease | undefined {
  const key = `${NAMESPACE_AGENTS}/${name}`;
  const ageMs = context.ageMs(LEASES, key, RENEWED);
  const lease = context.view(LEASES).get(key);
  if (ageMs === undefined || isOfFormerMachine(lease, uid)) return undefined;
  return { ageMs, renewTime: textAt(lease, 'spec', 'renewTime') ?? '' };
}

/**
 * The Lease of a Machine that was deleted stays until Kubernetes collects it, and another Machine may have the name by then: a set gives the
 * same names again. Its last heartbeat does not show that the agent of the new one lives.
 */
function isOfFormerMachine(lease: KubeObject | undefined, uid: string | undefined): boolean {
  const owner = ownerUid(lease);
  return owner !== undefined && owner !== uid;
}

function ownerUid(lease: KubeObject | undefined): string | undefined {
  return lease?.metadata.ownerReferences?.find(({ kind }) => kind === MACHINES.kind)?.uid;
}

function renewedAt(lease: KubeObject): number {
  return parseTime(textAt(lease, 'spec', 'renewTime'))?.getTime() ?? 0;
}
