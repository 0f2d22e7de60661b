/** Switches the power of virtual machines, and waits a minute for Azure to finish: an operation that fails is an error of the request. */
import { requireFound } from '../cloud/own-instances.ts';
import type { Instance, PowerAction } from '../contract.ts';
import { FailedArmOperation, waitForOperation } from './api/operation.ts';
import { COMPUTE_API } from './lookup.ts';
import type { AzureParts } from './parts.ts';
import { parseAzureId, vmPath } from './place.ts';

/** A stop or a start takes some ten seconds. One that takes longer is confirmed by the state, and others are not kept waiting. */
const POWER_MS = 60_000;

interface PowerRequest {
  readonly act: 'powerOff' | 'start' | 'restart';
  readonly query: Readonly<Record<string, string>>;
}

export async function switchAzurePower(
  id: string,
  action: PowerAction,
  parts: AzureParts,
  signal: AbortSignal,
): Promise<void> {
  const { api, clock, place, lookup } = parts;
  const name = parseAzureId(id, place);
  signal.throwIfAborted();
  const { instance } = requireFound(await lookup.byId(id, signal), id);
  const request = planAzurePower(instance.state, action);
  if (!request) return;
  const path = `${vmPath(place, name)}/${request.act}`;
  const query = { ...COMPUTE_API, ...request.query };
  const answer = await api.send({ method: 'POST', path, query }, signal);
  const limits = { api, clock, deadlineMs: clock.monotonicMs() + POWER_MS };
  // One that is still under way was accepted: the state confirms it, and a repetition could undo what a person did meanwhile.
  await waitForOperation(answer, limits, signal).catch((error: unknown) => {
    throw error instanceof FailedArmOperation ? error.error : error;
  });
}

/** Returns what leads from the state to the action. Undefined: nothing is needed. */
export function planAzurePower(state: Instance['state'], action: PowerAction): PowerRequest | undefined {
  if (action === 'off') {
    // A kernel that hangs does not stop by itself. The instance keeps its place: deallocated, it may find none again.
    return state === 'Stopped' ? undefined : { act: 'powerOff', query: { skipShutdown: 'true' } };
  }
  if (action === 'on') return state === 'Running' ? undefined : { act: 'start', query: {} };
  // One request for both halves: no process that ends in between leaves the instance off.
  return state === 'Stopped' ? { act: 'start', query: {} } : { act: 'restart', query: {} };
}
