/** Two repositories with a Pipeline each on one hub, and what is left when a Pipeline is deleted. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CLUSTERS, PIPELINES, RELEASES } from '../../../src/api/generated/resources.ts';
import type { Cluster, Pipeline, Release } from '../../../src/api/generated/types.ts';
import { CONFIG_MAPS } from '../../../src/kube/objects/core-kinds.ts';
import { createFleetRepository, type FleetRepository } from '../../support/fleet-repository.ts';
import { STAGES, type Stage, startTestFleet, type TestFleet } from './test-fleet.ts';

const SETTINGS = { name: 'settings', namespace: 'default' };

/** A program of some 400 bytes: 25,000 rules with 40 keys each that no rule has. */
const MANY_INVALID_RULES = `import { ApiObject } from 'cdk8s';
import { Fleet } from 'kubenode/constructs';
const fleet = new Fleet();
const connection = { credentialsRef: { name: 'test-kubeconfig' } };
const rules = fleet.cluster('test', { environment: 'test', connection }).unit('rules');
const spec = Object.fromEntries(Array.from({ length: 40 }, (_, index) => ['x' + index, 1]));
for (let index = 0; index < 25_000; index += 1) {
  const name = 'r' + index;
  new ApiObject(rules, name, { apiVersion: 'kubenode.dev/v1alpha1', kind: 'NodeRemedier', metadata: { name }, spec } as never);
}
fleet.synth();
`;

let fleet: TestFleet;
let repositories: Record<Stage, FleetRepository>;
beforeAll(async () => {
  fleet = await startTestFleet();
});
beforeEach(async () => {
  await fleet.reset();
  repositories = { test: createFleetRepository(), prod: createFleetRepository() };
});
afterAll(() => fleet.stop());

describe('two Pipelines on one hub', () => {
  it('FST-6 judges each commit against the clusters of its own repository', async () => {
    await syncBoth();
    // A removal that only the history of the own repository explains, and a bump in both.
    for (const name of STAGES) commit(name, '2', { extra: undefined });
    for (const name of STAGES) await expectState(name, { state: 'Proven' }, '2');
    for (const name of STAGES) {
      expect(await headOf(name)).toMatchObject({ commit: repositories[name].head(), verdict: 'Accepted' });
    }
  });

  it('SAF-6 leaves clusters to the Pipeline that holds them, and names it to another one', async () => {
    await syncBoth();
    // It comes first by name, and its repository declares nothing for either cluster.
    const other = createFleetRepository();
    other.commit('empty', { 'clusters/other/web/settings.yaml': configMap('settings', '9') });
    await createPipeline('intruder', { repository: other, stage: 'all', clusterSelector: { all: true } });
    await expect
      .poll(() => intruderMessage())
      .toMatch(/^Pipeline prod holds prod and keeps it: exclude prod in the clusterSelector/);
    for (const name of STAGES) commit(name, '2', { extra: undefined });
    for (const name of STAGES) await expectState(name, { state: 'Proven' }, '2');
    for (const name of STAGES) commit(name, '1', { extra: '1' });
    for (const name of STAGES) await expectState(name, { state: 'Proven' }, '1');
  });

  it('SAF-5 refuses a small commit that declares too much to judge, while the other Pipeline goes on', async () => {
    await syncBoth();
    const attack = repositories.test.commit('a million keys', { 'main.ts': MANY_INVALID_RULES });
    commit('prod', '2', { extra: undefined });
    await expectState('prod', { state: 'Proven' }, '2');
    await expect
      .poll(() => headOf('test'))
      .toMatchObject({
        commit: attack,
        verdict: 'Refused',
        message: expect.stringMatching(/^kubenode.dev\/NodeRemedier r0 of test: spec\./) as string,
      });
    expect(await versionOf('test')).toBe('1');
    repositories.test.commit('back', { 'main.ts': undefined });
    await expectState('test', { state: 'Proven' }, '1');
  });

  it('FST-6 shows clusters of deleted Pipelines as not synced any more, until one exists again', async () => {
    await syncBoth();
    await deletePipeline('test');
    // The Pipeline that is left writes the status of clusters that no stage selects.
    await expect.poll(() => syncedReason('test')).toBe('Unassigned');
    expect(await fleet.condition('prod', 'Synced')).toMatchObject({ status: 'True' });

    await deletePipeline('prod');
    await expect.poll(() => syncedReason('prod')).toBe('PipelineDeleted');
    const { message } = await fleet.condition('prod', 'Stalled');
    expect(message).toMatch(/^Pipeline prod was deleted: .* run: kubenode sync --from REPOSITORY$/);
    expect(await fleet.state('prod')).toMatchObject({ state: 'Held', message });
    expect(await versionOf('prod')).toBe('1');

    await createPipeline('prod', sourceOf('prod'));
    await expectState('prod', { state: 'Proven' }, '1');
  });
});

async function syncBoth(): Promise<void> {
  for (const name of STAGES) {
    commit(name, '1', { extra: '1' });
    await createPipeline(name, sourceOf(name));
  }
  await fleet.sync('one');
  for (const name of STAGES) await expectState(name, { state: 'Proven' }, '1');
}

function commit(name: Stage, version: string, { extra }: { readonly extra: string | undefined }): string {
  return repositories[name].commit(`version ${version}`, {
    'hub/clusters.yaml': `apiVersion: kubenode.dev/v1alpha1\nkind: Cluster\nmetadata: {name: ${name}}\nspec:\n  environment: ${name}\n  connection: {credentialsRef: {name: ${name}-kubeconfig}}\n`,
    [`clusters/${name}/web/settings.yaml`]: configMap('settings', version),
    [`clusters/${name}/web/extra.yaml`]: extra === undefined ? undefined : configMap('extra', extra),
  });
}

function configMap(name: string, version: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: default}\ndata: {version: "${version}"}\n`;
}

interface PipelineSource {
  readonly repository: FleetRepository;
  readonly stage: string;
  readonly clusterSelector: object;
}

function sourceOf(name: Stage): PipelineSource {
  const clusterSelector = { matchLabels: { 'kubenode.dev/environment': name } };
  return { repository: repositories[name], stage: name, clusterSelector };
}

async function createPipeline(
  name: string,
  { repository, stage, clusterSelector }: PipelineSource,
): Promise<void> {
  await fleet.hub.client.create(PIPELINES, {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Pipeline',
    metadata: { name },
    spec: {
      source: { repository: `file://${repository.bare}`, ref: 'refs/heads/main', pollSeconds: 1 },
      stages: [{ name: stage, clusterSelector, soakSeconds: 2 }],
    },
  });
}

async function deletePipeline(name: Stage): Promise<void> {
  const { metadata } = await fleet.hub.client.get(PIPELINES, { name });
  await fleet.hub.client.delete(PIPELINES, { name }, { uid: metadata.uid ?? '' });
}

async function expectState(name: Stage, state: { readonly state: string }, version: string): Promise<void> {
  const expected = { ...state, commit: repositories[name].head() };
  await expect.poll(() => fleet.state(name)).toMatchObject(expected);
  expect(await versionOf(name)).toBe(version);
}

/** Why the other Pipeline waits. */
async function intruderMessage(): Promise<string> {
  const { items } = await fleet.hub.client.list<Release>(RELEASES);
  const release = items.find(({ spec }) => spec.pipeline === 'intruder');
  return release?.status?.waiting?.message?.replace(/^prod: /, '') ?? '';
}

async function headOf(name: Stage): Promise<NonNullable<Pipeline['status']>['head']> {
  return (await fleet.hub.client.get<Pipeline>(PIPELINES, { name })).status?.head;
}

async function versionOf(name: Stage): Promise<unknown> {
  const { data } = await fleet.clusters[name].client.get(CONFIG_MAPS, SETTINGS);
  return (data as { version: string }).version;
}

async function syncedReason(name: Stage): Promise<string | undefined> {
  const { status } = await fleet.hub.client.get<Cluster>(CLUSTERS, { name });
  return status?.conditions.find(({ type }) => type === 'Synced')?.reason;
}
