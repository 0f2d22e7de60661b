/** Reports orphan instances to people: an Event for each new state of one, about its MachineSet, and a metric. */
import { MACHINE_SETS } from '../../api/generated/resources.ts';
import type { MachineSet } from '../../api/generated/types.ts';
import { EVENT_PREFIX, MANAGER_MACHINE, NAMESPACE } from '../../api/names.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { Gauge } from '../../kube/process/metrics.ts';
import type { Instance, ProviderError } from '../../providers/contract.ts';
import type { Orphan, OrphanWait } from './plan.ts';

export interface OrphanReports {
  /** Orphans that are left, by provider and reason. */
  readonly left?: OrphanGauge;
  /** The last reported state of each orphan, by the id of its instance. */
  readonly reported: Map<string, string>;
  /** The last reported reason why the instances of a provider are not listed, by the name of the provider. */
  readonly listFailures: Map<string, string>;
}

export type OrphanGauge = Gauge<'provider' | 'reason'>;

interface Reporting {
  readonly reports: OrphanReports;
  readonly context: ReconcileContext;
}

const WAITS: Readonly<Record<OrphanWait, true>> = {
  ListedOnce: true,
  InvalidTag: true,
  NodeExists: true,
  StormGuardActive: true,
  NoMachines: true,
  TooManyOrphans: true,
  Queued: true,
  GrantDenied: true,
  Deleting: true,
  DeletionFailed: true,
};
const PREFIX = EVENT_PREFIX[MANAGER_MACHINE];
const OUR_NAMESPACE: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
/** At most so many Events of one sweep: the metric counts all. */
const MAX_EVENTS = 20;

export function reportOrphans(provider: string, orphans: readonly Orphan[], reporting: Reporting): void {
  const { reported, left } = reporting.reports;
  const waiting = orphans.filter(({ wait }) => wait !== undefined);
  for (const reason of Object.keys(WAITS)) {
    left?.set({ provider, reason }, waiting.filter(({ wait }) => wait === reason).length);
  }
  const isNew = (orphan: Orphan): boolean => stateOf(orphan) !== reported.get(orphan.instance.id);
  for (const orphan of waiting.filter(isNew).slice(0, MAX_EVENTS)) reportOrphan(orphan, reporting);
  forgetOthers(reported, provider, waiting);
}

/** Reports the new state of one orphan: without `wait`, that it was deleted. */
export function reportOrphan(orphan: Orphan, { reports, context }: Reporting): void {
  const { instance, wait, because } = orphan;
  const note = `${describeInstance(instance, context.clock.now())}: ${because}`;
  const about = objectOf(instance, context);
  if (wait === undefined) {
    reports.reported.delete(instance.id);
    const reason = `${PREFIX}OrphanInstanceDeleted`;
    return context.event(about, { type: 'Normal', reason, action: 'Delete', note });
  }
  reports.reported.set(instance.id, stateOf(orphan));
  context.event(about, { type: 'Warning', reason: `${PREFIX}OrphanInstance`, action: 'Sweep', note });
}

/** Returns what is reported once. The rest of `because` may change with each sweep. */
function stateOf({ wait, reason }: Orphan): string {
  return `${wait} ${reason}`;
}

/** Reports once for each reason that the instances of the provider are not listed: their orphans are neither found nor deleted. */
export function reportListFailure(
  provider: string,
  { reason, message }: Pick<ProviderError, 'reason' | 'message'>,
  { reports: { listFailures }, context }: Reporting,
): void {
  if (listFailures.get(provider) === reason) return;
  listFailures.set(provider, reason);
  const note = `orphan instances of provider ${provider} are not deleted: its instances cannot be listed: ${reason}: ${message}`;
  context.event(OUR_NAMESPACE, {
    type: 'Warning',
    reason: `${PREFIX}OrphanSweepFailed`,
    action: 'Sweep',
    note,
  });
}

/** Names the instance, its tags and its age. */
function describeInstance({ id, machine, tags, createdAt }: Instance, now: Date): string {
  const hours = Math.max(0, Math.floor((now.getTime() - createdAt.getTime()) / 3_600_000));
  return `instance ${id} of Machine ${machine} (UID ${tags.machineUid}), created ${createdAt.toISOString()}, ${hours} h ago`;
}

/** Returns the MachineSet of its tag or, when that does not exist, our namespace. */
function objectOf({ tags }: Instance, context: ReconcileContext): KubeObject {
  const set = tags.set === undefined ? undefined : context.view<MachineSet>(MACHINE_SETS).get(tags.set);
  return set ?? OUR_NAMESPACE;
}

function forgetOthers(reported: Map<string, string>, provider: string, waiting: readonly Orphan[]): void {
  const ids = new Set(waiting.map(({ instance }) => instance.id));
  for (const id of reported.keys()) if (id.startsWith(`${provider}:`) && !ids.has(id)) reported.delete(id);
}
