import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PIPELINES } from '../../../src/api/generated/resources.ts';
import type { Pipeline } from '../../../src/api/generated/types.ts';
import { bootstrap } from '../../../src/cli/commands/sync/bootstrap.ts';
import { connect } from '../../../src/kube/client/connect.ts';
import type { SyncOptions } from '../../../src/sync/sync.ts';
import { createFleetFolder, createTestRenderer } from '../../support/fleet-repository.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { tempFolder } from '../../support/temp.ts';
import { testIo } from '../../support/test-io.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';

const PIPELINE = `apiVersion: kubenode.dev/v1alpha1
kind: Pipeline
metadata: {name: fleet}
spec:
  source: {repository: https://git.example.com/fleet}
  stages: [{name: test, clusterSelector: {matchLabels: {kubenode.dev/environment: test}}}]
`;

let installed: InstalledServer;
beforeAll(async () => {
  installed = await startInstalledServer();
});
afterAll(() => installed?.stop());

describe('bootstrap', () => {
  it('creates the Pipelines of a repository, once', async () => {
    const { kubeconfig, client } = installed.server;
    const io = testIo({ env: { KUBECONFIG: kubeconfig } });
    const options = optionsFor(kubeconfig);
    await bootstrap(io, { from: committed(PIPELINE), path: '.' }, options);
    const { spec, metadata } = await client.get<Pipeline>(PIPELINES, { name: 'fleet' });
    expect(spec.stages.map(({ name }) => name)).toEqual(['test']);
    await bootstrap(
      io,
      { from: committed(PIPELINE.replace('name: test', 'name: prod')), path: '.' },
      options,
    );
    expect(await client.get(PIPELINES, { name: 'fleet' })).toMatchObject({
      metadata: { generation: metadata.generation },
    });
  });

  it('FST-6 stops before it creates anything when a Pipeline of that name syncs another repository', async () => {
    const { kubeconfig, client } = installed.server;
    const io = testIo({ env: { KUBECONFIG: kubeconfig } });
    const options = optionsFor(kubeconfig);
    await bootstrap(io, { from: committed(PIPELINE), path: '.' }, options);
    const elsewhere = PIPELINE.replace('git.example.com', 'other.example.com');
    const added = elsewhere.replace('name: fleet', 'name: added');
    const result = bootstrap(io, { from: committed(`${added}---\n${elsewhere}`), path: '.' }, options);
    await expect(result).rejects.toMatchObject({
      message:
        'Pipeline fleet exists, and syncs another repository: expected https://other.example.com/fleet, found https://git.example.com/fleet',
      hint: expect.stringContaining('another name') as string,
      exitCode: 65,
    });
    const { items } = await client.list(PIPELINES);
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['fleet']);
  });
});

function optionsFor(kubeconfig: string): SyncOptions {
  return {
    connectHub: () => connect({ kubeconfig }),
    renderer: createTestRenderer(),
    log: memoryLog(),
    gitFolder: join(tempFolder('bootstrap'), 'git'),
  } as unknown as SyncOptions;
}

function committed(pipeline: string): string {
  const cwd = createFleetFolder({ 'hub/pipelines/fleet.yaml': pipeline });
  const git = (...args: string[]): string => execFileSync('git', args, { cwd, encoding: 'utf8' });
  git('init', '-q', '--initial-branch=main');
  git('add', '.');
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'The fleet');
  return cwd;
}
