/** Creates virtual machines. The name is that of the Machine's UID, and a request never changes one that exists. */
import { optional } from '../../kube/objects/optional.ts';
import { changingError } from '../cloud/own-instances.ts';
import { deletedError } from '../cloud/request.ts';
import { type InstanceRequest, isProviderError, ProviderError } from '../contract.ts';
import type { ArmAnswer } from './api/client.ts';
import { FailedArmOperation, waitForOperation } from './api/operation.ts';
import { removeVm } from './deletion.ts';
import { isDeletionRecorded } from './deletion-record.ts';
import { toCreationError } from './errors.ts';
import { isDeleting } from './instance.ts';
import { COMPUTE_API, type FoundVm } from './lookup.ts';
import type { AzureParts } from './parts.ts';
import { formatAzureId, vmNameOf, vmPath } from './place.ts';
import { vmBody } from './vm-request.ts';

/** An allocation that fails does so in half a minute. One that takes longer is reported by the state of the instance. */
const CREATE_MS = 60_000;

/** Returns the id of the instance, the one that exists or a new one. */
export async function createAzureInstance(
  request: InstanceRequest,
  parts: AzureParts,
  signal: AbortSignal,
): Promise<string> {
  const name = vmNameOf(request.tags.machineUid);
  const id = formatAzureId(parts.place, name);
  const found = await parts.lookup.byId(id, signal);
  if (found) return readExisting(id, found);
  await throwIfDeleted(id, name, { parts, signal });
  const accepted = await putVm(request, name, { parts, signal });
  if (accepted) await finishCreation(accepted, name, { parts, signal });
  else await requireListed(id, parts, signal);
  await endIfDeleted(id, name, { parts, signal });
  return id;
}

interface Call {
  readonly parts: AzureParts;
  readonly signal: AbortSignal;
}

function readExisting(id: string, { vm }: FoundVm): string {
  if (isDeleting(vm)) throw changingError(id, 'Deleting', 'is being deleted');
  return id;
}

async function throwIfDeleted(id: string, name: string, { parts, signal }: Call): Promise<void> {
  if (await isDeletionRecorded(name, parts, signal)) throw deletedError(id);
}

/** Returns what Azure accepted; undefined: a virtual machine of this name exists. */
async function putVm(
  request: InstanceRequest,
  name: string,
  { parts, signal }: Call,
): Promise<ArmAnswer | undefined> {
  const { api, place, agent } = parts;
  try {
    const answer = await api.send(
      {
        method: 'PUT',
        path: vmPath(place, name),
        query: COMPUTE_API,
        // Another bootstrap file, or another spec, must not change an instance that exists.
        headers: { 'if-none-match': '*' },
        body: vmBody(request, { place, name, agent }),
        lost: 'Ambiguous',
        expected: 412,
      },
      signal,
    );
    return answer.status === 412 ? undefined : answer;
  } catch (error) {
    throw isProviderError(error) ? toCreationError(error) : error;
  }
}

/** Removes an instance whose creation failed: it never ran, and would keep its name and its address. */
async function finishCreation(accepted: ArmAnswer, name: string, { parts, signal }: Call): Promise<void> {
  const { api, clock } = parts;
  try {
    await waitForOperation(accepted, { api, clock, deadlineMs: clock.monotonicMs() + CREATE_MS }, signal);
  } catch (error) {
    if (!(error instanceof FailedArmOperation)) throw error;
    const left = await removalFailure(name, { parts, signal });
    throw withLeftover(toCreationError(error.error), left);
  }
}

async function removalFailure(name: string, { parts, signal }: Call): Promise<string | undefined> {
  try {
    await removeVm(name, parts, signal);
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    return isProviderError(error) ? error.reason : 'unknown error';
  }
}

/** The cause of the failure stays the reason. */
function withLeftover(error: ProviderError, left: string | undefined): ProviderError {
  if (left === undefined) return error;
  const message = `${error.message}. The virtual machine that failed is not deleted yet: ${left}`;
  const { reason, retryAfterSeconds } = error;
  return new ProviderError(error.code, message, {
    reason,
    ...optional('retryAfterSeconds', retryAfterSeconds),
  });
}

async function requireListed(id: string, { lookup }: AzureParts, signal: AbortSignal): Promise<void> {
  const found = await lookup.byId(id, signal);
  if (found) {
    readExisting(id, found);
    return;
  }
  const message = `instance ${id} exists and is not returned yet`;
  throw new ProviderError('Ambiguous', message, { reason: 'NotListed' });
}

/** A deletion that began meanwhile found nothing to delete: what was created after it must not stay. */
async function endIfDeleted(id: string, name: string, { parts, signal }: Call): Promise<void> {
  if (!(await isDeletionRecorded(name, parts, signal))) return;
  await removeVm(name, parts, signal);
  throw deletedError(id);
}
