import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { PIPELINES } from '../../../src/api/generated/resources.ts';
import type { Pipeline, Stage as PipelineStage } from '../../../src/api/generated/types.ts';
import { MANAGER_SYNC } from '../../../src/api/names.ts';
import { STAGES, startTestFleet, type TestFleet } from './test-fleet.ts';

const NAME = { name: 'fleet' };

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await startTestFleet();
});
beforeEach(() => fleet.reset());
afterAll(() => fleet.stop());

it('S36, SAF-9 judges a commit by the Pipeline in force before it', async () => {
  const first = fleet.commit('1', 'first');
  await fleet.pipeline();
  await ownPipeline();
  await fleet.sync('one');
  await fleet.allProven(first);
  const guarded = fleet.commitFiles('guard prod', { 'hub/pipelines.yaml': await pipelineYaml('Required') });
  await fleet.allProven(guarded);

  // The commit that removes the approval brings other content as well.
  const open = fleet.commitFiles('open prod', {
    'hub/pipelines.yaml': await pipelineYaml('None'),
    ...Object.fromEntries(STAGES.map((name) => [`clusters/${name}/web/objects.yaml`, settings('2')])),
  });
  await expect.poll(async () => (await fleet.stageOf(open, 'prod')).waiting?.reason).toBe('ApprovalRequired');
  const { spec, status } = await pipelineInHub();
  expect(spec.stages.map(({ approval }) => approval)).toEqual(['None', 'None']);
  expect(status?.gates?.judging?.commits).toContain(open);
  expect(await fleet.versions()).toEqual(['2', '1']);

  const next = fleet.commit('3', 'next');
  await fleet.allProven(next);
  expect(await fleet.versions()).toEqual(['3', '3']);
  expect((await pipelineInHub()).status?.gates?.judging).toBeUndefined();
});

/** As `sync --from` creates it: the first commit may change it. */
async function ownPipeline(): Promise<void> {
  const { client } = fleet.hub;
  const { apiVersion, kind, metadata, spec } = await pipelineInHub();
  await client.delete(PIPELINES, NAME, { uid: metadata.uid ?? '' });
  const { source, stages } = spec;
  await client.apply(
    PIPELINES,
    { apiVersion, kind, metadata: NAME, spec: { source, stages } },
    { fieldManager: MANAGER_SYNC },
  );
}

function pipelineInHub(): Promise<Pipeline> {
  return fleet.hub.client.get<Pipeline>(PIPELINES, NAME);
}

/** YAML is a superset of JSON. */
async function pipelineYaml(approval: PipelineStage['approval']): Promise<string> {
  const { apiVersion, kind, spec } = await pipelineInHub();
  const stages = spec.stages.map((stage) => ({
    ...stage,
    approval: stage.name === 'prod' ? approval : 'None',
  }));
  return `${JSON.stringify({ apiVersion, kind, metadata: NAME, spec: { source: spec.source, stages } })}\n`;
}

function settings(version: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: default}\ndata: {version: "${version}"}\n`;
}
