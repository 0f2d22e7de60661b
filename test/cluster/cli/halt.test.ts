import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLUSTERS, PIPELINES } from '../../../src/api/generated/resources.ts';
import type { Cluster, Pipeline } from '../../../src/api/generated/types.ts';
import { MANAGER_SYNC } from '../../../src/api/names.ts';
import { activePause, pausedReason } from '../../../src/api/status/pauses.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { type TestIo, testIo } from '../../support/test-io.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';

let installed: InstalledServer;
beforeAll(async () => {
  installed = await startInstalledServer();
});
afterAll(() => installed?.stop());

const SELECTOR = { matchLabels: { 'kubenode.dev/environment': 'test' } };

function pipeline(name: string, spec: object): KubeObject {
  const source = { repository: 'https://git.example.com/fleet' };
  const stages = [{ name: 'test', clusterSelector: SELECTOR }];
  return manifest(PIPELINES, name, { source, stages, ...spec });
}

function cluster(name: string, spec: object): KubeObject {
  return manifest(CLUSTERS, name, { environment: 'test', connection: { inCluster: true }, ...spec });
}

function manifest({ kind }: Resource, name: string, spec: object): KubeObject {
  return { apiVersion: 'kubenode.dev/v1alpha1', kind, metadata: { name }, spec };
}

/** As sync writes what a commit declares, also over the fields of others. */
async function syncCommit(resource: Resource, object: KubeObject): Promise<void> {
  await installed.server.client.apply(resource, object, { fieldManager: MANAGER_SYNC, force: true });
}

async function run(...args: string[]): Promise<TestIo & { code: number }> {
  const io = testIo({ env: { KUBECONFIG: installed.server.kubeconfig } });
  const code = await runCommandLine(io, args);
  return Object.assign(io, { code });
}

async function haltOf(name: string): Promise<string | undefined> {
  return pausedReason(await installed.server.client.get<Pipeline>(PIPELINES, { name }));
}

describe('release halt', () => {
  it.each([
    ['one whose spec.paused git does not set', 'plain', {}],
    ['one whose spec.paused git sets to false', 'declared', { paused: false }],
  ])('SAF-16 stops %s, and stays until it is resumed, also against the next sync', async (_, name, spec) => {
    await syncCommit(PIPELINES, pipeline(name, spec));
    const halted = await run('release', 'halt', name, '--reason', 'ticket 7');
    expect([halted.code, halted.stderr]).toEqual([0, '']);
    expect(halted.stdout).toBe(
      `pipeline ${name} halted: nothing is written until it is resumed. Resume it with: kubenode release resume ${name}\n`,
    );
    await syncCommit(PIPELINES, pipeline(name, { ...spec, historyLimit: 7 }));
    expect(await haltOf(name)).toContain('ticket 7');
    expect((await run('release', 'halt', name)).code).toBe(0);

    const resumed = await run('release', 'resume', name);
    expect([resumed.code, resumed.stdout]).toEqual([0, `pipeline ${name} resumed\n`]);
    expect(await haltOf(name)).toBeUndefined();
    await syncCommit(PIPELINES, pipeline(name, spec));
    expect(await haltOf(name)).toBeUndefined();
    expect((await run('release', 'resume', name)).stdout).toBe(
      `pipeline ${name} was not halted: nothing changed\n`,
    );
  });

  it('resumes a Pipeline that another manager paused', async () => {
    const { client } = installed.server;
    await syncCommit(PIPELINES, pipeline('edited', {}));
    const body = { spec: { paused: true } };
    await client.patch(
      PIPELINES,
      { name: 'edited' },
      { type: 'merge', body },
      { fieldManager: 'kubectl-edit' },
    );
    expect((await run('release', 'resume', 'edited')).stdout).toBe('pipeline edited resumed\n');
    expect(await haltOf('edited')).toBeUndefined();
  });

  it('removes the halt of a Pipeline that git pauses, and names the commit that is missing', async () => {
    await syncCommit(PIPELINES, pipeline('git', { paused: true }));
    await run('release', 'halt', 'git');
    const { code, stderr } = await run('release', 'resume', 'git');
    expect([code, stderr]).toEqual([1, expect.stringContaining('git sets spec.paused: true')]);
    expect(stderr).toContain('remove spec.paused from Pipeline git in the fleet repository');
    expect(await haltOf('git')).toBe('pipeline git is paused (spec.paused)');
  });

  it('stops and resumes one Cluster in the same way, and leaves the pauses of others', async () => {
    const { client } = installed.server;
    const isPaused = async (): Promise<string | undefined> =>
      activePause(await client.get<Cluster>(CLUSTERS, { name: 'test-1' }), createSystemClock().now())?.by;
    await syncCommit(CLUSTERS, cluster('test-1', { paused: false }));
    await syncCommit(PIPELINES, pipeline('one', {}));
    const other = { name: 'other', by: 'bert', reason: 'disk', until: '2020-01-01T00:00:00Z' };
    const intent = { ...cluster('test-1', {}), spec: { pauses: [other] } };
    await client.apply(CLUSTERS, intent, { fieldManager: 'bert' });

    const halted = await run('release', 'halt', 'one', '--cluster', 'test-1');
    expect([halted.code, halted.stdout]).toEqual([0, expect.stringContaining('cluster test-1 halted')]);
    await syncCommit(CLUSTERS, cluster('test-1', { paused: false, region: 'eu' }));
    expect(await isPaused()).toBeDefined();
    expect((await run('release', 'resume', 'one', '--cluster', 'test-1')).stdout).toBe(
      'cluster test-1 resumed\n',
    );
    expect(await isPaused()).toBeUndefined();
    const { spec } = await client.get<Cluster>(CLUSTERS, { name: 'test-1' });
    expect(spec.pauses.map(({ name }) => name)).toEqual(['other']);
  });
});
