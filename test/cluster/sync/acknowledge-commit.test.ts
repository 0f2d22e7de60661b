/** `kubenode release acknowledge --commit`: from a held plan to the commit that releases it, with a running sync and real API servers. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PIPELINES } from '../../../src/api/generated/resources.ts';
import { MANAGER_SYNC } from '../../../src/api/names.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { CONFIG_MAPS } from '../../../src/kube/objects/core-kinds.ts';
import { type TestIo, testIo } from '../../support/test-io.ts';
import { startTestFleet, type TestFleet } from './test-fleet.ts';

const EXTRA = 'clusters/test/web/extra.yaml';
/** More than the default budget of 10. */
const MANY = 12;
const AUTHOR = { GIT_AUTHOR_NAME: 'Ann', GIT_AUTHOR_EMAIL: 'ann@example.com' };
const USER = { ...AUTHOR, GIT_COMMITTER_NAME: 'Ann', GIT_COMMITTER_EMAIL: 'ann@example.com' };

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await startTestFleet();
});
beforeEach(() => fleet.reset());
afterAll(() => fleet.stop());

function configMaps(count: number): string {
  return Array.from(
    { length: count },
    (_, index) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra-${index}, namespace: default}\n`,
  ).join('---\n');
}

async function extras(): Promise<number> {
  const { items } = await fleet.clusters.test.client.list(CONFIG_MAPS, { namespace: 'default' });
  return items.filter(({ metadata }) => metadata.name.startsWith('extra-')).length;
}

async function acknowledge(...flags: string[]): Promise<TestIo & { readonly code: number }> {
  const io = testIo({ env: { ...process.env, ...USER, KUBECONFIG: fleet.hub.kubeconfig } });
  const args = ['release', 'acknowledge', 'test', '--reason', 'shop moved away', '--commit', ...flags];
  const code = await runCommandLine(io, args);
  return Object.assign(io, { code });
}

/** Also declared in git. */
function pipelineYaml(bare: string): string {
  return `apiVersion: kubenode.dev/v1alpha1
kind: Pipeline
metadata:
  name: fleet
spec:
  source: {repository: "file://${bare}", ref: refs/heads/main, pollSeconds: 1}
  stages:
    - name: test
      clusterSelector: {matchLabels: {kubenode.dev/environment: test}}
      soakSeconds: 2
    - name: prod
      clusterSelector: {matchLabels: {kubenode.dev/environment: prod}}
      soakSeconds: 2
`;
}

describe('release acknowledge --commit', () => {
  it('commits the entry that releases the held deletes once it is pushed', async () => {
    const repository = fleet.repository();
    const { bare, dir } = repository;
    fleet.commit('1', 'first');
    await fleet.allProven(await started(fleet.commitFiles('add', filesOf(bare))));
    const removal = fleet.commitFiles('remove', { [EXTRA]: undefined });
    await expect.poll(() => fleet.state('test')).toMatchObject({ commit: removal, state: 'Held' });

    repository.git('checkout', '--quiet', '--detach');
    const detached = await acknowledge('--repo', dir);
    expect([detached.code, detached.stderr]).toEqual([
      65,
      expect.stringContaining('no branch is checked out'),
    ]);
    repository.git('checkout', '--quiet', 'main');

    const { code, stdout, stderr } = await acknowledge('--repo', dir);
    expect([code, stderr]).toEqual([0, 'releases the deletes of unit web in test\n']);
    const commit = repository.git('rev-parse', 'HEAD');
    expect(stdout).toBe(
      `committed ${commit.slice(0, 12)} to main of ${dir}: hub/pipeline.yaml\nnext: git push, then kubenode sync now\n`,
    );
    expect(repository.git('log', '-1', '--format=%an: %s')).toBe(
      'Ann: Acknowledge the deletes of unit web in test',
    );
    expect(repository.git('rev-parse', 'HEAD^')).toBe(removal);
    expect(repository.git('rev-parse', 'origin/main')).toBe(removal);
    expect(await extras()).toBe(MANY);

    repository.git('push', '--quiet', 'origin', 'main');
    await fleet.allProven(commit);
    expect(await extras()).toBe(0);
  });
});

function filesOf(bare: string): Record<string, string> {
  return { [EXTRA]: configMaps(MANY), 'hub/pipeline.yaml': pipelineYaml(bare) };
}

/** As `kubenode sync --from` creates the Pipeline. */
async function started(commit: string): Promise<string> {
  const { bare } = fleet.repository();
  const stages = ['test', 'prod'].map((name) => ({
    name,
    clusterSelector: { matchLabels: { 'kubenode.dev/environment': name } },
    soakSeconds: 2,
  }));
  const source = { repository: `file://${bare}`, ref: 'refs/heads/main', pollSeconds: 1 };
  const { group, version, kind } = PIPELINES;
  const pipeline = {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { name: 'fleet' },
    spec: { source, stages },
  };
  await fleet.hub.client.apply(PIPELINES, pipeline, { fieldManager: MANAGER_SYNC });
  await fleet.sync('one');
  return commit;
}
