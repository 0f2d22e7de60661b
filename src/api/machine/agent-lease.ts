/** The Lease that the agent of each machine renews, as controllers read it: by our own clock. */
import { type KeysOf, type KindRead, read } from '../../kube/controller/controller.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { LEASES } from '../../kube/leader/record.ts';
import { textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
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

/** Only the first heartbeat after a silence triggers a reconcile. */
export function readAgentLeases(keys: KeysOf): KindRead {
  return read(LEASES, {
    keys: (lease) => (lease.metadata.namespace === NAMESPACE_AGENTS ? keys(lease) : []),
    changed: (before, after) => renewedAt(after) - renewedAt(before) > SILENT_MS,
    ages: { [RENEWED]: (lease) => textAt(lease, 'spec', 'renewTime') },
  });
}

/** Undefined: the machine has none. */
export function agentLease(machine: string, context: ReconcileContext): AgentLease | undefined {
  const key = `${NAMESPACE_AGENTS}/${machine}`;
  const ageMs = context.ageMs(LEASES, key, RENEWED);
  if (ageMs === undefined) return undefined;
  return { ageMs, renewTime: textAt(context.view(LEASES).get(key), 'spec', 'renewTime') ?? '' };
}

function renewedAt(lease: KubeObject): number {
  return parseTime(textAt(lease, 'spec', 'renewTime'))?.getTime() ?? 0;
}
