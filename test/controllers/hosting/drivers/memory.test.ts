import { describe, expect, it } from 'vitest';
import { NOW } from '../../../support/builders.ts';
import { MEMORY } from '../../../support/hosting/contract/faults.ts';
import { describePlaneDriver } from '../../../support/hosting/driver-contract.ts';
import { memoryHosting } from '../../../support/hosting/memory/driver.ts';
import { memoryFaults } from '../../../support/hosting/memory/faults.ts';
import { planeSpec } from '../../../support/hosting/objects.ts';

describePlaneDriver(
  'in memory',
  async () => {
    let days = 0;
    const now = (): Date => new Date(+NOW + days * 86_400_000);
    const hosting = memoryHosting(now);
    return {
      driver: hosting.driver,
      reopen: async (surroundings = {}) => hosting.reopen(surroundings),
      faults: memoryFaults(hosting),
      now,
      travel: (to) => {
        days = to;
      },
      close: async () => undefined,
    };
  },
  MEMORY,
);

describe('the driver in memory', () => {
  it('logs each act that changed something, and none that did not', async () => {
    const { driver, log, authorities } = memoryHosting(() => NOW);
    const plane = planeSpec();
    for (let twice = 0; twice < 2; twice += 1) await driver.prepare(plane);
    for (let twice = 0; twice < 2; twice += 1) await driver.start(plane, 'etcd');
    for (let twice = 0; twice < 2; twice += 1) await driver.stop(plane, 'etcd');
    for (let twice = 0; twice < 2; twice += 1) await driver.remove(plane);
    expect(log).toEqual(['prepare ci', 'start ci etcd', 'stop ci etcd', 'remove ci']);
    expect(authorities()).toBe(1);
  });
});
