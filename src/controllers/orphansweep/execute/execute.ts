/** Lists the instances of a provider, deletes its orphans one after the other, and reports all of them. */
import { MACHINE_SETS, MACHINES } from '../../../api/generated/resources.ts';
import type { Machine, MachineSet } from '../../../api/generated/types.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import { conditionStatus } from '../../../kube/objects/conditions.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';
import type { Instance } from '../../../providers/contract.ts';
import { isSweepDue } from '../cadence.ts';
import { type Orphan, planSweep } from '../plan.ts';
import { reportOrphans } from '../status.ts';
import { deleteOrphan, endDeletions, type Sweep, type SweepParts, type SweptProvider } from './delete.ts';

/** Holds what a process remembers between two sweeps of one provider. A new process sees everything for the first time. */
export interface SweepMemory {
  sightings: ReadonlyMap<string, number>;
  attempts: ReadonlyMap<string, number>;
  sweptMs: number | undefined;
  readonly begun: Sweep['begun'];
}

export function createSweepMemory(): SweepMemory {
  return { sightings: new Map(), attempts: new Map(), sweptMs: undefined, begun: new Map() };
}

/** Sweeps, or continues what the last sweep began. Throws the error of the provider when it cannot list its instances. */
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
  const machines = await machinesFor(instances, sweep);
  const nowMs = clock.monotonicMs();
  const plan = planSweep({
    instances,
    machines,
    nodes: context.view(NODES).list(),
    storms: stormingSets(context),
    sightings: memory.sightings,
    attempts: memory.attempts,
    begun: memory.begun,
    nowMs,
  });
  memory.sightings = plan.sightings;
  if (!isSweepDue(memory, nowMs)) {
    await deleteOrphans(
      plan.orphans.filter(({ instance }) => memory.begun.has(instance.id)),
      sweep,
    );
    return;
  }
  memory.attempts = plan.attempts;
  memory.sweptMs = nowMs;
  reportOrphans(provider.name, await deleteOrphans(plan.orphans, sweep), { reports: parts.reports, context });
}

/** Returns the orphans with what became of each. */
async function deleteOrphans(orphans: readonly Orphan[], sweep: Sweep): Promise<readonly Orphan[]> {
  const outcomes: Orphan[] = [];
  for (const orphan of orphans) {
    // oxlint-disable-next-line no-await-in-loop -- one deletion after the other
    outcomes.push(orphan.wait === undefined ? await deleteOrphan(orphan, sweep) : orphan);
  }
  return outcomes;
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
