import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createClusterPlaces } from '../../../src/demo/tour/places.ts';
import { createLayout } from '../../../src/local/layout.ts';
import { tempFolder } from '../../support/temp.ts';

describe('the places of the clusters of the demo', () => {
  it('are in the fleet for its own clusters, and beside it for those that its hub hosts', () => {
    const places = createClusterPlaces(createLayout('/f/local'));
    expect(places.connection('hub')).toEqual({ kubeconfig: '/f/local/kubeconfig', context: 'hub' });
    expect(places.selects('prod')).toBe('--context prod');
    expect(places.machineFolder('test', 'u').path).toBe('/f/local/clusters/test/machines/u');
    const root = '/f/local-hosting/clusters/ci-2';
    expect(places.connection('ci-2')).toEqual({ kubeconfig: `${root}/clusters/ci-2/kubeconfig` });
    expect(places.selects('ci-2')).toBe(`--kubeconfig ${root}/clusters/ci-2/kubeconfig`);
    expect(places.machineFolder('ci-2', 'u').path).toBe(`${root}/clusters/ci-2/machines/u`);
  });

  it('have nothing of a hosted cluster left only without its folder', async () => {
    const fleet = join(tempFolder('places'), 'local');
    const places = createClusterPlaces(createLayout(fleet));
    expect(await places.leftovers('ci-2')).toEqual([]);
    const root = `${fleet}-hosting/clusters/ci-2`;
    mkdirSync(root, { recursive: true });
    expect(await places.leftovers('ci-2')).toEqual([root]);
  });

  it.each([
    ['a flag, as a program of its control plane has', '--config='],
    ['an argument, as a program of its machines has', ''],
  ])('have a process left that names a file of the folder in %s', async (_, prefix) => {
    const fleet = join(tempFolder('places'), 'local');
    const places = createClusterPlaces(createLayout(fleet));
    const wait = 'setTimeout(() => undefined, 100_000)';
    const file = `${prefix}${fleet}-hosting/clusters/ci-2/file`;
    const child = spawn(process.execPath, ['-e', wait, '--', file], { argv0: 'node', stdio: 'ignore' });
    onTestFinished(() => void child.kill('SIGKILL'));
    expect(await places.leftovers('ci-2')).toEqual([`process ${child.pid} (node)`]);
    expect(await places.leftovers('ci')).toEqual([]);
  });
});
