/** Waits until the server serves a kind whose CRD was just established. */
import type { Clock } from '../../os/clock.ts';
import { pollUntil } from '../../os/poll.ts';
import type { Resource } from '../objects/object.ts';
import type { Client } from './client.ts';
import { isKubeError } from './errors.ts';

export const SERVED_WITHIN_MS = 30_000;
const POLL_MS = 50;

/** The errors of a server that is about to serve a kind. */
export const NOT_SERVED_YET = ['NotFound', 'ServerError', 'BadAnswer', 'TooManyRequests', 'Timeout'] as const;

/**
 * A CRD is Established a moment before discovery lists its kind, and discovery lists it a moment before it can be read. On
 * a busy server each step takes seconds. Rejects with the last error when the kind is not served in time.
 */
export async function waitUntilServed(
  client: Pick<Client, 'resourceFor' | 'list' | 'forgetResources'>,
  clock: Clock,
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
  signal: AbortSignal,
): Promise<Resource> {
  let resource: Resource | undefined;
  let lastError: unknown;
  const deadlineMs = clock.monotonicMs() + SERVED_WITHIN_MS;
  await pollUntil(tryRead, { clock, everyMs: POLL_MS, deadlineMs, signal });
  if (!resource) throw lastError;
  return resource;

  async function tryRead(): Promise<boolean> {
    try {
      const found = await client.resourceFor(apiVersion, kind);
      await readOnce(found);
      resource = found;
    } catch (error) {
      if (!isKubeError(error, ...NOT_SERVED_YET)) throw error;
      lastError = error;
      client.forgetResources();
    }
    return resource !== undefined;
  }

  /** A kind that the caller may not list is served, too. */
  async function readOnce(found: Resource): Promise<void> {
    try {
      await client.list(found, { limit: 1, signal });
    } catch (error) {
      if (!isKubeError(error, 'Forbidden')) throw error;
    }
  }
}
