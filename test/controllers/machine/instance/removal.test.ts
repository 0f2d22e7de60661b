import { describe, expect, it } from 'vitest';
import { removeInstance } from '../../../../src/controllers/machine/instance/removal.ts';
import { PROVIDER_REGISTRY } from '../../../../src/providers/registry.ts';
import { machine } from '../../../support/builders.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const CREATED = { infra: { providerID: 'x:///1', state: 'Running' as const, addresses: [] } };

describe('removeInstance', () => {
  it.each([
    ['local', PROVIDER_REGISTRY.local.startHint],
    ['azure', 'this version does not support provider azure'],
  ] as const)('keeps the Machine while no process opens the provider %s', async (provider, hint) => {
    const context = { clock: virtualClock() } as never;
    const spec = { infra: { provider, config: {} } };
    const remove = (status: object): ReturnType<typeof removeInstance> =>
      removeInstance(
        machine('m', { spec, status }),
        { providers: {}, clusterUid: 'c' },
        { context, how: 'Delete' },
      );
    expect(await remove(CREATED)).toMatchObject({
      reason: 'ProviderMissing',
      message: `instance x:///1 is left: ${hint}`,
    });
    expect(await remove({})).toBeUndefined();
  });
});
