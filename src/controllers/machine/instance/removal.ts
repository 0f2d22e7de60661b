/** Deletes the instance of a Machine. Its finalizer stays until nothing of the instance is left. */
import type { Machine } from '../../../api/generated/types.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import type { Provider } from '../../../providers/contract.ts';
import { findProviderEntry } from '../../../providers/registry.ts';
import { type InstanceParts, providerFailure, retryAfterMs, tagsOf } from './calls.ts';
import { shapeOf } from './plan.ts';

export interface RemovalWait {
  readonly reason: string;
  readonly message: string;
  readonly requeueAt: Date;
}

const UNMANAGED_MS = 60_000;

/** Deletes the instance. Returns undefined when nothing of it is left. */
export async function removeInstance(
  machine: Machine,
  { providers, clusterUid }: Pick<InstanceParts, 'providers' | 'clusterUid'>,
  context: ReconcileContext,
): Promise<RemovalWait | undefined> {
  const provider = providers[machine.spec.infra.provider];
  const id = machine.status?.infra?.providerID;
  if (!provider) return waitForProvider(machine, context);
  if (id === undefined && !provider.hasInstance(shapeOf(machine))) return undefined;
  const { signal, clock, log } = context;
  const { name } = machine.metadata;
  try {
    const ids = await listIds(machine, provider, { clusterUid, signal });
    for (const each of ids) await provider.delete(each, signal);
    log.info('instance deleted', { machine: name, ids });
    return undefined;
  } catch (error) {
    const failure = providerFailure(error, signal);
    log.warn('instance not deleted', { machine: name, error: failure });
    const { reason, message } = failure;
    return { reason, message, requeueAt: new Date(clock.now().getTime() + retryAfterMs(failure)) };
  }
}

/** Also of what was created and never recorded. */
async function listIds(
  machine: Machine,
  provider: Provider,
  { clusterUid, signal }: { readonly clusterUid: string; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const id = machine.status?.infra?.providerID;
  const found = await provider.find(tagsOf(machine, clusterUid), signal);
  return [...new Set([...(id === undefined ? [] : [id]), ...found.map((each) => each.id)])];
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
