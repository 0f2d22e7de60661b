import { expect, it } from 'vitest';
import { stageColumns } from '../../../../src/console/state/pages/stage-columns.ts';
import type { CommitStageView, CommitView } from '../../../../src/views/release/commit-view.ts';

const STAGE: Omit<CommitStageView, 'name'> = { state: 'Waiting', proven: 0, total: 0, plan: '', because: '' };

/** `fleet: test prod`. */
function release(text: string): Pick<CommitView, 'pipeline' | 'stages'> {
  const [pipeline = '', names = ''] = text.split(': ');
  return { pipeline, stages: names.split(' ').map((name) => ({ name, ...STAGE })) };
}

it.each<[what: string, releases: readonly string[], clusters: readonly string[], expected: string]>([
  [
    'those of the clusters without a Release',
    [],
    ['fleet/test', 'fleet/prod', 'fleet/prod'],
    'fleet/test fleet/prod',
  ],
  [
    'a stage without clusters in its place',
    ['fleet: canary test prod'],
    ['fleet/test', 'fleet/prod'],
    'fleet/canary fleet/test fleet/prod',
  ],
  [
    'a stage that only an older Release has after the one before it',
    ['fleet: test prod', 'fleet: test pre prod'],
    ['fleet/prod'],
    'fleet/test fleet/pre fleet/prod',
  ],
  [
    'a stage that is new and that no Release has reached yet',
    ['fleet: test'],
    ['fleet/test', 'fleet/prod'],
    'fleet/test fleet/prod',
  ],
  [
    'two stages of the same name by Pipeline',
    ['edge: test prod', 'fleet: test prod'],
    ['fleet/test', 'edge/test', 'fleet/prod'],
    'fleet/test fleet/prod edge/test edge/prod',
  ],
  ['clusters without a stage last', ['fleet: test'], ['fleet/test', '/no stage'], 'fleet/test /no stage'],
  ['nothing of an empty fleet', [], [], ''],
])('has %s', (_, releases, clusters, expected) => {
  const places = clusters.map((text) => {
    const [pipeline = '', stage = ''] = text.split('/');
    return { pipeline, stage };
  });
  const columns = stageColumns(releases.map(release), places);
  expect(columns.map(({ pipeline, stage }) => `${pipeline}/${stage}`).join(' ')).toBe(expected);
});
