/** Deletes the instance of a Machine. Its finalizer stays until nothing of the instance is left. */
import type { Machine } from '../../../api/generated/types.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import { findProviderEntry } from '../../../providers/registry.ts';
import { findInstance, type InstanceParts, providerFailure, retryAfterMs, tagsOf } from './calls.ts';
import { shapeOf } from './plan.ts';
import { isPooled, withImport } from './pooled.ts';

export interface RemovalWait {
  readonly reason: string;
  readonly message: string;
  readonly requeueAt: Date;
}

const UNMANAGED_MS = 60_000;

interface Removal {
  readonly context: ReconcileContext;
  /** Abandon: a provider that can lets go of what may not be clean. */
  readonly how: 'Delete' | 'Abandon';
}

/** Deletes the instance. Returns undefined when nothing of it is left, or when it was let go. */
export async function removeInstance(
  machine: Machine,
  parts: ProviderParts,
  { context, how }: Removal,
): Promise<RemovalWait | undefined> {
  const provider = parts.providers[machine.spec.infra.provider];
  if (!provider) return waitForProvider(machine, context);
  const id = machine.status?.infra?.providerID;
  if (id === undefined && !provider.hasInstance(shapeOf(machine))) return undefined;
  const { signal, log } = context;
  const { name } = machine.metadata;
  return await unlessProviderFails(machine, context, async () => {
    // Also what was created and never recorded.
    const found = await provider.find(tagsOf(machine, parts.clusterUid), signal);
    const ids = [...new Set([...(id === undefined ? [] : [id]), ...found.map((each) => each.id)])];
    for (const each of ids) {
      if (how === 'Abandon' && provider.abandon) await provider.abandon(each, signal);
      else await provider.delete(each, signal);
    }
    log.info(how === 'Abandon' ? 'instance abandoned' : 'instance deleted', { machine: name, ids });
    return undefined;
  });
}

/** Returns the machine with the host that its provider has taken for it, or why that is not known. */
export async function withPooledHost(
  machine: Machine,
  parts: ProviderParts,
  context: ReconcileContext,
): Promise<Machine | RemovalWait> {
  const provider = isPooled(machine) ? parts.providers[machine.spec.infra.provider] : undefined;
  if (!provider) return machine;
  const { signal } = context;
  return await unlessProviderFails(machine, context, async () => {
    const instance = await findInstance(machine, provider, { clusterUid: parts.clusterUid, signal });
    return withImport(machine, instance?.import);
  });
}

type ProviderParts = Pick<InstanceParts, 'providers' | 'clusterUid'>;

async function unlessProviderFails<T>(
  machine: Machine,
  { signal, clock, log }: ReconcileContext,
  work: () => Promise<T>,
): Promise<T | RemovalWait> {
  try {
    return await work();
  } catch (error) {
    const failure = providerFailure(error, signal);
    log.warn('a deletion waits for the provider', { machine: machine.metadata.name, error: failure });
    const { reason, message } = failure;
    return { reason, message, requeueAt: new Date(clock.now().getTime() + retryAfterMs(failure)) };
  }
}

/** The Machine waits for a process with its provider: otherwise its instance would be forgotten. */
function waitForProvider({ spec, status }: Machine, { clock }: ReconcileContext): RemovalWait | undefined {
  const id = status?.infra?.providerID;
  if (id === undefined) return undefined;
  const { provider } = spec.infra;
  const hint = findProviderEntry(provider)?.startHint ?? `this version does not support provider ${provider}`;
  return {
    reason: 'ProviderMissing',
    message: `instance ${id} is left: ${hint}`,
    requeueAt: new Date(clock.now().getTime() + UNMANAGED_MS),
  };
}
