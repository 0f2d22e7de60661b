/** What hosting reads inside a hosted cluster, on a real API server in which an installation was interrupted. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NAMESPACE } from '../../../../../src/api/names.ts';
import { createClusterInside } from '../../../../../src/controllers/hosting/inside/execute.ts';
import { NAMESPACES } from '../../../../../src/kube/objects/core-kinds.ts';
import { createSystemClock } from '../../../../../src/os/system-clock.ts';
import { type InstalledServer, startInstalledServer } from '../../../api/installed-server.ts';

const EMPTY = { isInstalled: false, controllersLead: false, machines: [], machineSets: [] };
const inside = createClusterInside(createSystemClock());
const never = new AbortController().signal;

let installed: InstalledServer;
let kubeconfig: string;

beforeAll(async () => {
  installed = await startInstalledServer([]);
  kubeconfig = readFileSync(installed.server.kubeconfig, 'utf8');
});

afterAll(async () => {
  await installed?.stop();
});

describe('what hosting reads inside a cluster', () => {
  it('HOS-06 takes an installation that ended before its kinds for one to repeat', async () => {
    expect(await inside.read(kubeconfig, never)).toEqual(EMPTY);
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
    await installed.server.client.create(NAMESPACES, namespace);
    expect(await inside.read(kubeconfig, never)).toEqual(EMPTY);
    await inside.install(kubeconfig, never);
    expect(await inside.read(kubeconfig, never)).toEqual({ ...EMPTY, isInstalled: true });
  });
});
