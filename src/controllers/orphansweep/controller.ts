/**
 * Deletes instances that cost money and that no Machine has (MAC-36), as kubenode-machine. It writes no object; what it deletes is an
 * instance of a provider, which has the tags of this cluster.
 */
import { MACHINE_SETS, MACHINES } from '../../api/generated/resources.ts';
import { MANAGER_ORPHANSWEEP, NAMESPACE, PRINCIPAL_MACHINE } from '../../api/names.ts';
import { type Controller, type ReconcileResult, read } from '../../kube/controller/controller.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { NODES } from '../../kube/objects/core-kinds.ts';
import { optional } from '../../kube/objects/optional.ts';
import { secondsAfter } from '../../os/dates.ts';
import { isProviderError, type Provider } from '../../providers/contract.ts';
import type { OpenProviders } from '../../providers/registry.ts';
import { createSweepMemory, type SweepMemory, type SweepParts, sweepProvider } from './execute.ts';
import type { OrphanGauge } from './status.ts';

export interface OrphanSweepOptions extends Omit<SweepParts, 'reports'> {
  readonly providers: OpenProviders;
  readonly left?: OrphanGauge;
}

/** Two sightings are ten minutes apart: an orphan is deleted twenty minutes after it is listed, at the latest, while nothing denies it. */
const SWEEP_SECONDS = 600;
/** A cloud ends an instance within a minute: its grant is settled then. */
const DELETING_SECONDS = 30;

export function createOrphanSweepController({ providers, left, ...parts }: OrphanSweepOptions): Controller {
  const swept = new Map(
    Object.values(providers)
      .filter(ownsInstances)
      .map((provider) => [provider.name, { provider, memory: createSweepMemory() }]),
  );
  const reports = { ...optional('left', left), reported: new Map<string, string>() };
  return {
    name: 'orphansweep',
    reads: [MACHINES, NODES, MACHINE_SETS].map((resource) => read(resource, { keys: () => [] })),
    triggers: (add) => {
      for (const name of swept.keys()) add(name);
      return () => undefined;
    },
    writes: [],
    fieldManager: MANAGER_ORPHANSWEEP,
    serviceAccount: { namespace: NAMESPACE, name: PRINCIPAL_MACHINE },
    concurrency: 1,
    reconcile: async (key, context) => {
      const sweep = [...swept.values()].find(({ provider }) => provider.name === key);
      if (!sweep) return {};
      return await reconcile(sweep.provider, sweep.memory, { ...parts, reports, context });
    },
  };
}

/** A provider that lets go of hosts takes those that exist: they are never deleted. */
function ownsInstances(provider: Provider): boolean {
  return provider.abandon === undefined;
}

async function reconcile(
  provider: Provider,
  memory: SweepMemory,
  parts: SweepParts & { readonly context: ReconcileContext },
): Promise<ReconcileResult> {
  const { clock, log } = parts.context;
  let pauseSeconds = SWEEP_SECONDS;
  try {
    await sweepProvider(provider, memory, parts);
    if (memory.begun.size > 0) pauseSeconds = DELETING_SECONDS;
  } catch (error) {
    if (!isProviderError(error)) throw error;
    log.warn('instances not listed', { provider: provider.name, error });
    pauseSeconds = Math.max(SWEEP_SECONDS, error.retryAfterSeconds ?? 0);
  }
  return { requeueAt: secondsAfter(clock.now(), pauseSeconds) };
}
