/** Boot from another device once: against our own BMC, and against the emulator of sushy-tools. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { setBootOnce } from '../../../src/providers/redfish/boot-once.ts';
import type { RedfishTarget } from '../../../src/providers/redfish/system.ts';
import {
  BMC_PASSWORD,
  BMC_UUID,
  type BmcBehavior,
  startBmc,
  type TestBmc,
} from '../../support/redfish/bmc-server.ts';
import {
  EMULATOR_PASSWORD,
  EMULATOR_USER,
  noEmulatorReason,
  startEmulator,
} from '../../support/redfish/emulator.ts';
import { tempFolder } from '../../support/temp.ts';

const NEVER = new AbortController().signal;
const BEFORE = { BootSourceOverrideEnabled: 'Disabled', BootSourceOverrideTarget: 'None' };
const ONCE = { BootSourceOverrideEnabled: 'Once', BootSourceOverrideTarget: 'Pxe' };

async function bmc(
  behavior: BmcBehavior,
): Promise<{ readonly server: TestBmc; readonly target: RedfishTarget }> {
  const server = await startBmc({ boot: BEFORE, ...behavior });
  onTestFinished(async () => await server[Symbol.asyncDispose]());
  const credentials = { username: 'admin', password: BMC_PASSWORD };
  return { server, target: { endpoint: server.endpoint, credentials, systemUuid: BMC_UUID } };
}

describe('setBootOnce', () => {
  it('is read back, switches nothing, and closes its session', async () => {
    const { server, target } = await bmc({});
    await setBootOnce(target, 'Pxe', NEVER);
    expect([server.behavior.boot, server.resets, server.openSessions()]).toEqual([ONCE, [], 0]);
  });

  it('takes the device back', async () => {
    const { server, target } = await bmc({ boot: ONCE });
    await setBootOnce(target, undefined, NEVER);
    expect(server.behavior.boot).toEqual(BEFORE);
  });

  it('puts back what was before at a BMC that would boot from the device every time', async () => {
    const { server, target } = await bmc({ bootsContinuously: true });
    await expect(setBootOnce(target, 'Pxe', NEVER)).rejects.toMatchObject({
      code: 'Terminal',
      reason: 'BootOnceNotSupported',
      message: expect.stringContaining('it reads back Continuous and Pxe') as string,
    });
    expect(server.behavior.boot).toEqual(BEFORE);
  });

  it('tells that the device may be set where the answer to its request is lost', async () => {
    const { target } = await bmc({ silent: 'PATCH' });
    const short = { ...target, endpoint: { ...target.endpoint, timeoutMs: 2000 } };
    await expect(setBootOnce(short, 'Pxe', NEVER)).rejects.toMatchObject({
      code: 'Ambiguous',
      reason: 'BMCTimeout',
    });
  });

  it('tells that the device may be set where it cannot be read back', async () => {
    const { server, target } = await bmc({});
    const isSet = (): boolean => server.requests.some((each) => each.startsWith('PATCH'));
    Object.defineProperty(server.behavior, 'uuid', { get: () => (isSet() ? 'another' : BMC_UUID) });
    await expect(setBootOnce(target, 'Pxe', NEVER)).rejects.toMatchObject({
      code: 'Ambiguous',
      reason: 'BMCOfAnotherHost',
    });
    expect(server.behavior.boot).toEqual(ONCE);
  });

  it.each<[name: string, behavior: BmcBehavior, reason: string]>([
    [
      'a device that the BMC does not permit',
      { boot: { ...BEFORE, 'BootSourceOverrideTarget@Redfish.AllowableValues': ['Hdd'] } },
      'BootOnceNotSupported',
    ],
    ['the system of another host', { uuid: 'ffffffff-9e44-4fa7-8e91-f3527a1ef094' }, 'BMCOfAnotherHost'],
  ])('changes nothing for %s', async (_, behavior, reason) => {
    const { server, target } = await bmc(behavior);
    await expect(setBootOnce(target, 'Pxe', NEVER)).rejects.toMatchObject({ code: 'Terminal', reason });
    expect(server.requests.filter((each) => each.startsWith('PATCH'))).toEqual([]);
  });
});

it.skipIf(noEmulatorReason !== undefined)(
  'is refused at the emulator of sushy-tools, which boots from a device every time, and put back',
  async () => {
    const systems = [{ uuid: BMC_UUID, name: 'n0', power: 'On' as const }];
    await using emulator = await startEmulator(tempFolder('redfish'), systems);
    const { port, fingerprint } = emulator;
    const target: RedfishTarget = {
      endpoint: { host: '127.0.0.1', port, fingerprint, timeoutMs: 20_000 },
      credentials: { username: EMULATOR_USER, password: EMULATOR_PASSWORD },
      systemUuid: BMC_UUID,
    };
    await expect(setBootOnce(target, 'Pxe', NEVER)).rejects.toMatchObject({ reason: 'BootOnceNotSupported' });
  },
);
