import { describe, expect, it } from 'vitest';
import type { HubObjects } from '../../../src/views/status/hub-objects.ts';
import {
  formatHubStatus,
  type HubStatus,
  summarizeHub as summarize,
} from '../../../src/views/status/hub-status.ts';
import { COMMIT, cluster, NOW, pipeline, release } from '../../cli/commands/builders.ts';
import { condition } from '../../support/builders.ts';

const SOURCE_READY = condition('SourceReady', 'True');

function summarizeHub(hub: Partial<HubObjects>, unsynced: readonly string[] = []): HubStatus {
  return summarize({ pipelines: [], clusters: [], releases: [], ...hub }, { now: NOW, unsynced });
}

describe('summarizeHub', () => {
  it('names each unit and object that a person paused, also while it matches git', () => {
    const pause = { name: 'release-halt.shop', unit: 'shop', by: 'anna', reason: 'ticket 7' };
    const { unit: _unit, ...whole } = pause;
    const ofObject = { ...whole, name: 'x', object: 'Deployment/shop/web' };
    const over = { ...pause, name: 'over', unit: 'web', until: '2030-01-01T11:00:00Z' };
    const pauses = [pause, over, ofObject];
    const paused = { ...cluster({ state: 'Proven' }), spec: { pauses } } as never;
    const { notes, trouble } = summarizeHub({ pipelines: [pipeline({})], clusters: [paused] });
    expect(notes).toEqual([
      'Cluster prod: unit shop is paused: to resume it, run kubenode release resume <pipeline> --cluster prod --unit shop; paused by anna: ticket 7',
      'Cluster prod: object Deployment/shop/web is paused: to resume it, run kubenode release resume <pipeline> --cluster prod --object Deployment/shop/web; paused by anna: ticket 7',
    ]);
    expect(trouble).toEqual([]);
  });

  it('summarizes what each pipeline and cluster runs, why and since when', () => {
    const report = summarizeHub({
      pipelines: [
        pipeline({
          conditions: [SOURCE_READY],
          head: { commit: COMMIT, verdict: 'Accepted' },
          waiting: { message: 'prod soaks', since: '2030-01-01T11:58:30Z' },
        }),
      ],
      clusters: [
        cluster({
          stage: 'prod',
          commit: COMMIT,
          state: 'Soaking',
          since: '2030-01-01T11:59:00Z',
          message: 'soaks until noon',
        }),
      ],
    });
    expect(report.trouble).toEqual([]);
    expect(formatHubStatus(report, NOW)).toBe(
      'PIPELINE   PHASE       HEAD           VERDICT    SINCE   BECAUSE\n' +
        'fleet      Promoting   aaaaaaaaaaaa   Accepted   90s     prod soaks\n\n' +
        'CLUSTER   STAGE   COMMIT         STATE     SYNCED   HEALTH    SINCE   BECAUSE\n' +
        'prod      prod    aaaaaaaaaaaa   Soaking   True     Unknown   60s     soaks until noon\n',
    );
  });

  it('does not tell that a pipeline waits for nothing before sync has observed it', () => {
    const { pipelines } = summarizeHub({
      pipelines: [pipeline({}), pipeline({ conditions: [SOURCE_READY, condition('Promoted', 'True')] })],
    });
    expect(pipelines.map(({ because }) => because)).toEqual([
      'not observed yet: check that kubenode sync is running',
      'nothing to wait for',
    ]);
  });

  it('wraps the last column on a terminal', () => {
    const head = { commit: COMMIT, verdict: 'RenderFailed', message: 'no stage is named prod '.repeat(4) };
    const report = summarizeHub({ pipelines: [pipeline({ head })], clusters: [cluster({ message: 'ok' })] });
    const wrapped = formatHubStatus(report, NOW, 80);
    expect(wrapped.split('\n').filter((line) => line.length > 80)).toEqual([]);
    // What takes more lines than one has no title.
    const [words, expected] = [wrapped, formatHubStatus(report, NOW)].map((text) =>
      text.replaceAll('BECAUSE', '').split(/\s+/),
    );
    expect(words).toEqual(expected);
  });

  it.each(['Failed', 'Held', 'Unreachable', 'Skipped'])(
    'reports a cluster in state %s as trouble',
    (state) => {
      const { trouble } = summarizeHub({ pipelines: [], clusters: [cluster({ state, message: 'why' })] });
      expect(trouble).toEqual(['Cluster prod: why']);
    },
  );

  it('shows a message of several lines in its row', () => {
    const head = { commit: COMMIT, verdict: 'RenderFailed', message: 'a.ts:3: broken\nb.ts:4: broken' };
    const report = summarizeHub({ pipelines: [pipeline({ head })], clusters: [] });
    expect(formatHubStatus(report, NOW)).toContain('a.ts:3: broken; b.ts:4: broken\n');
  });

  it('lists clusters in the order in which commits reach them', () => {
    const { clusters } = summarizeHub({
      pipelines: [pipeline({})],
      clusters: [
        cluster({}, 'alone'),
        cluster({ stage: 'prod' }, 'a'),
        cluster({ stage: 'test' }, 'z'),
        cluster({ stage: 'test' }, 'y'),
      ],
    });
    expect(clusters.map(({ name }) => name)).toEqual(['y', 'z', 'a', 'alone']);
  });

  it('prefers the refusal of a head to what the pipeline is waiting for', () => {
    const head = {
      commit: COMMIT,
      verdict: 'RenderFailed',
      message: 'fleet/main.ts:3: broken',
      seenAt: '2030-01-01T11:59:30Z',
    };
    const { pipelines, trouble } = summarizeHub({
      pipelines: [
        pipeline({ conditions: [condition('SourceReady', 'False')], head, waiting: { message: 'other' } }),
      ],
      clusters: [],
    });
    expect(pipelines[0]).toMatchObject({ because: 'fleet/main.ts:3: broken', since: '2030-01-01T11:59:30Z' });
    expect(trouble).toEqual(['Pipeline fleet: fleet/main.ts:3: broken']);
  });

  it('shows that objects of the hub are held, although every cluster is up to date', () => {
    const held = {
      type: 'Held',
      status: 'True',
      reason: 'DeletesHeld',
      message: "the hub's own objects: held",
      lastTransitionTime: '2030-01-01T11:58:00Z',
    };
    const { pipelines, trouble } = summarizeHub({
      pipelines: [pipeline({ conditions: [held], waiting: { message: 'prod soaks' } })],
      clusters: [],
    });
    expect(pipelines[0]).toMatchObject({ because: held.message, since: held.lastTransitionTime });
    expect(trouble).toEqual([`Pipeline fleet: ${held.message}`]);
  });

  it('FST-1 begins with a pipeline that nothing syncs, which is trouble', () => {
    const reason = 'nothing syncs pipeline fleet: why. Start it: kubenode sync';
    const status = summarizeHub({ pipelines: [pipeline({})], clusters: [] }, [reason]);
    expect(status.trouble).toEqual([reason]);
    expect(formatHubStatus(status, NOW)).toMatch(
      /^nothing syncs pipeline fleet: why.*\nThe status below is the last that was recorded\.\n\nPIPELINE /,
    );
  });

  it('FST-6 shows that clusters of a deleted pipeline are not synced, even while no process records it', () => {
    const assigned = { pipeline: 'fleet', mode: 'Apply' } as const;
    const proven = cluster({ stage: 'prod', state: 'Proven', message: 'proven' });
    const left = { ...proven, status: { conditions: [], ...proven.status, assigned } };
    const deleted = summarizeHub({ clusters: [left] });
    expect(deleted.clusters).toMatchObject([{ state: 'Held', synced: 'Unknown' }]);
    expect(deleted.trouble).toEqual([
      expect.stringMatching(/^Cluster prod: Pipeline fleet was deleted: .*kubenode sync --from REPOSITORY$/),
    ]);
    expect(summarizeHub({ pipelines: [pipeline({})], clusters: [left] }).trouble).toEqual([]);
  });

  it('SAF-19 shows deletes that are held in a cluster whose content is proven', () => {
    const proven = cluster({ state: 'Proven', message: 'proven' });
    const message = 'acknowledge unit web with planDigest sha256:1';
    const synced = condition('Synced', 'False', { reason: 'DeletesHeld', message });
    const held = { ...proven, status: { ...proven.status, conditions: [synced] } };
    const { clusters, trouble } = summarizeHub({ pipelines: [pipeline({})], clusters: [held] });
    expect(clusters).toMatchObject([{ state: 'Held', since: synced.lastTransitionTime }]);
    expect(trouble).toEqual([`Cluster prod: ${message}`]);
  });

  it('names what endangers machines first, and shows their health beside the state of the commit', () => {
    const proven = cluster({ stage: 'prod', state: 'Proven', message: 'proven' });
    const message = '3 of 6 machines are unhealthy: m-4, m-5, m-6 Unreachable';
    const conditions = [
      condition('Reachable', 'True'),
      condition('Synced', 'True'),
      condition('Healthy', 'True'),
      condition('MachinesReady', 'False', { message }),
    ];
    const machines = { total: 6, ready: 3, unhealthy: 3 };
    const status = summarizeHub({
      clusters: [{ ...proven, status: { ...proven.status, conditions, machines } }],
    });
    expect(status.trouble).toEqual([]);
    expect(status.incidents).toEqual([`Cluster prod: ${message}. kubenode machine list --context prod`]);
    const text = formatHubStatus(status, NOW);
    expect(text.indexOf(message)).toBeLessThan(text.indexOf('no pipelines'));
    expect(text).toMatch(/Proven +True +Unhealthy, 3\/6/);
  });

  it('notes what is not healthy yet in a cluster whose commit is proven', () => {
    const proven = cluster({ stage: 'prod', state: 'Proven', message: 'proven' });
    const pending = condition('Healthy', 'Unknown', { message: 'MachineSet general: 3 of 6' });
    const conditions = [condition('Reachable', 'True'), pending];
    const { notes, incidents } = summarizeHub({
      clusters: [{ ...proven, status: { ...proven.status, conditions } }],
    });
    expect([notes, incidents]).toEqual([['Cluster prod: not healthy yet: MachineSet general: 3 of 6'], []]);
  });

  it('FST-7 calls a release that needs an approval trouble, until it has ended', () => {
    const waiting = { reason: 'ApprovalRequired', message: 'stage prod needs an approval' };
    const open = release({ phase: 'Waiting', waiting });
    expect(summarizeHub({ releases: [open] }).trouble).toEqual([
      'Release fleet-aaaaaaaaaaaa: stage prod needs an approval',
    ]);
    for (const status of [
      { waiting, finishedAt: '2030-01-01T11:00:00Z' },
      { waiting: { ...waiting, reason: 'Soaking' } },
    ]) {
      expect(summarizeHub({ releases: [release(status)] }).trouble).toEqual([]);
    }
  });

  it('shows below the tables that earlier gates apply, without calling it trouble', () => {
    const status = summarizeHub({
      pipelines: [pipeline({ gates: { judging: { commits: [COMMIT], gates: {} } } })],
      clusters: [],
    });
    expect(status.trouble).toEqual([]);
    expect(formatHubStatus(status, NOW)).toMatch(
      /no clusters\n\nPipeline fleet: earlier gates apply to commit aaaaaaaaaaaa: .*\n$/,
    );
  });

  it('reports a cluster that sync has not observed yet as Unknown', () => {
    const { clusters } = summarizeHub({
      pipelines: [],
      clusters: [{ ...cluster({}), status: undefined } as never],
    });
    expect(clusters[0]).toMatchObject({
      state: 'Unknown',
      because: 'not observed yet: check that kubenode sync is running',
    });
  });
});
