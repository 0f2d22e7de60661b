/** Switches the power of an instance, and waits until it has the state: ECS accepts a request long before it is carried out. */
import type { Clock } from '../../os/clock.ts';
import { pollUntil } from '../../os/poll.ts';
import { changingError, requireFound } from '../cloud/own-instances.ts';
import { isProviderError, type PowerAction } from '../contract.ts';
import type { AlibabaApi, ApiQuery } from './api/client.ts';
import { isApiCode } from './errors.ts';
import type { AlibabaLookup } from './lookup.ts';

export interface EcsParts {
  readonly api: AlibabaApi;
  readonly lookup: AlibabaLookup;
  readonly region: string;
  readonly clock: Clock;
}

/** A stop or a start takes some ten seconds. One that takes longer is confirmed by the state, and others are not kept waiting. */
const POWER_MS = 60_000;
const POLL_MS = 2000;

/**
 * An accepted request is never repeated: a person, or a repair, may have switched the instance back meanwhile. Resolves when the instance has
 * the state, or when a request was accepted and the state does not follow within a minute.
 */
export async function switchPower(
  instance: { readonly id: string; readonly ecsId: string },
  action: PowerAction,
  parts: EcsParts,
  signal: AbortSignal,
): Promise<void> {
  const { lookup, clock } = parts;
  const desired = action === 'off' ? 'Stopped' : 'Running';
  let isAccepted = false;

  async function advance(): Promise<boolean> {
    const { status } = requireFound(await lookup.byId(instance.id, signal), instance.id);
    if (status === desired && (isAccepted || action !== 'cycle')) return true;
    const request = isAccepted ? undefined : requestFor(status, action, instance.ecsId);
    if (request) isAccepted = await accepted(parts.api, request, signal);
    return false;
  }

  const deadlineMs = clock.monotonicMs() + POWER_MS;
  const isReached = await pollUntil(advance, { clock, everyMs: POLL_MS, deadlineMs, signal });
  if (isReached || isAccepted) return;
  throw changingError(instance.id, 'InstanceChanging', 'changes its state');
}

interface PowerRequest {
  readonly call: string;
  readonly query: ApiQuery;
}

/** Undefined: the instance is on its way to another state. */
function requestFor(status: string, action: PowerAction, InstanceId: string): PowerRequest | undefined {
  if (status === 'Stopped') return { call: 'StartInstance', query: { InstanceId } };
  if (status !== 'Running') return undefined;
  // One request for both halves: no process that ends in between leaves the instance off.
  if (action === 'cycle') return { call: 'RebootInstance', query: { InstanceId, ForceStop: 'true' } };
  // A kernel that hangs does not stop by itself. The instance keeps its place: it has to start again when there is no stock.
  const query = { InstanceId, ForceStop: 'true', ConfirmStop: 'true', StoppedMode: 'KeepCharging' };
  return { call: 'StopInstance', query };
}

/** False: the state had changed already, and what was listed was older. */
async function accepted(
  api: AlibabaApi,
  { call, query }: PowerRequest,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await api.call(call, query, signal);
    return true;
  } catch (error) {
    if (isProviderError(error) && isApiCode(error, 'IncorrectInstanceStatus')) return false;
    throw error;
  }
}
