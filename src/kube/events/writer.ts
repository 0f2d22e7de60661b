/** Writes one Event: created once, counted up from then on, also by others than who created it. */
import type { CallOptions, Client } from '../client/client.ts';
import { isKubeError } from '../client/errors.ts';
import { valueAt } from '../objects/json.ts';
import type { AggregatedEvent } from './aggregate.ts';
import { buildEvent, EVENTS, type EventReporter, eventSeries } from './object.ts';

export type EventClient = Pick<Client, 'get' | 'create' | 'patch'>;

export async function writeEvent(
  client: EventClient,
  entry: AggregatedEvent,
  reporter: EventReporter,
  call: CallOptions,
): Promise<void> {
  const known = entry.before !== undefined && (await patched());
  if (!known && !(await created())) await patched();

  async function created(): Promise<boolean> {
    const object = buildEvent(entry.name.name, entry.occurrence, reporter, entry);
    try {
      await client.create(EVENTS, object, call);
      entry.before = 0;
      return true;
    } catch (error) {
      if (!isKubeError(error, 'AlreadyExists')) throw error;
      // Said by the leader before us; or by us, and the answer was lost: then it is counted once too often.
      const present = await client.get(EVENTS, entry.name, call);
      const counted = valueAt(present, 'series', 'count');
      entry.before = typeof counted === 'number' ? counted : 1;
      return false;
    }
  }

  /** False when it is not there any more: Events live for an hour. */
  async function patched(): Promise<boolean> {
    const series = eventSeries((entry.before ?? 0) + entry.count, entry.lastAt);
    try {
      await client.patch(EVENTS, entry.name, { type: 'merge', body: { series } }, call);
      return true;
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return false;
      throw error;
    }
  }
}
