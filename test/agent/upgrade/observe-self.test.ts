import { expect, it } from 'vitest';
import type { UnitStatus } from '../../../src/agent/host/port.ts';
import { observeSelf } from '../../../src/agent/upgrade/observe-self.ts';
import { createProxyHost } from '../../support/agent/component-driver.ts';
import { agentUpgrade } from '../../support/agent/upgrades.ts';

const { launch, replaces: identity } = agentUpgrade();
const SELF = { program: '/old', launch, identity, healthySeconds: 60, uptimeMs: () => 0 };
const STATUS = { defined: true, enabled: true, masked: false, restarts: 0 };

it.each<[UnitStatus['active'], boolean]>([
  ['Active', true],
  ['Activating', true],
  ['Deactivating', false],
  ['Failed', false],
  ['Inactive', false],
])('AGT-43 an agent whose watchdog is %s is watched: %s', async (active, expected) => {
  const host = createProxyHost();
  host.units.status = async () => ({ ...STATUS, active });
  expect((await observeSelf(host, SELF)).isWatched).toBe(expected);
});

it('AGT-43 an agent without a watchdog is not watched', async () => {
  expect((await observeSelf(createProxyHost(), SELF)).isWatched).toBe(false);
});
