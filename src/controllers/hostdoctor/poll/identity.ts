/** Names the MaintenanceEvent of a notice, so that a repeated notice is the same object. Pure. */
import { createHash } from 'node:crypto';

const NAME = /^[a-z0-9]+(?:-+[a-z0-9]+)*$/;
const MAX_EVENT_ID = 128;
/** With the name of the longest provider and a hash the name of the object stays far below its limit. */
const MAX_SLUG = 100;
const HEX = 8;

export interface EventIdentity {
  readonly name: string;
  readonly eventID: string;
}

/** Returns the identity by the id of the provider. Ids that cannot be part of a name get a hash, so that two of them never share one. */
export function eventIdentity(provider: string, eventId: string): EventIdentity {
  const lower = eventId.toLowerCase();
  const isName = NAME.test(lower) && lower.length <= MAX_EVENT_ID;
  const slug = isName ? lower : `${slugOf(lower)}${hashOf(eventId)}`;
  const eventID = eventId !== '' && eventId.length <= MAX_EVENT_ID ? eventId : slug;
  return { name: `${provider}-${slug}`, eventID };
}

/** Returns another identity, for an event that concerns several instances: each has an object of its own. */
export function identityOnInstance({ name, eventID }: EventIdentity, instanceId: string): EventIdentity {
  return { name: `${name}-${hashOf(instanceId)}`, eventID };
}

function slugOf(text: string): string {
  const slug = text.replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-|-$/g, '');
  return slug === '' ? '' : `${slug.slice(0, MAX_SLUG).replace(/-$/, '')}-`;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HEX);
}
