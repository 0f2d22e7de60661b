import { NOW } from '../../../support/builders.ts';
import { describePlaneDriver } from '../../../support/hosting/driver-contract.ts';
import { memoryHosting } from '../../../support/hosting/memory-driver.ts';

describePlaneDriver('in memory', async () => {
  const { driver } = memoryHosting(() => NOW);
  return { driver, reopen: () => driver, close: async () => undefined };
});
