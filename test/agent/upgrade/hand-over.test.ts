import { describe, expect, it } from 'vitest';
import { PROOF_FILE, SLOTS_FILE } from '../../../src/agent/layout.ts';
import { endHandOver, handOver } from '../../../src/agent/upgrade/hand-over.ts';
import { readSlots } from '../../../src/agent/upgrade/slot-store.ts';
import { WATCHDOG_UNIT, watchdogUnit } from '../../../src/agent/upgrade/watchdog-unit.ts';
import { createProxyHost } from '../../support/agent/component-driver.ts';
import { crashAt } from '../../support/agent/crashing-host.ts';
import { agentUpgrade } from '../../support/agent/upgrades.ts';

describe('AGT-43 a hand-over to another version', () => {
  it('writes the upgrade before the watchdog exists, and starts it again at boot and after a failure', async () => {
    const { host, calls } = crashAt(createProxyHost());
    await handOver(host, agentUpgrade());
    expect(calls.map((call) => call.split(' ')[0])).toEqual([
      'files.write',
      'units.write',
      'units.setEnabled',
      'units.start',
    ]);
    expect(calls[0]).toBe(`files.write ${SLOTS_FILE}`);
    expect(await host.units.status(watchdogUnit([]))).toMatchObject({ enabled: true, active: 'Active' });
    expect(watchdogUnit([]).restart).toMatchObject({ policy: 'OnFailure' });
  });

  it('leaves neither the watchdog nor a proof, which the next attempt could take for its own', async () => {
    const host = createProxyHost();
    await handOver(host, agentUpgrade());
    await host.files.write(PROOF_FILE, new Uint8Array(), { mode: '0600', owner: 'root:root' });
    for (const _ of [1, 2]) await endHandOver(host);
    expect(await host.units.status(watchdogUnit([]))).toBeUndefined();
    expect(await host.files.stat(PROOF_FILE)).toBeUndefined();
    await expect(host.units.start(WATCHDOG_UNIT)).rejects.toMatchObject({ code: 'UnitNotFound' });
    expect((await readSlots(host.files)).upgrade).toEqual(agentUpgrade());
  });
});
