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
import { pauseSeconds, SWEEP_SECONDS } from './cadence.ts';
import type { SweepParts } from './execute/delete.ts';
import { createSweepMemory, type SweepMemory, sweepProvider } from './execute/execute.ts';
import { type OrphanGauge, type OrphanReports, reportListFailure } from './status.ts';

export interface OrphanSweepOptions extends Omit<SweepParts, 'reports'> {
  readonly providers: OpenProviders;
  readonly left?: OrphanGauge;
}

export function createOrphanSweepController({ providers, left, ...parts }: OrphanSweepOptions): Controller {
  const swept = new Map<string, { readonly provider: Provider; readonly memory: SweepMemory }>(
    Object.values(providers)
      .filter(ownsInstances)
      .map((provider) => [provider.name, { provider, memory: createSweepMemory() }]),
  );
  const reports: OrphanReports = { ...optional('left', left), reported: new Map(), listFailures: new Map() };
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
      const sweep = swept.get(key);
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
  const { context, reports } = parts;
  const { clock, log } = context;
  try {
    await sweepProvider(provider, memory, parts);
    reports.listFailures.delete(provider.name);
    const { sweptMs, begun } = memory;
    const seconds = pauseSeconds({ sweptMs, begun: begun.size }, clock.monotonicMs());
    return { requeueAt: secondsAfter(clock.now(), seconds) };
  } catch (error) {
    if (!isProviderError(error)) throw error;
    log.warn('instances not listed', { provider: provider.name, error });
    reportListFailure(provider.name, error, { reports, context });
    const seconds = Math.max(SWEEP_SECONDS, error.retryAfterSeconds ?? 0);
    return { requeueAt: secondsAfter(clock.now(), seconds) };
  }
}
