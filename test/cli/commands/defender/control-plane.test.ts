import { describe, expect, it } from 'vitest';
import { CLUSTERS } from '../../../../src/api/generated/resources.ts';
import { readControlPlane } from '../../../../src/cli/commands/defender/control-plane.ts';
import { servedKind } from '../../../../src/sim/api-server/kinds.ts';
import { createMemoryApi } from '../../../support/controller/memory-api.ts';
import { applied } from '../../../support/hosting/bed.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

async function factsOf(key: string): Promise<unknown> {
  const api = createMemoryApi({ clock: virtualClock(), kinds: [servedKind(CLUSTERS)] });
  api.objects.apply(servedKind(CLUSTERS), applied(), { manager: 'person' });
  const facts = await readControlPlane(api.connection().client(), key, new AbortController().signal);
  return facts && [facts.name, facts.labels];
}

describe('the control plane that a person names to the Defender', () => {
  it('has the labels by which policies select its Cluster', async () => {
    expect(await factsOf('cluster:ci')).toEqual(['cluster:ci', { 'kubenode.dev/environment': 'test' }]);
  });

  it.each(['ci', 'cluster:', 'cluster:other', 'm-1'])('is not found by the key %s', async (key) => {
    expect(await factsOf(key)).toBeUndefined();
  });
});
