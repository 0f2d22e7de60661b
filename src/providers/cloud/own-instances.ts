/** Tells our instances from those of others in the same account, and forms the errors about them. */
import { type InstanceEvent, isProviderError, ProviderError } from '../contract.ts';

const TAGS_MISSING = 'TagsMissing';
/** A cloud changes the state of an instance within half a minute, mostly. */
const CHANGING_SECONDS = 10;

/** Returns the error for an instance that exists without our tags: it is neither used nor deleted. */
export function tagsMissingError(id: string, hint: string): ProviderError {
  return new ProviderError('Terminal', `instance ${id} does not have its tags: ${hint}`, {
    reason: TAGS_MISSING,
  });
}

/** Returns what was found; throws NotFound for undefined. */
export function requireFound<Found>(found: Found | undefined, id: string): Found {
  if (found !== undefined) return found;
  throw new ProviderError('NotFound', `instance ${id} does not exist`);
}

/** Returns the error for an act that the cloud accepted and has not finished. `what` completes "instance <id> …". */
export function changingError(id: string, reason: string, what: string): ProviderError {
  const details = { reason, retryAfterSeconds: CHANGING_SECONDS };
  return new ProviderError('Retryable', `instance ${id} ${what}`, details);
}

/**
 * Returns the events of our instances. Rejects when an instance cannot be looked up: maintenance must not be overlooked in silence. Any error
 * but that of missing tags is one, also a Terminal one.
 */
export async function ownEvents(
  events: readonly InstanceEvent[],
  lookUp: (id: string) => Promise<unknown>,
): Promise<readonly InstanceEvent[]> {
  const ours = await Promise.all(events.map(({ instanceId }) => isOurs(instanceId, lookUp)));
  return events.filter((_, index) => ours[index]);
}

async function isOurs(id: string, lookUp: (id: string) => Promise<unknown>): Promise<boolean> {
  try {
    return (await lookUp(id)) !== undefined;
  } catch (error) {
    if (isProviderError(error, 'Terminal') && error.reason === TAGS_MISSING) return false;
    throw error;
  }
}
