import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { localFleet } from '../../../support/local-fleet.ts';
import { tempFolder } from '../../../support/temp.ts';

/** What can be said without starting anything. */
describe('kubenode local', () => {
  it.each([
    [['kubeconfig'], 64, 'name a cluster, or say --merged'],
    [['kubeconfig', 'hub', '--merged'], 64, '--merged is for all clusters'],
    [['kubeconfig', '--merged', '--user', 'jane'], 64, '--user needs one cluster'],
    [['kubeconfig', 'hub', '--user', 'jane', '--path'], 64, 'leave out --path'],
    [['kubeconfig', 'hub', '--group', 'a'], 64, '--group goes with --user'],
    [['kubeconfig', 'hub'], 65, 'there are no local clusters'],
    [['up', '--clusters', '0'], 64, 'a whole number from 1 to 100'],
    [['up', '--clusters', 'two'], 64, 'a whole number from 1 to 100'],
    [['up', '--port', '70000'], 64, 'a whole number from 1 to 65535'],
    [['up', '--bind-address', 'localhost'], 64, 'Wanted is an IP address'],
    [['up', '--kube-assets', '/does/not/exist'], 69, '--kube-assets names a folder without etcd'],
    [['restart'], 64, 'unknown command'],
  ])('%j ends with %i', async (args, code, message) => {
    const ended = await localFleet(tempFolder('cli')).run(args);
    expect(ended.stderr).toContain(message);
    expect(ended.code).toBe(code);
    expect(ended.stdout).toBe('');
  });

  it.each([
    [['status'], 1, 'no local clusters in '],
    [['down'], 0, ''],
    [['down', '--wipe'], 0, ''],
  ])('%j where there is nothing ends with %i', async (args, code, stdout) => {
    const ended = await localFleet(tempFolder('cli')).run(args);
    expect(ended.code).toBe(code);
    expect(ended.stdout).toContain(stdout);
  });

  it('says in JSON too that there is nothing', async () => {
    const fleet = localFleet(tempFolder('cli'));
    const { stdout } = await fleet.run(['status', '-o', 'json']);
    expect(JSON.parse(stdout)).toEqual({ folder: fleet.dir, clusters: [] });
  });

  it('puts nothing into a folder that holds other things, and takes nothing out of it', async () => {
    const fleet = localFleet(tempFolder('cli'));
    mkdirSync(fleet.dir);
    writeFileSync(join(fleet.dir, 'thesis.tex'), '');
    const up = await fleet.run(['up']);
    expect(up.code).toBe(65);
    expect(up.stderr).toContain('holds other things than a local fleet: thesis.tex');
    await fleet.run(['down', '--wipe']);
    expect(readdirSync(fleet.dir)).toEqual(['thesis.tex']);
  });

  it('asks for no more programs than the clusters need', async () => {
    const assets = tempFolder('assets');
    const all = await localFleet(tempFolder('cli')).run(['up', '--kube-assets', assets]);
    expect(all.stderr).toContain('without etcd, kube-apiserver, kube-controller-manager, kube-scheduler\n');
    const few = await localFleet(tempFolder('cli')).run(['up', '--kube-assets', assets, '--no-controllers']);
    expect(few.stderr).toContain('without etcd, kube-apiserver\n');
  });

  it('names the folder that may not be used', async () => {
    const parent = tempFolder('cli');
    writeFileSync(join(parent, 'fleet'), '');
    const { code, stderr } = await localFleet(parent).run(['up']);
    expect(code).not.toBe(0);
    expect(stderr).toContain(join(parent, 'fleet'));
  });
});
