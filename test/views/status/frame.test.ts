import { describe, expect, it } from 'vitest';
import { hubFrame } from '../../../src/views/status/frame.ts';
import { type ClusterRow, type HubStatus, summarizeHub } from '../../../src/views/status/hub-status.ts';
import { COMMIT, cluster, NOW, OLD_COMMIT, pipeline } from '../../cli/commands/builders.ts';
import { condition } from '../../support/builders.ts';

const SIZE = { now: NOW, columns: 80, makeRunnable: (text: string) => text };

const FLEET = pipeline({
  conditions: [condition('SourceReady', 'True')],
  head: { commit: COMMIT, verdict: 'Accepted' },
  waiting: { message: 'stage prod waits for 2 clusters', since: '2030-01-01T11:58:30.123Z' },
});

const STATES: readonly (readonly [string, object])[] = [
  [
    'prod-us',
    { stage: 'prod', state: 'Proven', commit: OLD_COMMIT, since: '2030-01-01T09:00:00Z', message: 'healthy' },
  ],
  [
    'prod-eu',
    { stage: 'prod', state: 'Proven', commit: OLD_COMMIT, since: '2030-01-01T09:00:01Z', message: 'healthy' },
  ],
  [
    'test-1',
    {
      stage: 'test',
      state: 'Soaking',
      commit: COMMIT,
      since: '2030-01-01T11:59:00.456Z',
      message: 'soaks until 2030-01-01T12:04:00.789Z',
    },
  ],
  [
    'test-2',
    {
      stage: 'test',
      state: 'Failed',
      commit: COMMIT,
      since: '2030-01-01T11:59:50Z',
      message:
        'apps/Deployment web/frontend: the image registry.example.com/web/frontend:1.1.0 cannot be pulled (fleet/web.ts:12)',
    },
  ],
];

function hub(unsynced: readonly string[] = []): HubStatus {
  const clusters = STATES.map(([name, sync]) => {
    const each = cluster(sync, name);
    return {
      ...each,
      status: { conditions: [], ...each.status, assigned: { pipeline: 'fleet', mode: 'Apply' as const } },
    };
  });
  const status = summarizeHub({ pipelines: [FLEET], clusters, releases: [] }, { now: NOW, unsynced });
  return { ...status, clusters: status.clusters.map(inSync) };
}

/** All but the failed one. */
function inSync(row: ClusterRow): ClusterRow {
  return { ...row, synced: row.state === 'Failed' ? 'False' : 'True' };
}

const textOf = (status: HubStatus, columns = 80): string[] =>
  hubFrame(status, { ...SIZE, columns }).map(({ text }) => text);

describe('hubFrame', () => {
  it('shows stages in order, equal clusters together, and ages', () => {
    expect(textOf(hub())).toEqual([
      'fleet: Promoting 89s, head aaaaaaaaaaaa Accepted',
      '    stage prod waits for 2 clusters',
      '  test: 2 clusters',
      '    Soaking       59s  aaaaaaaaaaaa  test-1',
      '      soaks for another 4m',
      '    Failed        10s  aaaaaaaaaaaa  test-2, not in sync',
      '      apps/Deployment web/frontend: the image',
      '      registry.example.com/web/frontend:1.1.0 cannot be pulled (fleet/web.ts:12)',
      '  prod: 2 clusters',
      '    Proven         3h  bbbbbbbbbbbb  prod-eu and prod-us',
    ]);
  });

  it.each([80, 60, 120])('fits into %d columns, breaks no word, and shows no milliseconds', (columns) => {
    const lines = textOf(hub(), columns);
    expect(lines.filter((line) => line.length > columns)).toEqual([]);
    expect(lines.join(' ')).toContain('registry.example.com/web/frontend:1.1.0');
    expect(lines.join('\n')).not.toMatch(/\d\.\d{3}Z|\dms\b/);
  });

  it('names the clusters on 40 columns, below their state', () => {
    const lines = textOf(hub(), 40);
    expect(lines.filter((line) => line.length > 40)).toEqual([]);
    expect(lines.slice(4, 6)).toEqual(['    Soaking       59s  aaaaaaaaaaaa', '      test-1']);
    expect(lines.join('\n')).toContain('      prod-eu and prod-us');
  });

  it('marks what is good, what goes on and what needs a person', () => {
    const tones = hubFrame(hub(), SIZE).flatMap(({ text, tone }) =>
      tone ? [[text.trim().split(/\s/)[0], tone]] : [],
    );
    expect(tones).toEqual([
      ['fleet:', 'busy'],
      ['Soaking', 'busy'],
      ['Failed', 'bad'],
      ['Proven', 'good'],
    ]);
  });

  it('marks a proven cluster as good only while it is in sync', () => {
    const { clusters, ...rest } = hub();
    const drifted = clusters.map((row) => ({ ...row, synced: 'Unknown' }));
    const proven = hubFrame({ ...rest, clusters: drifted }, SIZE).find(({ text }) => text.includes('Proven'));
    expect(proven?.tone).toBe('busy');
  });

  it('begins with a pipeline that nothing syncs, with a command that runs here', () => {
    const frame = hubFrame(hub(['nothing syncs pipeline fleet: why. Start it: kubenode sync']), {
      ...SIZE,
      makeRunnable: (text) => text.replace('kubenode sync', 'npx kubenode sync'),
    });
    expect(frame.slice(0, 3)).toEqual([
      { text: 'nothing syncs pipeline fleet: why. Start it: npx kubenode sync', tone: 'bad' },
      { text: '' },
      { text: 'The status below is the last that was recorded.' },
    ]);
  });

  it('shows clusters that no pipeline selects, and how to create one', () => {
    const status = summarizeHub(
      { pipelines: [], clusters: [cluster({}, 'alone')], releases: [] },
      { now: NOW },
    );
    expect(textOf(status).slice(0, 4)).toEqual([
      'no pipelines: create them with kubenode sync --from REPOSITORY',
      '',
      '  no stage: 1 cluster',
      '    Unknown         -  -             alone',
    ]);
  });
});
