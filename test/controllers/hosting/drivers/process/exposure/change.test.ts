import { spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { balancerCommand, controllersCommand } from '../../../../../../src/cli/hosting/programs.ts';
import type { OutsideAddress, PlaneSpec } from '../../../../../../src/controllers/hosting/drivers/driver.ts';
import { readAccess } from '../../../../../../src/controllers/hosting/drivers/process/access.ts';
import { changeOutside } from '../../../../../../src/controllers/hosting/drivers/process/exposure/change.ts';
import {
  createPlaneLocks,
  portsFolder,
} from '../../../../../../src/controllers/hosting/drivers/process/folder.ts';
import {
  type OpenPlane,
  readOpenPlane,
} from '../../../../../../src/controllers/hosting/drivers/process/plane.ts';
import { createClaimSweep } from '../../../../../../src/controllers/hosting/drivers/process/preparation/claim-sweep.ts';
import { preparePlane } from '../../../../../../src/controllers/hosting/drivers/process/preparation/prepare.ts';
import { listenOn } from '../../../../../../src/os/net/http-server.ts';
import { ALL_ADDRESSES, findFreePort } from '../../../../../../src/os/net/ports.ts';
import { createSystemClock } from '../../../../../../src/os/system-clock.ts';
import { NOW } from '../../../../../support/builders.ts';
import { planeSpec } from '../../../../../support/hosting/objects.ts';
import { tempFolder } from '../../../../../support/temp.ts';

const clock = { ...createSystemClock(), now: () => NOW };
const HOST = 'ci.example.com';

function bed(name = 'ci', dir = join(tempFolder('exposure'), 'hosting')) {
  const plane = planeSpec(name);
  const prepare = (outside?: OutsideAddress): Promise<void> =>
    preparePlane(withOutside(plane, outside), { dir, clock, freeBytes: async () => 1e12 });
  const parts = { dir, programs: [], controllers: controllersCommand(false), balancer: balancerCommand };
  const read = (): Promise<OpenPlane> => readOpenPlane(plane, parts);
  const commands = async (): Promise<Readonly<Record<string, string>>> =>
    Object.fromEntries((await read()).specs.map(({ member, command }) => [member, command.args.join(' ')]));
  return {
    dir,
    prepare,
    read,
    commands,
    change: async (outside?: OutsideAddress) => await changeOutside(await read(), outside, { dir, clock }),
    exposure: async () => (await read()).state?.clusters[0]?.exposure,
    claims: () => readdirSync(portsFolder(dir)).map(Number),
    names: async () => {
      const { layout } = await read();
      const pem = readFileSync(join(layout.cluster(name).pkiFolder, 'apiserver.pem'), 'utf8');
      return new X509Certificate(pem).subjectAltName ?? '';
    },
  };
}

function withOutside(plane: PlaneSpec, outside: OutsideAddress | undefined): PlaneSpec {
  return outside ? { ...plane, outside } : plane;
}

describe('the exposure in the files of a control plane', () => {
  it('HOS-41 is there from the creation on: port, certificate and kubeconfigs for others', async () => {
    const { prepare, exposure, claims, names, read } = bed();
    const port = await findFreePort();
    await prepare({ host: HOST, port });
    const { gatewayPorts = [] } = (await exposure()) ?? {};
    expect(await exposure()).toEqual({ host: HOST, port, gatewayPorts });
    expect(claims()).toHaveLength(8);
    expect(claims()).toEqual(expect.arrayContaining([port, ...gatewayPorts]));
    expect(await names()).toContain(`DNS:${HOST}`);
    const access = await readAccess(await read());
    const url = `https://${HOST}:${port}`;
    expect([access?.sync.includes(url), access?.adminOutside?.includes(url)]).toEqual([true, true]);
    expect([access?.server.includes(HOST), access?.admin.includes(HOST)]).toEqual([false, false]);
  });

  it('HOS-41 is added, renamed, moved and removed, while the members of Kubernetes keep their commands', async () => {
    const { prepare, change, exposure, claims, commands, read } = bed();
    await prepare();
    const before = await commands();
    const former = (await read()).state;
    const [port, other] = [await findFreePort(), await findFreePort()];
    await change({ host: HOST, port });
    const { gatewayPorts } = (await exposure()) ?? {};
    const { 'kubenode-gateway': gateway, 'kubenode-gateway-1': second, ...others } = await commands();
    expect(gateway).toContain(`--port=${port} --all-addresses --health-port=${gatewayPorts?.[0]}`);
    expect(gateway).toContain(`--backends=${former?.clusters[0]?.port} `);
    expect(second).toContain(`--health-port=${gatewayPorts?.[1]}`);
    const { 'kubenode-controllers': controllers, ...rest } = others;
    expect(controllers).toContain(`--server-for-hosts=https://${HOST}:${port}`);
    expect(before).toEqual({ ...rest, 'kubenode-controllers': before['kubenode-controllers'] });
    await change({ host: '2001:db8::10', port });
    expect(await exposure()).toEqual({ host: '2001:db8::10', port, gatewayPorts });
    expect((await readAccess(await read()))?.sync).toContain(`https://[2001:db8::10]:${port}`);
    await change({ host: HOST, port: other });
    expect([await exposure(), claims().includes(port)]).toEqual([
      { host: HOST, port: other, gatewayPorts },
      false,
    ]);
    await change();
    expect([await commands(), (await read()).state, claims().length]).toEqual([before, former, 5]);
  });

  it('HOS-41 gives the certificate the name of the spec before it is recorded, and none where there is none', async () => {
    const { prepare, exposure, names, read } = bed();
    await prepare();
    expect([(await names()).includes(HOST), (await read()).state?.clusters[0]?.names]).toEqual([false, []]);
    await prepare({ host: HOST, port: 6443 });
    expect([(await names()).includes(HOST), await exposure()]).toEqual([true, undefined]);
  });

  it('HOS-06 is refused where a program or another Cluster has the port, and nothing is recorded', async () => {
    const first = bed('a');
    const server = createServer();
    const port = await listenOn(server, 'a test', { host: ALL_ADDRESSES, port: 0 });
    onTestFinished(() => void server.close());
    await first.prepare();
    await expect(first.change({ host: HOST, port })).rejects.toMatchObject({
      code: 'PortInUse',
      message: `port ${port} of spec.hosted.exposure is in use by another program`,
    });
    expect([await first.exposure(), first.claims().length]).toEqual([undefined, 5]);
    const free = await findFreePort();
    await first.change({ host: HOST, port: free });
    const second = bed('b', first.dir);
    await expect(second.prepare({ host: HOST, port: free })).rejects.toMatchObject({
      code: 'PortInUse',
      message: `port ${free} of spec.hosted.exposure is that of Cluster a`,
    });
    expect(await second.exposure()).toBeUndefined();
    await first.change();
    await second.prepare({ host: HOST, port: free });
    expect((await second.exposure())?.port).toBe(free);
  });

  it('HOS-06 releases the port of a change that was interrupted, also when the spec is as before', async () => {
    const { prepare, change, claims, dir, read } = bed();
    await prepare();
    const port = await findFreePort();
    const interrupt = (): void => writeFileSync(join(portsFolder(dir), String(port)), 'ci\n');
    interrupt();
    await change();
    expect(claims()).not.toContain(port);
    interrupt();
    await prepare();
    expect(claims()).not.toContain(port);
    interrupt();
    const { layout } = await read();
    const sweep = createClaimSweep(dir, createPlaneLocks(dir).locked);
    await sweep(planeSpec());
    expect([claims().includes(port), claims().length]).toEqual([false, 5]);
    interrupt();
    await sweep(planeSpec());
    expect(claims()).toContain(port);
    rmSync(layout.stateFile);
    await createClaimSweep(dir, createPlaneLocks(dir).locked)(planeSpec());
    expect(claims()).toHaveLength(6);
  });

  it('HOS-06 releases it at the next observation where the first one was interrupted', async () => {
    const { prepare, claims, dir } = bed();
    await prepare();
    const port = await findFreePort();
    writeFileSync(join(portsFolder(dir), String(port)), 'ci\n');
    const { locked } = createPlaneLocks(dir);
    let isInterrupted = true;
    const sweep = createClaimSweep(dir, async (plane, work) => {
      if (isInterrupted) throw new Error('interrupted');
      return await locked(plane, work);
    });
    await expect(sweep(planeSpec())).rejects.toThrow('interrupted');
    isInterrupted = false;
    await sweep(planeSpec());
    expect(claims()).not.toContain(port);
  });

  it('HOS-41 ends nothing and keeps no port where the disk takes no record', async () => {
    const { prepare, change, claims, read, dir } = bed();
    const [port, other] = [await findFreePort(), await findFreePort()];
    await prepare({ host: HOST, port });
    const found = await read();
    const gateway = found.specs.find(({ member }) => member === 'kubenode-gateway');
    const child = spawn(process.execPath, [
      '-e',
      'setInterval(() => {}, 1e6)',
      '--',
      ...(gateway?.command.args ?? []),
    ]);
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child, 'spawn');
    const { stateFile } = found.layout;
    const content = readFileSync(stateFile, 'utf8');
    rmSync(stateFile);
    mkdirSync(stateFile);
    for (const outside of [{ host: HOST, port: other }, undefined]) {
      await expect(changeOutside(found, outside, { dir, clock })).rejects.toThrow(stateFile);
    }
    expect([child.exitCode, child.signalCode, claims().includes(other)]).toEqual([null, null, false]);
    rmSync(stateFile, { recursive: true });
    writeFileSync(stateFile, content);
    const ended = once(child, 'exit');
    await change({ host: HOST, port: other });
    await ended;
  });

  it('HOS-06 is refused where another member of the control plane has the port, also while that does not run', async () => {
    const { prepare, change, claims, exposure } = bed();
    await prepare();
    expect(claims()).toHaveLength(5);
    for (const port of claims()) {
      await expect(change({ host: HOST, port })).rejects.toMatchObject({
        code: 'PortInUse',
        message: `port ${port} of spec.hosted.exposure is that of another member of this control plane`,
      });
    }
    await change({ host: HOST, port: await findFreePort() });
    const { gatewayPorts: [port = 0] = [] } = (await exposure()) ?? {};
    await expect(change({ host: HOST, port })).rejects.toMatchObject({ code: 'PortInUse' });
  });
});
