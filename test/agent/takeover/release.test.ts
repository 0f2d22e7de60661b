import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HostError } from '../../../src/agent/host/errors.ts';
import type { MemoryHost } from '../../../src/agent/host/memory/host.ts';
import type { Host } from '../../../src/agent/host/port.ts';
import {
  DESIRED_FILE,
  dataDirectory,
  IMPORT_FILE,
  RELEASE_FILE,
  STATE_ROOT,
} from '../../../src/agent/layout.ts';
import { installAgent } from '../../../src/agent/takeover/install.ts';
import { releaseHost } from '../../../src/agent/takeover/release.ts';
import { createProxyHost, drive, present } from '../../support/agent/component-driver.ts';
import { AgentKilled, crashAt } from '../../support/agent/crashing-host.ts';
import { agentFile, target } from '../../support/agent/targets.ts';
import { tempFolder } from '../../support/temp.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const clock = virtualClock();
const ATTRIBUTES = { mode: '0600', owner: 'joe:joe' };
const FILE = join(tempFolder('program'), 'kubenode-agent');
writeFileSync(FILE, 'the program');

/** A host with a file of a person, before the import. */
async function bareHost(): Promise<MemoryHost> {
  const host = createProxyHost();
  await host.files.write('/etc/proxy/extra', bytes('theirs'), ATTRIBUTES);
  await host.files.write(FILE, bytes('the program'), { mode: '0755', owner: 'root:root' });
  await host.files.write('/var/lib/theirs/a', bytes('kept'), ATTRIBUTES);
  for (const path of ['/etc/systemd/system', '/usr/local/bin', '/var/lib', '/run']) {
    await host.files.makeDirectory(path);
  }
  return host;
}

async function install(host: Host, machineUid = 'u1'): Promise<void> {
  await installAgent(host, {
    owner: { machine: 'n1', machineUid },
    program: { version: '1.0', file: FILE },
    bootstrap: '/etc/b.json',
    port: 0,
    clock,
  });
}

/** Installs the agent, and one component over the file of the person. */
async function takenOver(): Promise<{ host: MemoryHost; before: ReadonlyMap<string, string> }> {
  const host = await bareHost();
  const before = host.files.tree();
  await install(host);
  const files = [agentFile('/etc/proxy/extra', 'ours'), agentFile('/etc/new/deep/a', 'new')];
  const stateDirectories = ['/var/lib/proxy', '/var/lib/theirs', '/run/proxy'];
  await drive(host, present(target('1.0', { files, stateDirectories })));
  await host.files.write('/var/lib/proxy/pods/a', bytes('state'), ATTRIBUTES);
  await host.files.write('/run/proxy/socket', bytes(''), ATTRIBUTES);
  return { host, before };
}

describe('releaseHost', () => {
  it('MAC-20 leaves the host as it was before the import', async () => {
    const { host, before } = await takenOver();
    expect(host.files.tree()).not.toEqual(before);
    expect(await releaseHost(host, { cleanup: 'Restore', machineUid: 'u1', clock })).toEqual({
      left: [],
      complete: true,
    });
    expect(host.files.tree()).toEqual(before);
    expect(host.units.stops.get('proxy')).toBe(1);
  });

  it('MAC-20 leaves the host as it was before when it is killed at any call, and repeated', async () => {
    const { host: whole } = await takenOver();
    const { host, calls } = crashAt(whole);
    await releaseHost(host, { cleanup: 'Restore', clock });
    expect(calls.length).toBeGreaterThan(20);
    for (const call of calls.keys()) {
      for (const when of ['before', 'after'] as const) {
        const { host: killed, before } = await takenOver();
        const point = { call: call + 1, when };
        const releasing = releaseHost(crashAt(killed, point).host, { cleanup: 'Restore', clock });
        await expect(releasing).rejects.toThrow(AgentKilled);
        await releaseHost(killed, { cleanup: 'Restore', clock });
        expect([point, killed.files.tree()]).toEqual([point, before]);
      }
    }
  });

  it('MAC-20 leaves the host as it was before when the import is killed at any call', async () => {
    const { host, calls } = crashAt(await bareHost());
    await install(host);
    for (const call of calls.keys()) {
      const killed = await bareHost();
      const before = killed.files.tree();
      const point = { call: call + 1, when: 'after' as const };
      await expect(install(crashAt(killed, point).host)).rejects.toThrow(AgentKilled);
      await install(killed);
      await releaseHost(killed, { cleanup: 'Restore', clock });
      expect([point, killed.files.tree()]).toEqual([point, before]);
    }
  });

  it('records each step before it is done', async () => {
    const { host } = await takenOver();
    const crashing = crashAt(host);
    await releaseHost(crashing.host, { cleanup: 'Restore', clock });
    const [first] = crashing.calls;
    expect(first).toBe(`files.write ${RELEASE_FILE}`);
  });

  it('MAC-20 keeps data of components for Restore, reports it, and removes it for Wipe', async () => {
    const { host, before } = await takenOver();
    const data = dataDirectory('proxy');
    await host.files.write(`${data}/db`, bytes('rows'), ATTRIBUTES);
    const restored = await releaseHost(host, { cleanup: 'Restore', clock });
    expect(restored).toEqual({ left: [`${data}: data of a component, which Wipe removes`], complete: true });
    expect([...host.files.tree().keys()].filter((path) => !before.has(path))).toEqual([
      STATE_ROOT,
      `${STATE_ROOT}/data`,
      data,
      `${data}/db`,
    ]);

    const { host: wiped } = await takenOver();
    await wiped.files.write(`${data}/db`, bytes('rows'), ATTRIBUTES);
    expect(await releaseHost(wiped, { cleanup: 'Wipe', clock })).toEqual({ left: [], complete: true });
    expect(wiped.files.tree()).toEqual(before);
  });

  it('MAC-20 leaves components running for Orphan, and the host free for another Machine', async () => {
    const { host } = await takenOver();
    await releaseHost(host, { cleanup: 'Orphan', clock });
    const unit = target('1.0').units[0];
    if (!unit) throw new Error('no unit');
    expect((await host.units.status(unit))?.active).toBe('Active');
    expect(host.units.stops.get('proxy')).toBeUndefined();
    expect(host.files.tree().has('/etc/systemd/system/kubenode-agent.service')).toBe(false);
    await install(host, 'u2');
  });

  it('MAC-21 refuses another Machine, and changes nothing', async () => {
    const { host } = await takenOver();
    const before = host.files.tree();
    await expect(releaseHost(host, { cleanup: 'Wipe', machineUid: 'u2', clock })).rejects.toMatchObject({
      code: 'HostInUse',
    });
    await expect(install(host, 'u2')).rejects.toMatchObject({ code: 'HostInUse' });
    expect(host.files.tree()).toEqual(before);
  });

  it('keeps the records when a step fails, so that it can be repeated', async () => {
    const { host, before } = await takenOver();
    const failing: Host = { ...host, units: failingUnits(host) };
    const { left, complete } = await releaseHost(failing, { cleanup: 'Restore', clock });
    expect({ left, complete }).toEqual({
      left: ['RemoveComponent proxy: unit proxy did not stop'],
      complete: false,
    });
    expect(await host.files.stat(IMPORT_FILE)).toBeDefined();
    expect(await releaseHost(host, { cleanup: 'Restore', clock })).toEqual({ left: [], complete: true });
    expect(host.files.tree()).toEqual(before);
  });

  it('MAC-20 removes the network interfaces of components, and no other', async () => {
    const host = await bareHost();
    await host.files.write('/sys/class/net/eth0', bytes(''), ATTRIBUTES);
    await install(host);
    await drive(host, present(target('1.0', { networkInterfaces: ['cni0', 'eth0', 'absent0'] })));
    await host.files.write('/sys/class/net/cni0', bytes(''), ATTRIBUTES);
    const runs: (readonly string[])[] = [];
    const ip: Host['processes']['run'] = async (argv) => {
      runs.push(argv);
      if (!isStuck) await host.files.remove(`/sys/class/net/${argv.at(-1)}`);
      return { exitCode: isStuck ? 2 : 0, timedOut: false, output: 'busy\n', truncated: false };
    };
    let isStuck = true;
    const processes = { ...host.processes, run: ip };
    const stuck = await releaseHost({ ...host, processes }, { cleanup: 'Restore', clock });
    expect(stuck).toMatchObject({
      complete: false,
      left: [expect.stringContaining('network interface cni0 cannot be removed: busy')],
    });
    isStuck = false;
    expect(await releaseHost({ ...host, processes }, { cleanup: 'Restore', clock })).toEqual({
      left: [],
      complete: true,
    });
    expect(runs).toEqual([1, 2].map(() => ['ip', 'link', 'delete', 'dev', 'cni0']));
  });

  it('MAC-20 removes nothing while the agent cannot be stopped', async () => {
    const { host } = await takenOver();
    const before = host.files.tree();
    const failing: Host = { ...host, units: failingUnits(host, 'kubenode-agent') };
    const { left, complete } = await releaseHost(failing, { cleanup: 'Restore', clock });
    expect({ left, complete }).toEqual({
      left: ['StopAgent: unit kubenode-agent did not stop'],
      complete: false,
    });
    const after = new Map(host.files.tree());
    expect(after.delete(RELEASE_FILE)).toBe(true);
    expect(after).toEqual(before);
    expect(host.units.stops.get('proxy')).toBeUndefined();
    expect((await releaseHost(host, { cleanup: 'Restore', clock })).complete).toBe(true);
  });

  it('releases a host that joined with a token, without a record of an import', async () => {
    const { host } = await takenOver();
    await host.files.remove(IMPORT_FILE);
    await host.files.write(DESIRED_FILE, bytes('{"name":"n1","uid":"u1"}'), ATTRIBUTES);
    const { left } = await releaseHost(host, { cleanup: 'Restore', clock });
    const because = 'it is not known whether it was there before the agent';
    expect(left).toEqual([
      `/var/lib/proxy: ${because}`,
      `/var/lib/theirs: ${because}`,
      `/run/proxy: ${because}`,
      'kubenode-agent.service: it was not written by kubenode-agent install',
    ]);
    expect(host.files.tree().has('/var/lib/proxy/pods/a')).toBe(true);
    expect(host.files.tree().has(STATE_ROOT)).toBe(false);
  });
});

function failingUnits({ units }: MemoryHost, failing = 'proxy'): Host['units'] {
  const stop = async (name: string): Promise<void> => {
    if (name === failing) throw new HostError('NotStopped', `unit ${name} did not stop`);
    await units.stop(name);
  };
  return new Proxy(units, {
    get(of, name) {
      const value: unknown = name === 'stop' ? stop : Reflect.get(of, name, of);
      return typeof value === 'function' && name !== 'stop' ? (value.bind(of) as unknown) : value;
    },
  });
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
