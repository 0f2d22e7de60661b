/** A real host of which nothing answers: the rule that ships has its BMC switch it off and on, and it returns to service. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isCordoned } from '../../../src/api/machine/node-state.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { readLedger } from '../../cluster/defender/objects.ts';
import { whyNoNodes } from '../../support/node-kit.ts';
import { noEmulatorReason } from '../../support/redfish/emulator.ts';
import { type PoweredHost, quickDeadHost, startPoweredHost } from './powered-host.ts';

const reason = whyNoNodes() ?? noEmulatorReason;
if (reason) process.stderr.write(`skipped: ${reason}\n`);

const NAME = 'dead-1';
/** The number that is promised for waits that are as short as those of this test. */
const BACK_SECONDS = 180;

describe.skipIf(reason)(`a real host that is dead${reason ? ` (${reason})` : ''}`, () => {
  let host: PoweredHost;

  beforeAll(async () => {
    host = await startPoweredHost(NAME);
  });
  afterAll(() => host?.[Symbol.asyncDispose]());

  it('R37 R31 is power-cycled once by its BMC under a grant, and is back in service within three minutes', async () => {
    const { repaired, bmc } = host;
    const { node, client } = repaired;
    await repaired.applyRule('dead-host', quickDeadHost());
    const before = await node.bootId();
    const stoppedMs = performance.now();
    await node.run('systemctl', 'stop', 'kubenode-agent', 'kubelet');

    await repaired.until('the job has not ended', async () => (await repaired.ended()).length > 0);
    const outcome = { class: 'Succeeded', message: expect.any(String) as string };
    expect(await repaired.jobs()).toMatchObject([
      { spec: { rung: { name: 'power-cycle' } }, status: { outcome } },
    ]);
    await expect.poll(() => repaired.openGrants()).toEqual([]);
    const seconds = Math.round((performance.now() - stoppedMs) / 1000);
    process.stderr.write(`a dead host was back in service after ${seconds} s\n`);

    expect(bmc.changes()).toEqual(['Off', 'On']);
    expect(await node.bootId()).not.toBe(before);
    expect(await repaired.nodeCondition('Ready')).toBe('True');
    expect(isCordoned(await client.get(NODES, { name: NAME }))).toBe(false);
    expect((await node.run('systemctl', 'is-active', 'kubenode-agent', 'kubelet')).stdout).toBe(
      'active\nactive\n',
    );
    const grant = (await readLedger(client)).spec.grants[NAME];
    expect(grant).toMatchObject({ action: 'PowerCycle', state: 'Settled', outcome: 'Succeeded' });
    expect(seconds).toBeLessThanOrEqual(BACK_SECONDS);
  });
});
