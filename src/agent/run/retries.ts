/**
 * Records that what failed on this host is tried again after a new retry token: of the Machine, or of the set that assigned the component.
 */
import type { Machine } from '../../api/generated/types.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Journal } from '../journal/journal.ts';

export async function appendRetries(
  journal: Pick<Journal, 'append' | 'state'>,
  spec: Pick<Machine['spec'], 'retryToken' | 'components'>,
  now: Date,
): Promise<void> {
  const { retryToken, retryTokens } = journal.state();
  const ofSets = spec.components.map(({ name, assignment }) => ({
    component: name,
    token: assignment?.retryToken ?? '',
    before: retryTokens.get(name) ?? '',
  }));
  const all = [{ component: undefined, token: spec.retryToken ?? '', before: retryToken }, ...ofSets];
  for (const { component, token, before } of all) {
    if (token === before) continue;
    // oxlint-disable-next-line no-await-in-loop -- a journal has an order
    await journal.append({
      type: 'Retry',
      ...optional('component', component),
      token,
      at: now.toISOString(),
    });
  }
}
