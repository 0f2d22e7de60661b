/** Deletes virtual machines. Their interface and their disk have the option to be deleted with them. */
import { pollUntil } from '../../os/poll.ts';
import { changingError } from '../cloud/own-instances.ts';
import { isProviderError, type ProviderError } from '../contract.ts';
import { FailedArmOperation, waitForOperation } from './api/operation.ts';
import { recordDeletion } from './deletion-record.ts';
import { isBusy } from './errors.ts';
import { COMPUTE_API } from './lookup.ts';
import type { AzureParts } from './parts.ts';
import { formatAzureId, parseAzureId, vmPath } from './place.ts';

/** A deletion takes some ten seconds. One that takes longer is repeated, and others are not kept waiting. */
const DELETE_MS = 30_000;
const POLL_MS = 2000;

/** Deletes the instance for good: its Machine gets no other one. */
export async function deleteInstance(id: string, parts: AzureParts, signal: AbortSignal): Promise<void> {
  const name = parseAzureId(id, parts.place);
  signal.throwIfAborted();
  // Throws for an instance that is not ours.
  await parts.lookup.byId(id, signal);
  // Before the deletion: a creation that is under way looks for the record after it has created.
  const failure = await recordFailure(name, parts, signal);
  await removeVm(name, parts, signal);
  if (failure !== undefined) throw failure;
}

/** Returns why the record was not written. The instance is deleted all the same: the next call writes the record. */
async function recordFailure(
  name: string,
  parts: AzureParts,
  signal: AbortSignal,
): Promise<ProviderError | undefined> {
  try {
    await recordDeletion(name, parts, signal);
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (isProviderError(error)) return error;
    throw error;
  }
}

/** Resolves when Azure does not know the virtual machine any more. */
export async function removeVm(name: string, parts: AzureParts, signal: AbortSignal): Promise<void> {
  const { clock, place } = parts;
  const deadlineMs = clock.monotonicMs() + DELETE_MS;
  const isDeleted = (): Promise<boolean> => requestDeletion(name, { ...parts, deadlineMs }, signal);
  if (await pollUntil(isDeleted, { clock, everyMs: POLL_MS, deadlineMs, signal })) return;
  throw changingError(formatAzureId(place, name), 'Deleting', 'is being deleted');
}

async function requestDeletion(
  name: string,
  { api, clock, place, deadlineMs }: AzureParts & { readonly deadlineMs: number },
  signal: AbortSignal,
): Promise<boolean> {
  // By force: the host is not asked to stop, and may not answer.
  const query = { ...COMPUTE_API, forceDeletion: 'true' };
  try {
    const answer = await api.send({ method: 'DELETE', path: vmPath(place, name), query }, signal);
    if (answer.status === 204) return true;
    await waitForOperation(answer, { api, clock, deadlineMs }, signal);
    return false;
  } catch (error) {
    if (error instanceof FailedArmOperation) throw error.error;
    if (isProviderError(error, 'NotFound')) return true;
    // It is being created or deleted.
    if (isBusy(error)) return false;
    throw error;
  }
}
