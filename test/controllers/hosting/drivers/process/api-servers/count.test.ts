import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { balancerCommand, controllersCommand } from '../../../../../../src/cli/hosting/programs.ts';
import type { PlaneSpec } from '../../../../../../src/controllers/hosting/drivers/driver.ts';
import { readAccess } from '../../../../../../src/controllers/hosting/drivers/process/access.ts';
import { changeCount } from '../../../../../../src/controllers/hosting/drivers/process/api-servers/count.ts';
import { portsFolder } from '../../../../../../src/controllers/hosting/drivers/process/folder.ts';
import {
  type OpenPlane,
  readOpenPlane,
} from '../../../../../../src/controllers/hosting/drivers/process/plane.ts';
import { preparePlane } from '../../../../../../src/controllers/hosting/drivers/process/preparation/prepare.ts';
import { recordStart } from '../../../../../../src/controllers/hosting/drivers/process/records.ts';
import { recordRun } from '../../../../../../src/controllers/hosting/drivers/process/runs.ts';
import type { ApiServersState } from '../../../../../../src/local/state.ts';
import { createSystemClock } from '../../../../../../src/os/system-clock.ts';
import { NOW } from '../../../../../support/builders.ts';
import { planeSpec } from '../../../../../support/hosting/objects.ts';
import { tempFolder } from '../../../../../support/temp.ts';

interface CountBed {
  readonly read: () => Promise<OpenPlane>;
  readonly change: (count: number) => Promise<void>;
  readonly servers: () => Promise<ApiServersState | undefined>;
  readonly members: () => Promise<readonly string[]>;
  readonly claims: () => number;
}

async function prepared(apiServers: number): Promise<CountBed> {
  const dir = join(tempFolder('count'), 'hosting');
  const plane: PlaneSpec = { ...planeSpec(), apiServers };
  await preparePlane(plane, {
    dir,
    clock: { ...createSystemClock(), now: () => NOW },
    freeBytes: async () => 1e12,
  });
  const parts = { dir, programs: [], controllers: controllersCommand(false), balancer: balancerCommand };
  const read = (): Promise<OpenPlane> => readOpenPlane(plane, parts);
  return {
    read,
    change: async (count) => await changeCount(await read(), count, dir),
    servers: async () => (await read()).state?.clusters[0]?.apiServers,
    members: async () =>
      (await read()).specs.map(({ member }) => member).filter((name) => /server|balancer/.test(name)),
    claims: () => readdirSync(portsFolder(dir)).length,
  };
}

const BALANCERS = ['kubenode-balancer', 'kubenode-balancer-1'];

describe('the number of API servers in the files of a control plane', () => {
  it('HOS-13 has one port where there is one API server, and a kubeconfig for each of several', async () => {
    const one = await prepared(1);
    expect([await one.servers(), await one.members(), one.claims()]).toEqual([
      undefined,
      ['kube-apiserver'],
      5,
    ]);
    expect((await readAccess(await one.read()))?.apiServers).toBeUndefined();
    const two = await prepared(2);
    expect(await two.members()).toEqual([...BALANCERS, 'kube-apiserver', 'kube-apiserver-1']);
    expect(two.claims()).toBe(10);
    const access = await readAccess(await two.read());
    const { ports } = (await two.servers()) ?? { ports: [] };
    expect(access?.apiServers?.map(({ admin }) => /127\.0\.0\.1:\d+/.exec(admin)?.[0])).toEqual(
      ports.slice(0, 2).map((port) => `127.0.0.1:${port}`),
    );
    expect(access?.server).toBe(`https://127.0.0.1:${(await two.read()).state?.clusters[0]?.port}`);
  });

  it('HOS-13 keeps every port when the number changes, and claims those of an interrupted change once', async () => {
    const bed = await prepared(1);
    const before = (await bed.read()).state?.clusters[0]?.port;
    await bed.change(2);
    const { ports, balancerPorts } = (await bed.servers()) ?? {};
    await bed.change(3);
    expect(await bed.servers()).toEqual({ replicas: 3, ports, balancerPorts });
    await bed.change(1);
    expect(await bed.servers()).toEqual({ replicas: 1, ports, balancerPorts });
    expect(await bed.members()).toEqual([...BALANCERS, 'kube-apiserver']);
    await bed.change(1);
    expect([bed.claims(), (await bed.read()).state?.clusters[0]?.port]).toEqual([10, before]);
  });

  it('HOS-13 starts an API server that is counted again with what is settled, and not with a former version', async () => {
    const bed = await prepared(2);
    const { layout, runs } = await bed.read();
    await recordRun(layout.root, 'kube-apiserver-1', { version: 'v1.30.0', flags: {} });
    await recordStart(layout.root, 'kube-apiserver-1', NOW);
    expect((await bed.read()).runs?.['kube-apiserver-1'].version).toBe('v1.30.0');
    await bed.change(1);
    await bed.change(2);
    expect((await bed.read()).runs?.['kube-apiserver-1']).toEqual(runs?.['kube-apiserver-1']);
  });
});
