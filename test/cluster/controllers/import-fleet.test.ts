/** Many hosts that are imported at once by `kubenode controllers`, and some of them that cannot be: each is named in its own condition. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine } from '../../../src/api/generated/types.ts';
import { makeStandIn } from '../../providers/ssh/import/stand-in.ts';
import {
  freePort,
  makeUserKey,
  type SilentServer,
  sshUnavailableReason,
  startSilentServer,
} from '../../providers/ssh/sshd.ts';
import {
  conditionText,
  createImportedMachine,
  createSshSecret,
  type HostToImport,
} from '../../support/imported-fleet.ts';
import { type SimulatedHost, startSimulatedHost } from '../../support/simulated-host.ts';
import { tempFolder } from '../../support/temp.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { startIdentityControllers } from './identity-controllers.ts';

const unavailable = sshUnavailableReason();
const note = unavailable ? ` (skipped: ${unavailable})` : '';
const GOOD = 9;

describe.skipIf(unavailable !== undefined)(`hosts that are imported at once${note}`, () => {
  const folder = tempFolder('import-fleet');
  const key = makeUserKey(folder, 'user');
  const hosts: SimulatedHost[] = [];
  let silent: SilentServer;
  let installed: InstalledServer;
  let stopControllers: (() => Promise<void>) | undefined;

  beforeAll(async () => {
    installed = await startInstalledServer();
    silent = await startSilentServer();
    await createSshSecret(installed.server.client, key.privateKey);
    const programs = makeStandIn(folder).folder;
    stopControllers = await startIdentityControllers(installed, [], ['--agent-programs', programs]);
  });
  afterAll(async () => {
    await stopControllers?.();
    await Promise.all(hosts.map((host) => host.close()));
    await silent?.close();
    await installed?.stop();
  });

  async function startHost(n: number, hangs = false): Promise<HostToImport> {
    const address = `127.3.0.${n}`;
    const started = await startSimulatedHost({ address, authorized: key.publicKey, hangs });
    hosts.push(started);
    return { name: `h-${n}`, address, port: started.port, hostKeys: started.hostKeys };
  }

  async function textOf(name: string, type: string): Promise<string | undefined> {
    const machine = await installed.server.client.get<Machine>(MACHINES, { name });
    return conditionText(machine, type);
  }

  it('MAC-10 MAC-16 imports nine while one hangs, and names each host that cannot be imported in its own condition', async () => {
    const { client } = installed.server;
    const good: HostToImport[] = [];
    for (let n = 1; n <= GOOD; n += 1) good.push(await startHost(n));
    const first = good[0];
    if (!first) throw new Error('no host was started');
    const hanging = { ...first, name: 'hanging', address: '127.0.0.1', port: silent.port };
    const answersNothing = { ...(await startHost(20, true)), name: 'answers-nothing' };
    const down = { ...first, name: 'down', address: '127.0.0.1', port: await freePort() };
    const otherKey = { ...(await startHost(21)), name: 'other-key', hostKeys: first.hostKeys };
    const all = [hanging, answersNothing, down, otherKey, ...good];
    await Promise.all(all.map((host) => createImportedMachine(client, host)));

    const ready = async (): Promise<readonly (string | undefined)[]> =>
      await Promise.all(good.map(({ name }) => textOf(name, 'AgentReady')));
    await expect.poll(ready).toEqual(good.map(() => 'True AsWanted'));
    const needed = async (): Promise<readonly (string | undefined)[]> =>
      await Promise.all(good.map(({ name }) => textOf(name, 'SSHCredentialsNeeded')));
    await expect.poll(needed).toEqual(good.map(() => 'False AgentReports'));

    const patient = { interval: 500 };
    await expect.poll(() => textOf('down', 'HostTrusted'), patient).toBe('False Unreachable');
    await expect.poll(() => textOf('other-key', 'HostTrusted'), patient).toBe('False HostKeyMismatch');
    await expect.poll(() => textOf('hanging', 'HostTrusted'), patient).toBe('False Timeout');
    await expect.poll(() => textOf('answers-nothing', 'PreflightPassed'), patient).toBe('False Timeout');
    // Each step once: a host that was imported is not connected to again.
    const calls = hosts.slice(0, GOOD).map((host) => host.calls.join(', '));
    expect(new Set(calls)).toEqual(
      new Set([
        'preflight, search for the program of the agent, copy of the program of the agent, installation of the agent, certificate request of the agent, delivery of the certificate',
      ]),
    );
    expect(hosts.at(-1)?.calls).toEqual([]);
  });
});
