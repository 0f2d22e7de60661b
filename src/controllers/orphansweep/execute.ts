/** Lists the instances of a provider, deletes its orphans one after the other, each with a grant, and reports all of them. */
import { MACHINE_SETS, MACHINES } from '../../api/generated/resources.ts';
import type { Machine, MachineSet } from '../../api/generated/types.ts';
import {
  type GrantOutcome,
  type GrantPort,
  type GrantSettlement,
  orphanInstanceKey,
} from '../../api/grants.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { conditionStatus } from '../../kube/objects/conditions.ts';
import { NODES } from '../../kube/objects/core-kinds.ts';
import { type Instance, isProviderError, type Provider } from '../../providers/contract.ts';
import { type Orphan, planSweep } from './plan.ts';
import { type OrphanReports, reportOrphan, reportOrphans } from './status.ts';

export interface SweepParts {
  readonly client: Pick<Client, 'pages' | 'get'>;
  readonly grants: Pick<GrantPort, 'ask' | 'renew' | 'settle'>;
  readonly clusterUid: string;
  readonly reports: OrphanReports;
}

/** Holds what a process remembers between two sweeps of one provider. A new process sees everything for the first time. */
export interface SweepMemory {
  sightings: ReadonlyMap<string, number>;
  /** The deletions that were begun and have not ended, by the id of the instance. */
  readonly begun: Map<string, BegunDeletion>;
}

interface BegunDeletion {
  readonly orphan: Orphan;
  readonly grant: Pick<GrantSettlement, 'id' | 'fence'>;
}

export function createSweepMemory(): SweepMemory {
  return { sightings: new Map(), begun: new Map() };
}

type SweptProvider = Pick<Provider, 'name' | 'find' | 'get' | 'delete'>;

interface Sweep extends SweepParts {
  readonly provider: SweptProvider;
  readonly begun: SweepMemory['begun'];
  readonly context: ReconcileContext;
}

/** Longer than a cloud takes to end an instance. */
const DELETE_SECONDS = 300;

/** Sweeps once. Throws the error of the provider when it cannot list its instances. */
export async function sweepProvider(
  provider: SweptProvider,
  memory: SweepMemory,
  { context, ...parts }: SweepParts & { readonly context: ReconcileContext },
): Promise<void> {
  const { clock, signal } = context;
  const sweep: Sweep = { ...parts, provider, begun: memory.begun, context };
  // Before the Machines are read: the Machine of an instance is older than the instance.
  const instances = await provider.find({ clusterUid: parts.clusterUid }, signal);
  await endDeletions(instances, sweep);
  const plan = planSweep({
    instances,
    machines: await machinesFor(instances, sweep),
    nodes: context.view(NODES).list(),
    storms: stormingSets(context),
    sightings: memory.sightings,
    nowMs: clock.monotonicMs(),
  });
  memory.sightings = plan.sightings;
  const outcomes: Orphan[] = [];
  for (const orphan of plan.orphans) {
    // oxlint-disable-next-line no-await-in-loop -- one deletion after the other
    outcomes.push(orphan.wait === undefined ? await deleteOrphan(orphan, sweep) : orphan);
  }
  reportOrphans(provider.name, outcomes, { reports: parts.reports, context });
}

/** Settles the grants of deletions that were begun, when the provider does not list their instances any more. */
async function endDeletions(listed: readonly Instance[], sweep: Sweep): Promise<void> {
  const { begun, grants, provider, reports, context } = sweep;
  const ids = new Set(listed.map(({ id }) => id));
  for (const [id, { orphan, grant }] of begun) {
    // oxlint-disable no-await-in-loop -- a list may be stale: each is looked up by its id
    if (ids.has(id) || (await provider.get(id, context.signal)) !== undefined) continue;
    await grants.settle([{ ...grant, outcome: 'Succeeded' }]);
    // oxlint-enable no-await-in-loop
    begun.delete(id);
    reportDeleted(orphan, { reports, context });
  }
}

/** Reads the Machines from the API server, where the view does not show the Machine of each instance: it may be late. */
async function machinesFor(
  instances: readonly Instance[],
  { client, provider, context }: Sweep,
): Promise<readonly Machine[]> {
  const isOfProvider = ({ spec }: Machine): boolean => spec.infra.provider === provider.name;
  const observed = context.view<Machine>(MACHINES).list().filter(isOfProvider);
  const uids = new Set(observed.map(({ metadata }) => metadata.uid));
  if (instances.every(({ tags }) => uids.has(tags.machineUid))) return observed;
  const machines: Machine[] = [];
  for await (const { items } of client.pages<Machine>(MACHINES, { signal: context.signal })) {
    machines.push(...items);
  }
  return machines.filter(isOfProvider);
}

function stormingSets(context: ReconcileContext): ReadonlySet<string> {
  const sets = context.view<MachineSet>(MACHINE_SETS).list();
  const storming = sets.filter(
    ({ status }) => conditionStatus(status?.conditions, 'StormGuardActive') === 'True',
  );
  return new Set(storming.map(({ metadata }) => metadata.name));
}

/** Returns the orphan with why it is left. Without `wait` it is deleted. */
async function deleteOrphan(orphan: Orphan, sweep: Sweep): Promise<Orphan> {
  const { instance } = orphan;
  const { grants, context } = sweep;
  const { machine, tags } = instance;
  const [asked] = await grants.ask([
    {
      holder: { kind: 'Machine', name: machine, origin: `Machine/${machine}` },
      machine: orphanInstanceKey(tags.machineUid),
      action: 'DeleteInstance',
      risk: 'Machine',
      factsAt: context.clock.now(),
      expectedSeconds: DELETE_SECONDS,
    },
  ]);
  if (!asked?.granted) return denied(orphan, asked);
  const { id, fence } = asked;
  const settle = async (outcome: GrantOutcome): Promise<void> => {
    sweep.begun.delete(instance.id);
    await grants.settle([{ id, fence, outcome }]);
  };
  const changed = await changedReason(instance, sweep);
  if (changed !== undefined) {
    await settle('Unused');
    return { instance, wait: 'Queued', because: changed };
  }
  const [renewed] = await grants.renew([{ id, fence }]);
  if (!renewed?.granted) return denied(orphan, renewed);
  sweep.begun.set(instance.id, { orphan, grant: { id, fence } });
  return await endInstance(orphan, sweep, settle);
}

interface Refusal {
  readonly reason: string;
  readonly message: string;
}

function denied({ instance }: Orphan, refusal: Refusal | undefined): Orphan {
  const { reason, message } = refusal ?? { reason: 'LedgerUnavailable', message: 'no answer' };
  return { instance, wait: 'GrantDenied', because: `${reason}: ${message}` };
}

/** Returns why it is not deleted now: it changed since it was listed. The grant may have taken a while. */
async function changedReason(instance: Instance, sweep: Sweep): Promise<string | undefined> {
  const { id, tags } = instance;
  const current = await sweep.provider.get(id, sweep.context.signal);
  if (!current) return 'the provider does not list it any more';
  if (current.tags.machineUid !== tags.machineUid || current.tags.clusterUid !== tags.clusterUid) {
    return 'its tags were changed';
  }
  return (await hasMachine(instance, sweep)) ? `Machine ${instance.machine} exists` : undefined;
}

async function hasMachine(
  { id, machine, tags }: Instance,
  { client, context: { signal } }: Sweep,
): Promise<boolean> {
  try {
    const { metadata, status } = await client.get<Machine>(MACHINES, { name: machine }, { signal });
    return metadata.uid === tags.machineUid || status?.infra?.providerID === id;
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return false;
    throw error;
  }
}

/** Ends the instance. The grant of a deletion that may go on stays open: the next sweep settles it or, after a crash, the Defender. */
async function endInstance(
  orphan: Orphan,
  { provider, reports, context }: Sweep,
  settle: (outcome: GrantOutcome) => Promise<void>,
): Promise<Orphan> {
  const { instance } = orphan;
  try {
    await provider.delete(instance.id, context.signal);
  } catch (error) {
    if (!isProviderError(error)) throw error;
    const because = `${error.reason}: ${error.message}`;
    context.log.warn('orphan instance not deleted', { instance: instance.id, error });
    if (isProviderError(error, 'Retryable', 'Ambiguous')) return { instance, wait: 'Deleting', because };
    await settle('Failed');
    return { instance, wait: 'DeletionFailed', because };
  }
  await settle('Succeeded');
  reportDeleted(orphan, { reports, context });
  return orphan;
}

function reportDeleted(orphan: Orphan, reporting: Pick<Sweep, 'reports' | 'context'>): void {
  const { instance, because } = orphan;
  reporting.context.log.info('orphan instance deleted', { instance: instance.id, because });
  reportOrphan(orphan, reporting);
}
