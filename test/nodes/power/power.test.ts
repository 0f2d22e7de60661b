/** The power of a real node, switched through the Redfish emulator as a repair does: off ends it, on boots it with another boot id. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { PowerState } from '../../../src/providers/power.ts';
import { type RedfishTarget, readPower, requestPower } from '../../../src/providers/redfish/system.ts';
import { eventually } from '../../support/eventually.ts';
import { type NodeKit, nodeKit, whyNoNodes } from '../../support/node-kit.ts';
import { EMULATOR_PASSWORD, EMULATOR_USER, noEmulatorReason } from '../../support/redfish/emulator.ts';
import { startNodeBmc } from '../../support/redfish/powered-node.ts';
import { tempFolder } from '../../support/temp.ts';

const reason = whyNoNodes() ?? noEmulatorReason;
if (reason) process.stderr.write(`skipped: ${reason}\n`);

const UUID = '27946b59-9e44-4fa7-8e91-f3527a1ef094';
const NEVER = new AbortController().signal;

describe.skipIf(reason)(`the power of a real node${reason ? ` (${reason})` : ''}`, () => {
  let kit: NodeKit;

  beforeAll(async () => {
    kit = await nodeKit();
  });
  afterAll(() => kit?.close());

  it('is switched off and on by its BMC, and the node boots again', async () => {
    const node = await kit.boot({ name: 'powered' });
    const before = await node.bootId();
    const bmc = await startNodeBmc(node, UUID, tempFolder('bmc'));
    onTestFinished(async () => await bmc[Symbol.asyncDispose]());
    const target: RedfishTarget = {
      endpoint: { host: '127.0.0.1', port: bmc.port, fingerprint: bmc.fingerprint, timeoutMs: 60_000 },
      credentials: { username: EMULATOR_USER, password: EMULATOR_PASSWORD },
      systemUuid: UUID,
    };
    const becomes = async (wanted: PowerState): Promise<void> => {
      const isSo = async (): Promise<true | undefined> =>
        (await readPower(target, NEVER)) === wanted ? true : undefined;
      await eventually(isSo, `the BMC does not report ${wanted}`, 60_000);
    };

    await requestPower(target, 'Off', NEVER);
    await becomes('Off');
    await expect(node.run('true')).rejects.toThrow('powered is not running');

    await requestPower(target, 'On', NEVER);
    await becomes('On');
    await bmc.settled();
    expect(await node.bootId()).not.toBe(before);
  });
});
