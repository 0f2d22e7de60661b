/** Provides what the calls of providers share. */
import type { Machine } from '../../../api/generated/types.ts';
import {
  type Instance,
  type InstanceTags,
  isProviderError,
  type Provider,
  type ProviderError,
  type ProviderErrorCode,
} from '../../../providers/contract.ts';
import { onlyInstance } from '../../../providers/only-instance.ts';
import type { OpenProviders } from '../../../providers/registry.ts';
import type { CreationPreflight } from './preflight/observe.ts';

export interface InstanceParts {
  readonly providers: OpenProviders;
  /** The UID that is on every instance, so that other clusters may use the same provider. */
  readonly clusterUid: string;
  /** Makes a token for this Machine. The text is a secret. */
  readonly createBootstrap: (machine: string) => Promise<Bootstrap>;
  /** Absent: no component is checked before a creation. */
  readonly preflight?: CreationPreflight;
}

export interface Bootstrap {
  readonly text: string;
  readonly expiresAt: Date;
}

/** How long after a failure a call is repeated, unless the provider names another time. */
const RETRY_MS: Readonly<Record<ProviderErrorCode, number>> = {
  Ambiguous: 1000,
  Retryable: 5000,
  NotFound: 5000,
  Quota: 10_000,
  Auth: 10_000,
  Terminal: 60_000,
};

export function retryAfterMs({ code, retryAfterSeconds }: ProviderError): number {
  return retryAfterSeconds === undefined ? RETRY_MS[code] : retryAfterSeconds * 1000;
}

/** Returns the error of the provider. Everything else is not an answer of the provider: the reconcile fails. */
export function providerFailure(error: unknown, signal: AbortSignal): ProviderError {
  if (signal.aborted || !isProviderError(error)) throw error;
  return error;
}

export function tagsOf({ metadata }: Machine, clusterUid: string): InstanceTags {
  return { clusterUid, machineUid: metadata.uid ?? '' };
}

/** Returns the recorded instance of a machine, or one that was created and never recorded. */
export async function findInstance(
  machine: Machine,
  provider: Provider,
  { clusterUid, signal }: { readonly clusterUid: string; readonly signal: AbortSignal },
): Promise<Instance | undefined> {
  const id = machine.status?.infra?.providerID;
  if (id !== undefined) return await provider.get(id, signal);
  return onlyInstance(await provider.find(tagsOf(machine, clusterUid), signal));
}
