/** Fetches the manifests of add-ons, verifies their digest, and keeps their objects in memory. */
import { createHash } from 'node:crypto';
import type { HostedAddon } from '../../../api/generated/types.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import type { Clock } from '../../../os/clock.ts';
import { messageOf } from '../../../os/errors.ts';
import { openUrl, readAnswerBody } from '../../../os/net/http.ts';
import { setNewest } from '../../../os/newest.ts';
import { HostingError } from '../errors.ts';
import { readAddon } from './manifests.ts';

/** The manifests of Cilium have 100 kB, those of cert-manager with its CRDs 1 MB. */
const MAX_BYTES = 2 * 1024 ** 2;
const TIMEOUT_MS = 20_000;
/** A host that is down would hold the other control planes at each attempt. */
const RETRY_MS = 60_000;
/** Twenty control planes with an add-on or two of their own. */
const MAX_KEPT = 64;

type Result =
  | { readonly objects: readonly KubeObject[] }
  | { readonly error: HostingError; readonly at: number };

export interface AddonSource {
  /** Rejects with a HostingError that names the add-on. */
  objects(addon: HostedAddon, signal: AbortSignal): Promise<readonly KubeObject[]>;
}

export function createAddonSource(clock: Clock): AddonSource {
  const kept = new Map<string, Result>();
  return {
    async objects(addon, signal) {
      const key = JSON.stringify([addon.name, addon.url, addon.sha256]);
      const before = kept.get(key);
      if (before && 'objects' in before) return before.objects;
      if (before && clock.monotonicMs() - before.at < RETRY_MS) throw before.error;
      const result = await fetchObjects(addon, clock, signal);
      setNewest(kept, key, result, MAX_KEPT);
      if ('error' in result) throw result.error;
      return result.objects;
    },
  };
}

async function fetchObjects(addon: HostedAddon, clock: Clock, signal: AbortSignal): Promise<Result> {
  try {
    const text = await fetchVerified(addon, clock, signal);
    const read = readAddon(addon.name, text);
    if ('objects' in read) return read;
    const hint = 'correct the file, and set spec.hosted.addons[].url and sha256';
    throw new HostingError('AddonInvalid', read.problem, { where: addon.url, hint });
  } catch (error) {
    if (!(error instanceof HostingError)) throw error;
    return { error, at: clock.monotonicMs() };
  }
}

async function fetchVerified(
  { url, sha256 }: HostedAddon,
  clock: Clock,
  signal: AbortSignal,
): Promise<string> {
  const body = await fetchBody(url, clock, signal);
  const found = createHash('sha256').update(body).digest('hex');
  if (found === sha256) return body.toString('utf8');
  throw new HostingError('AddonDigestDiffers', `expected SHA-256 ${sha256}, got ${found}`, {
    where: url,
    hint: 'read the file, and set spec.hosted.addons[].sha256 to its digest if it is the right one',
  });
}

async function fetchBody(url: string, clock: Clock, signal: AbortSignal): Promise<Buffer> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  try {
    return await readAnswerBody(await openUrl(url, { clock, signal: within }), MAX_BYTES);
  } catch (error) {
    signal.throwIfAborted();
    const reason = within.aborted ? `no answer within ${TIMEOUT_MS / 1000} s` : messageOf(error);
    throw new HostingError('AddonNotFetched', `${url.replace(/\?.*/, '')} could not be fetched: ${reason}`, {
      where: url,
      hint: 'it is tried again each minute: make the URL answer, or correct spec.hosted.addons[].url',
      cause: error,
    });
  }
}
