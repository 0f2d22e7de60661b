/** Takes a host of a pool for a Machine. */
import type { Clock } from '../../../os/clock.ts';
import { type InstanceRequest, ProviderError } from '../../contract.ts';
import type { HostClaim, StoredClaim } from './claim.ts';
import { selectorOf } from './config.ts';
import { hostKeyText } from './host.ts';
import { chooseHost } from './plan.ts';
import type { ClaimList, ClaimStore } from './store.ts';

export interface ClaimParts {
  readonly store: ClaimStore;
  readonly clock: Clock;
}

/** Each try that fails means that another Machine got a host, or that another process works on the same Machine. */
const MAX_TRIES = 50;

export async function claimHost(
  request: InstanceRequest,
  parts: ClaimParts,
  signal: AbortSignal,
): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    signal.throwIfAborted();
    if (await advanceClaim(request, parts, signal)) return;
  }
  throw new ProviderError('Retryable', 'other machines take the hosts of the pool at this moment');
}

/** Makes one step. True: the Machine has its host. Every step can be repeated, by any process. */
async function advanceClaim(
  request: InstanceRequest,
  { store, clock }: ClaimParts,
  signal: AbortSignal,
): Promise<boolean> {
  const own = await store.get(request.tags.machineUid, signal);
  if (own && own.claim.state !== 'Claiming') return await ended(own, store, signal);
  if (own && (await isLocked(own, store, signal))) {
    return (await store.write({ ...own.claim, state: 'Claimed' }, own, signal)) !== undefined;
  }
  const { machine, tags } = request;
  const claimedAt = clock.now();
  const begun = own?.claim ?? { machine, tags, state: 'Claiming', claimedAt };
  await store.write({ ...begun, ...(await freeHost(request, store, signal)) }, own, signal);
  return false;
}

async function isLocked({ claim }: StoredClaim, store: ClaimStore, signal: AbortSignal): Promise<boolean> {
  return claim.host !== undefined && (await store.lock(claim.host, claim, signal));
}

/** It may have been deleted after its host was locked here. */
async function ended({ claim }: StoredClaim, store: ClaimStore, signal: AbortSignal): Promise<true> {
  if (claim.state === 'Claimed') return true;
  if (claim.state === 'Deleted') await store.unlock([claim.tags.machineUid], signal);
  const message = `the host of Machine ${claim.machine} was given back`;
  throw new ProviderError('Terminal', message, { reason: 'Deleted' });
}

async function freeHost(
  request: InstanceRequest,
  store: ClaimStore,
  signal: AbortSignal,
): Promise<Required<Pick<HostClaim, 'pool' | 'host'>>> {
  const selector = selectorOf(request);
  if (selector === undefined) throw new ProviderError('Terminal', 'no pool', { reason: 'InvalidConfig' });
  const [pool, list] = [await store.pool(selector.pool, signal), await store.list(signal)];
  const { machineUid } = request.tags;
  const choice = chooseHost({ selector, pool, machineUid, holders: holdersOf(list, machineUid) });
  if (choice.type === 'Take') return { pool: selector.pool, host: choice.host };
  throw new ProviderError('Quota', choice.because, { reason: 'NoFreeHost' });
}

/** The Machines that have a host or are about to take one, by the key of the host. */
function holdersOf({ claims, unreadable }: ClaimList, machineUid: string): ReadonlyMap<string, string> {
  const others = claims.filter(
    ({ claim }) => claim.tags.machineUid !== machineUid && claim.state !== 'Deleted',
  );
  return new Map([
    ...unreadable.map(({ host, lease }) => [host, `Lease ${lease}, which cannot be read`] as const),
    ...others.flatMap(({ claim }) =>
      claim.host ? [[hostKeyText(claim.host), holderText(claim)] as const] : [],
    ),
  ]);
}

function holderText({ machine, state }: HostClaim): string {
  return state === 'Unclean'
    ? `${machine}, which was deleted and may have left something (kubenode pool free)`
    : machine;
}
