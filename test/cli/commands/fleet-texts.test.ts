import { describe, expect, it } from 'vitest';
import type { Cluster, Pipeline, Release } from '../../../src/api/generated/types.ts';
import { ageOf, shortCommit } from '../../../src/cli/age.ts';
import { historyOf } from '../../../src/cli/commands/history.ts';
import { releasesTable, releaseText } from '../../../src/cli/commands/release/text.ts';
import { fleetStatus, statusText } from '../../../src/cli/commands/status.ts';

const NOW = new Date('2030-01-01T12:00:00Z');
const COMMIT = 'a'.repeat(40);
const OLD = 'b'.repeat(40);

const cluster = (sync: object, name = 'prod'): Cluster =>
  ({
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Cluster',
    metadata: { name },
    spec: {},
    status: { sync, conditions: [{ type: 'Synced', status: 'True' }] },
  }) as never;
const pipeline = (status: object): Pipeline =>
  ({
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Pipeline',
    metadata: { name: 'fleet' },
    spec: { stages: [{ name: 'test' }, { name: 'prod' }] },
    status,
  }) as never;
const release = (status: object, commit = COMMIT): Release =>
  ({
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Release',
    metadata: { name: `fleet-${commit.slice(0, 12)}`, creationTimestamp: '2030-01-01T11:50:00Z' },
    spec: {
      pipeline: 'fleet',
      commit,
      subject: 'shop 1.1',
      author: 'Ann',
      committedAt: '2030-01-01T11:00:00Z',
      plan: { digest: 'sha256:0', clusters: 3, changed: 2, deletes: 1 },
    },
    status,
  }) as never;

describe('ageOf', () => {
  it.each([
    ['2030-01-01T11:59:18Z', '42s'],
    ['2030-01-01T11:53:00Z', '7m'],
    ['2030-01-01T09:00:00Z', '3h'],
    ['2029-12-20T12:00:00Z', '12d'],
    ['2030-01-01T12:00:05Z', '0s'],
    ['', '-'],
    [undefined, '-'],
  ])('of %s is %s', (since, age) => {
    expect(ageOf(since, NOW)).toBe(age);
  });

  it('shortens commits as names of Releases do', () => {
    expect([shortCommit(COMMIT), shortCommit('')]).toEqual(['aaaaaaaaaaaa', '-']);
  });
});

describe('fleetStatus', () => {
  it('says what runs where, why and since when', () => {
    const report = fleetStatus({
      pipelines: [
        pipeline({
          phase: 'Promoting',
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
    expect(statusText(report, NOW)).toBe(
      'PIPELINE   PHASE       HEAD           VERDICT    SINCE   BECAUSE\n' +
        'fleet      Promoting   aaaaaaaaaaaa   Accepted   90s     prod soaks\n\n' +
        'CLUSTER   STAGE   COMMIT         STATE     SYNCED   SINCE   BECAUSE\n' +
        'prod      prod    aaaaaaaaaaaa   Soaking   True     60s     soaks until noon\n',
    );
  });

  it.each(['Failed', 'Held', 'Unreachable', 'Skipped'])(
    'calls for a person when a cluster is %s',
    (state) => {
      const { trouble } = fleetStatus({ pipelines: [], clusters: [cluster({ state, message: 'why' })] });
      expect(trouble).toEqual(['Cluster prod: why']);
    },
  );

  it('lists clusters in the order in which commits reach them', () => {
    const { clusters } = fleetStatus({
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

  it('puts the refusal of a head before what waits', () => {
    const head = {
      commit: COMMIT,
      verdict: 'RenderFailed',
      message: 'fleet/main.ts:3: broken',
      seenAt: '2030-01-01T11:59:30Z',
    };
    const { pipelines, trouble } = fleetStatus({
      pipelines: [pipeline({ phase: 'SourceFailed', head, waiting: { message: 'other' } })],
      clusters: [],
    });
    expect(pipelines[0]).toMatchObject({ because: 'fleet/main.ts:3: broken', since: '2030-01-01T11:59:30Z' });
    expect(trouble).toEqual(['Pipeline fleet: fleet/main.ts:3: broken']);
  });

  it('says that nothing is known before sync has looked', () => {
    const { clusters } = fleetStatus({
      pipelines: [],
      clusters: [{ ...cluster({}), status: undefined } as never],
    });
    expect(clusters[0]).toMatchObject({
      state: 'Unknown',
      because: 'nothing is known yet: is sync running?',
    });
  });
});

describe('releases', () => {
  const status = {
    phase: 'Waiting',
    stage: 'prod',
    clusters: { total: 3, proven: 2 },
    waiting: { reason: 'ApprovalRequired', since: '2030-01-01T11:55:00Z', message: 'prod wants an approval' },
    stages: [
      { name: 'pre', state: 'Proven', provenAt: '2030-01-01T11:55:00Z', clusters: { total: 1, proven: 1 } },
      {
        name: 'prod',
        state: 'Waiting',
        waiting: { since: '2030-01-01T11:55:00Z', message: 'prod wants an approval' },
        clusters: { total: 2 },
      },
    ],
    failedClusters: [
      { name: 'p1', stage: 'prod', reason: 'Invalid', since: '2030-01-01T11:59:00Z', message: 'spec.x' },
    ],
  };

  it('stand in a table with what they wait for', () => {
    expect(releasesTable([release(status)], NOW).rows).toEqual([
      ['fleet-aaaaaaaaaaaa', 'Waiting', 'prod', '2/3', '10m', 'shop 1.1', 'prod wants an approval'],
    ]);
  });

  it('are told stage by stage', () => {
    expect(releaseText(release(status), NOW)).toBe(
      `fleet-aaaaaaaaaaaa: Waiting\n  commit   ${COMMIT}\n  subject  shop 1.1 (Ann, 60m ago)\n` +
        '  plan     2 of 3 clusters change, 1 objects go, sha256:0\n' +
        '  waits    ApprovalRequired since 5m: prod wants an approval\n\n' +
        'STAGE   STATE     PROVEN   FAILED   SINCE   BECAUSE\n' +
        'pre     Proven    1/1      0        5m\n' +
        'prod    Waiting   0/2      0        5m      prod wants an approval\n\n' +
        'FAILED CLUSTER   STAGE   REASON    SINCE   MESSAGE\n' +
        'p1               prod    Invalid   60s     spec.x\n',
    );
  });
});

describe('historyOf', () => {
  it('begins with what runs now, and does not repeat it', () => {
    const proven = [
      { commit: COMMIT, digest: 'sha256:1', provenAt: 'x' },
      { commit: OLD, digest: 'sha256:0', provenAt: 'y' },
    ];
    const lines = historyOf(
      cluster({ commit: COMMIT, state: 'Proven', since: 'now', renderedDigest: 'sha256:1', proven }),
      [release({}, OLD)],
    );
    expect(lines.map(({ commit, state, subject }) => [commit, state, subject])).toEqual([
      [COMMIT, 'Proven', '-'],
      [OLD, 'Proven', 'shop 1.1'],
    ]);
  });

  it('is empty for a cluster that nothing was applied to', () => {
    expect(historyOf(cluster({}), [])).toEqual([]);
  });
});
