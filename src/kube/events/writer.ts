/** Writes one Event: creates it once and then updates its count, even if another process created it. */
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
  const updated = entry.storedBefore !== undefined && (await update());
  if (!updated && !(await create())) await update();

  async function create(): Promise<boolean> {
    const object = buildEvent(entry.name.name, entry.occurrence, reporter, entry);
    try {
      await client.create(EVENTS, object, call);
      entry.storedBefore = 0;
      return true;
    } catch (error) {
      if (!isKubeError(error, 'AlreadyExists')) throw error;
      // Created by the previous leader, or by us when the answer was lost: then it is counted once too often.
      entry.storedBefore = await storedCount();
      return false;
    }
  }

  /** At least one. Who may write Events need not have the permission to read them: then that is all that is known. */
  async function storedCount(): Promise<number> {
    try {
      const counted = valueAt(await client.get(EVENTS, entry.name, call), 'series', 'count');
      return typeof counted === 'number' ? counted : 1;
    } catch (error) {
      if (isKubeError(error, 'Forbidden')) return 1;
      throw error;
    }
  }

  /** False when it no longer exists: the server deletes Events after an hour. */
  async function update(): Promise<boolean> {
    const series = eventSeries((entry.storedBefore ?? 0) + entry.count, entry.lastAt);
    try {
      await client.patch(EVENTS, entry.name, { type: 'merge', body: { series } }, call);
      return true;
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return false;
      throw error;
    }
  }
}
