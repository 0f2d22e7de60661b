import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { localFleet } from '../../../support/local-fleet.ts';
import { tempFolder } from '../../../support/temp.ts';

/** Everything that needs no running cluster. */
describe('kubenode local', () => {
  it.each([
    [['kubeconfig'], 64, 'no cluster specified: pass a name or --merged'],
    [['kubeconfig', 'hub', '--merged'], 64, '--merged includes all clusters'],
    [['kubeconfig', '--merged', '--user', 'jane'], 64, '--user requires the name of one cluster'],
    [['kubeconfig', 'hub', '--user', 'jane', '--path'], 64, 'omit --path'],
    [['kubeconfig', 'hub', '--group', 'a'], 64, '--group requires --user'],
    [['kubeconfig', 'hub'], 65, 'no local clusters found'],
    [['up', '--clusters', '0'], 64, 'Expected an integer from 1 to 100, got "0"'],
    [['up', '--clusters', 'two'], 64, 'Expected an integer from 1 to 100, got "two"'],
    [['up', '--port', '70000'], 64, 'Expected an integer from 1 to 65535'],
    [['up', '--bind-address', 'localhost'], 64, 'Expected an IP address, got "localhost"'],
    [['up', '--kube-assets', '/does/not/exist'], 69, 'programs missing in the folder of --kube-assets: etcd'],
    [['restart'], 64, 'unknown command'],
  ])('%j exits with %i', async (args, code, message) => {
    const ended = await localFleet(tempFolder('cli')).run(args);
    expect(ended.stderr).toContain(message);
    expect(ended.code).toBe(code);
    expect(ended.stdout).toBe('');
  });

  it.each([
    [['status'], 1, 'no local clusters in '],
    [['down'], 0, ''],
    [['down', '--wipe'], 0, ''],
  ])('%j exits with %i without local clusters', async (args, code, stdout) => {
    const ended = await localFleet(tempFolder('cli')).run(args);
    expect(ended.code).toBe(code);
    expect(ended.stdout).toContain(stdout);
  });

  it('prints an empty list of clusters as JSON', async () => {
    const fleet = localFleet(tempFolder('cli'));
    const { stdout } = await fleet.run(['status', '-o', 'json']);
    expect(JSON.parse(stdout)).toEqual({ folder: fleet.dir, clusters: [] });
  });

  it('refuses a folder with other files, and deletes none of them', async () => {
    const fleet = localFleet(tempFolder('cli'));
    mkdirSync(fleet.dir);
    writeFileSync(join(fleet.dir, 'thesis.tex'), '');
    const up = await fleet.run(['up']);
    expect(up.code).toBe(65);
    expect(up.stderr).toContain('contains files that do not belong to a local fleet: thesis.tex');
    await fleet.run(['down', '--wipe']);
    expect(readdirSync(fleet.dir)).toEqual(['thesis.tex']);
  });

  it('requires only the programs that the clusters need', async () => {
    const assets = tempFolder('assets');
    const all = await localFleet(tempFolder('cli')).run(['up', '--kube-assets', assets]);
    expect(all.stderr).toContain(': etcd, kube-apiserver, kube-controller-manager, kube-scheduler\n');
    const few = await localFleet(tempFolder('cli')).run(['up', '--kube-assets', assets, '--no-controllers']);
    expect(few.stderr).toContain(': etcd, kube-apiserver\n');
  });

  it('names the folder that cannot be used', async () => {
    const parent = tempFolder('cli');
    writeFileSync(join(parent, 'fleet'), '');
    const { code, stderr } = await localFleet(parent).run(['up']);
    expect(code).not.toBe(0);
    expect(stderr).toContain(join(parent, 'fleet'));
  });
});
