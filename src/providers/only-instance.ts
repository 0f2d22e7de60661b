/** Chooses the instance of a Machine among those that were found for its UID. Pure. */
import { type Instance, ProviderError } from './contract.ts';

const MAX_NAMED = 5;

/** Returns undefined for none. Throws for several: a person copied one, with its tags, and which of them has the host is not known. */
export function onlyInstance(found: readonly Instance[]): Instance | undefined {
  const [only, ...others] = found;
  if (others.length === 0) return only;
  const ids = found.map(({ id }) => id).slice(0, MAX_NAMED);
  throw new ProviderError(
    'Terminal',
    `${found.length} instances have the UID of this Machine: ${ids.join(', ')}. Terminate all but one of them`,
    { reason: 'DuplicateInstances' },
  );
}
