/** Power by Redfish: against our own BMC with sessions and faults, and against the emulator of sushy-tools. */
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { BmcEndpoint } from '../../../src/providers/redfish/connection.ts';
import { type RedfishTarget, readPower, requestPower } from '../../../src/providers/redfish/system.ts';
import { eventually } from '../../support/eventually.ts';
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
  type Emulator,
  noEmulatorReason,
  startEmulator,
} from '../../support/redfish/emulator.ts';
import { tempFolder } from '../../support/temp.ts';

const NEVER = new AbortController().signal;
const OTHER = 'ffffffff-9e44-4fa7-8e91-f3527a1ef094';

async function bmc(behavior: BmcBehavior = {}): Promise<TestBmc> {
  const started = await startBmc(behavior);
  onTestFinished(async () => await started[Symbol.asyncDispose]());
  return started;
}

function target({ endpoint }: TestBmc, changes: Partial<RedfishTarget> = {}): RedfishTarget {
  return {
    endpoint,
    credentials: { username: 'admin', password: BMC_PASSWORD },
    systemUuid: BMC_UUID,
    ...changes,
  };
}

async function failureOf(call: Promise<unknown>): Promise<Error> {
  return await call.then(
    () => new Error('it succeeded'),
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  );
}

describe('the power of a system of a BMC', () => {
  it('is read in a session that is closed', async () => {
    const server = await bmc();
    expect(await readPower(target(server), NEVER)).toBe('On');
    expect(server.openSessions()).toBe(0);
    expect(server.requests.at(-1)).toMatch(/^DELETE .*Sessions\/\d+$/);
  });

  it('is requested once, and not when the system has it', async () => {
    const server = await bmc();
    await requestPower(target(server), 'Off', NEVER);
    await requestPower(target(server, { system: '1' }), 'On', NEVER);
    expect(server.resets).toEqual([{ ResetType: 'ForceOff' }]);
    expect(server.openSessions()).toBe(0);
  });

  it('is requested by the types of the action info, where the action does not list them', async () => {
    const reset = {
      target: '/redfish/v1/Systems/1/Actions/ComputerSystem.Reset',
      '@Redfish.ActionInfo': '/redfish/v1/ResetActionInfo',
    };
    const server = await bmc({ power: 'Off', reset });
    await requestPower(target(server), 'On', NEVER);
    expect(server.resets).toEqual([{ ResetType: 'ForceOn' }]);
  });

  it.each([['Paused'], [null], [17], ['off'], ['constructor']])(
    'is unknown when the BMC calls it %j',
    async (power) => {
      expect(await readPower(target(await bmc({ power })), NEVER)).toBe('Unknown');
    },
  );

  it('of another host is neither read nor switched, and the session is closed', async () => {
    const server = await bmc({ uuid: OTHER });
    for (const call of [readPower(target(server), NEVER), requestPower(target(server), 'Off', NEVER)]) {
      expect(await failureOf(call)).toMatchObject({ code: 'Terminal', reason: 'BMCOfAnotherHost' });
    }
    expect(server.resets).toEqual([]);
    expect(server.openSessions()).toBe(0);
  });

  it('is not switched where the BMC has two systems and none is named', async () => {
    const server = await bmc({ systems: ['/redfish/v1/Systems/1', '/redfish/v1/Systems/2'] });
    const error = await failureOf(requestPower(target(server), 'Off', NEVER));
    expect(error).toMatchObject({ code: 'Terminal', reason: 'SystemNotNamed' });
    expect(error.message).toContain('2 (1, 2): set bmc.system');
  });
});

describe('a BMC that fails', () => {
  it('with another certificate receives no byte of HTTP', async () => {
    const server = await bmc();
    const fingerprint = `SHA256:${'A'.repeat(43)}`;
    const wrong: BmcEndpoint = { ...server.endpoint, fingerprint };
    const error = await failureOf(requestPower(target(server, { endpoint: wrong }), 'Off', NEVER));
    expect(error).toMatchObject({ code: 'Terminal', reason: 'CertificateMismatch' });
    expect(server.received()).toBe('');
  });

  it.each([['Systems/1'], ['SessionService'], ['v1/']])(
    'and never answers %s ends by the time limit',
    async (silent) => {
      const server = await bmc({ silent });
      const endpoint = { ...server.endpoint, timeoutMs: 300 };
      const error = await failureOf(readPower(target(server, { endpoint }), NEVER));
      expect(error).toMatchObject({ code: 'Retryable', reason: 'BMCTimeout' });
    },
  );

  it('and never answers ends by the signal of the caller, and the session is closed', async () => {
    const server = await bmc({ silent: 'GET /redfish/v1/Systems/1' });
    const stop = new AbortController();
    const call = failureOf(readPower(target(server), stop.signal));
    // The client has its session once it asks for the system.
    const isAsked = (): boolean => server.received().includes('GET /redfish/v1/Systems/1 ');
    await eventually(async () => (isAsked() ? true : undefined), 'no request');
    expect(server.openSessions()).toBe(1);
    stop.abort(new Error('the controller ends'));
    expect((await call).message).toBe('the controller ends');
    expect(server.openSessions()).toBe(0);
  });

  it('has no session left: retryable, with its reason', async () => {
    const server = await bmc({ maxSessions: 0 });
    const error = await failureOf(readPower(target(server), NEVER));
    expect(error).toMatchObject({ code: 'Retryable', reason: 'SessionLimitReached' });
  });

  it('refuses the password, which is in no error', async () => {
    const credentials = { username: 'admin', password: 'wrong-secret' };
    const error = await failureOf(readPower(target(await bmc(), { credentials }), NEVER));
    expect(error).toMatchObject({ code: 'Auth' });
    expect(inspect(error, { depth: 9 })).not.toContain('wrong-secret');
  });

  it.each([
    [409, 'Retryable', 'BMCBusy'],
    [400, 'Terminal', 'RefusedByBMC'],
  ])('answers %i to a reset, and the session is closed', async (resetStatus, code, reason) => {
    const server = await bmc({ resetStatus });
    const error = await failureOf(requestPower(target(server), 'Off', NEVER));
    expect(error).toMatchObject({ code, reason });
    expect(server.openSessions()).toBe(0);
  });

  it('names a session on another host: the token goes nowhere else', async () => {
    const server = await bmc({ location: 'https://evil.example/redfish/v1/SessionService/Sessions/9' });
    expect(await readPower(target(server), NEVER)).toBe('On');
    expect(server.requests.at(-1)).toBe('DELETE /redfish/v1/SessionService/Sessions/9');
  });

  it('is unreachable: retryable', async () => {
    const server = await bmc();
    const closed = target(server);
    await server[Symbol.asyncDispose]();
    expect(await failureOf(readPower(closed, NEVER))).toMatchObject({ reason: 'BMCUnreachable' });
  });
});

async function emulator(...systems: readonly string[]): Promise<Emulator> {
  const list = systems.map((uuid, index) => ({ uuid, name: `n${index}`, power: 'On' as const }));
  const started = await startEmulator(tempFolder('redfish'), list);
  onTestFinished(async () => await started[Symbol.asyncDispose]());
  return started;
}

function emulated({ port, fingerprint }: Emulator, changes: Partial<RedfishTarget> = {}): RedfishTarget {
  return {
    endpoint: { host: '127.0.0.1', port, fingerprint, timeoutMs: 20_000 },
    credentials: { username: EMULATOR_USER, password: EMULATOR_PASSWORD },
    systemUuid: BMC_UUID,
    ...changes,
  };
}

describe.skipIf(noEmulatorReason !== undefined)(
  `the emulator of sushy-tools ${noEmulatorReason ?? ''}`,
  () => {
    it('switches a system off and on: the state changes later than the answer', async () => {
      const system = emulated(await emulator(BMC_UUID));
      const becomes = async (wanted: 'On' | 'Off'): Promise<void> => {
        await eventually(
          async () => ((await readPower(system, NEVER)) === wanted ? true : undefined),
          `the system is not ${wanted}`,
          60_000,
        );
      };
      await requestPower(system, 'Off', NEVER);
      await becomes('Off');
      await requestPower(system, 'Off', NEVER);
      await requestPower(system, 'On', NEVER);
      await becomes('On');
      expect(await readPower(system, NEVER)).toBe('On');
    });

    it('refuses a wrong password, and knows no other system', async () => {
      const started = await emulator(BMC_UUID, OTHER);
      const credentials = { username: EMULATOR_USER, password: 'wrong' };
      const wrong = emulated(started, { credentials, system: BMC_UUID });
      expect(await failureOf(readPower(wrong, NEVER))).toMatchObject({ code: 'Auth' });
      const missing = emulated(started, { system: 'x' });
      expect(await failureOf(readPower(missing, NEVER))).toMatchObject({ reason: 'SystemNotFound' });
      const other = emulated(started, { system: OTHER });
      expect(await failureOf(readPower(other, NEVER))).toMatchObject({ reason: 'BMCOfAnotherHost' });
      expect(await readPower(emulated(started, { system: BMC_UUID }), NEVER)).toBe('On');
    });
  },
);
