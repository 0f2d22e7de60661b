/** Deletes the instance of a Machine. Its finalizer stays until nothing of the instance is left. */
import type { Machine } from '../../../api/generated/types.ts';
import { tokenRecordOf } from '../../../api/secrets/bootstrap-token.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import type { ProviderKind } from '../../../providers/contract.ts';
import { isFollowed } from '../../../providers/followed.ts';
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
/**
 * How long after the deletion of a Machine an instance of it may still appear: nothing is created for a Machine that is deleted, but a request
 * that was under way takes half a minute, and its instance may be listed a minute later.
 */
const UNLISTED_MS = 90_000;

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
  if (isFollowed(machine)) return undefined;
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
    if (ids.length === 0) return provider.capabilities.listsLate && waitUntilListed(machine, context);
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

/** The instance of a creation whose answer was lost may be listed later: it would be forgotten with its Machine. */
function waitUntilListed({ metadata }: Machine, { clock }: ReconcileContext): RemovalWait | undefined {
  const until = new Date(Date.parse(metadata.deletionTimestamp ?? '') + UNLISTED_MS);
  if (!(clock.now() < until)) return undefined;
  const message = `no instance was found; one that was requested before the deletion may be listed until ${until.toISOString()}. No action required`;
  return { reason: 'NotListed', message, requeueAt: until };
}

/** The Machine waits for a process with its provider: otherwise its instance would be forgotten. */
function waitForProvider(machine: Machine, { clock }: ReconcileContext): RemovalWait | undefined {
  const { provider } = machine.spec.infra;
  const entry = findProviderEntry(provider);
  const id = machine.status?.infra?.providerID;
  if (id === undefined && !mayBeUnrecorded(machine, entry)) return undefined;
  const what =
    id === undefined ? 'an instance that was requested and not recorded may be' : `instance ${id} is`;
  const hint = entry?.startHint ?? `this version does not support provider ${provider}`;
  return {
    reason: 'ProviderMissing',
    message: `${what} left: ${hint}`,
    requeueAt: new Date(clock.now().getTime() + UNMANAGED_MS),
  };
}

/** Tells whether a creation may have been requested: the token of the host is recorded before it. */
function mayBeUnrecorded(machine: Machine, entry: ProviderKind | undefined): boolean {
  const shape = shapeOf(machine);
  return (
    entry?.hasInstance(shape) === true && entry.needsBootstrap(shape) && tokenRecordOf(machine) !== undefined
  );
}
