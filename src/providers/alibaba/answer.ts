/**
 * Answers a system event of an instance. ECS has no request that is safe to repeat: the caller sends an answer once, and another boot shows
 * what came of it.
 */
import { requireFound } from '../cloud/own-instances.ts';
import type { EventAnswer } from '../contract.ts';
import { parseAlibabaId } from './instance.ts';
import type { EcsParts } from './power.ts';

/** Documented for RedeployInstance: it returns at once, stops the instance, and starts it elsewhere; where that fails, on its old host. */
export async function answerEvent(
  { eventId, instanceId, answer }: EventAnswer,
  { api, lookup, region }: Pick<EcsParts, 'api' | 'lookup' | 'region'>,
  signal: AbortSignal,
): Promise<void> {
  const InstanceId = parseAlibabaId(instanceId, region);
  signal.throwIfAborted();
  // Throws for an instance that is not ours.
  requireFound(await lookup.byId(instanceId, signal), instanceId);
  if (answer === 'StartNow') await api.call('RedeployInstance', { InstanceId }, signal, 'Ambiguous');
  else {
    const query = { RegionId: region, EventId: eventId };
    await api.call('AcceptInquiredSystemEvent', query, signal, 'Ambiguous');
  }
}
