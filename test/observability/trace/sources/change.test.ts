import { describe, expect, it } from 'vitest';
import type { Cluster, CommitRun, Release, ReleaseStatus } from '../../../../src/api/generated/types.ts';
import {
  changeTrace,
  endedChange,
  releasesOfChange,
} from '../../../../src/observability/trace/sources/change.ts';
import { spansOf } from '../../../../src/observability/trace/spans.ts';
import { changeSpan } from '../../../../src/observability/trace/trace.ts';
import { later } from '../../../controllers/remedyjob/jobs.ts';
import { NOW } from '../../../support/virtual-clock.ts';

const COMMIT = 'a'.repeat(40);

function releaseWith(status: Partial<ReleaseStatus>, pipeline = 'fleet'): Release {
  return {
    metadata: { name: `${pipeline}-${COMMIT.slice(0, 12)}`, creationTimestamp: later(20) },
    spec: {
      pipeline,
      commit: COMMIT,
      subject: 'kubelet 1.34.2',
      committedAt: later(0),
      plan: { digest: 'd', clusters: 3, changed: 3 },
    },
    status: { conditions: [], ...status },
  } as unknown as Release;
}

function clusterWith(name: string, run: Partial<CommitRun>, stage = 'test'): Cluster {
  const history = [{ commit: COMMIT, pipeline: 'fleet', stage, startedAt: later(30), ...run }];
  return { metadata: { name }, status: { sync: { history } } } as unknown as Cluster;
}

const PROVEN: Partial<ReleaseStatus> = {
  finishedAt: later(300),
  stages: [
    {
      name: 'test',
      state: 'Proven',
      startedAt: later(30),
      provenAt: later(100),
      clusters: { total: 1, proven: 1 },
    },
    {
      name: 'prod',
      state: 'Proven',
      startedAt: later(110),
      provenAt: later(300),
      clusters: { total: 2, proven: 2 },
    },
  ],
};
const CLUSTERS = [
  clusterWith('t-1', { state: 'Proven', provenAt: later(100) }),
  clusterWith('p-1', { state: 'Proven', startedAt: later(110), provenAt: later(290) }, 'prod'),
  clusterWith('p-2', { state: 'Proven', startedAt: later(120), provenAt: later(300) }, 'prod'),
];

/** Each span as `name start-end`, in seconds after NOW, with its failure. */
function shown(releases: readonly Release[], clusters: readonly Cluster[]): readonly string[] {
  const [first = releaseWith({})] = releases;
  return spansOf(changeTrace(first, { releases, clusters })).map(
    ({ name, startMs, endMs, attributes, error }) => {
      const [start, end] = [startMs, endMs].map((ms) => (ms - NOW.getTime()) / 1000);
      const about =
        name === 'cluster'
          ? attributes['k8s.cluster.name']
          : name === 'stage'
            ? attributes['kubenode.stage']
            : '';
      return `${name} ${about ? `${String(about)} ` : ''}${start}-${end}${error === undefined ? '' : ` (${error})`}`;
    },
  );
}

describe('DAT-10 the trace of a commit', () => {
  it('goes from the commit over the stages and their clusters to the last proof', () => {
    expect(shown([releaseWith(PROVEN)], CLUSTERS)).toEqual([
      'change 0-300',
      'release 0-300',
      'accept and render 0-20',
      'stage test 30-100',
      'cluster t-1 30-100',
      'stage prod 110-300',
      'cluster p-1 110-290',
      'cluster p-2 120-300',
    ]);
  });

  it('has the cluster that failed as its reason, and ends where a newer commit replaced it', () => {
    const failed: Partial<ReleaseStatus> = {
      finishedAt: later(200),
      supersededBy: 'fleet-b',
      stages: [
        { name: 'test', state: 'Superseded', startedAt: later(30), failedAt: later(90) },
        { name: 'prod', state: 'Superseded' },
      ],
      failedClusters: [{ name: 't-1', stage: 'test', reason: 'Unhealthy', message: 'Deployment shop' }],
    };
    const clusters = [
      clusterWith('t-1', {
        state: 'Failed',
        reason: 'Unhealthy',
        message: 'Deployment shop',
        endedAt: later(200),
      }),
    ];
    expect(shown([releaseWith(failed)], clusters)).toEqual([
      'change 0-200 (Unhealthy: kubelet 1.34.2)',
      'release 0-200 (Unhealthy: Deployment shop)',
      'accept and render 0-20',
      'stage test 30-200 (StageFailed)',
      'cluster t-1 30-200 (Unhealthy: Deployment shop)',
    ]);
  });

  it('has no cluster of another commit, Pipeline or stage', () => {
    const others = [
      clusterWith('x-1', { commit: 'b'.repeat(40) }),
      clusterWith('x-2', { pipeline: 'other' }),
      clusterWith('x-3', {}, 'elsewhere'),
      { metadata: { name: 'x-4' } } as unknown as Cluster,
    ];
    expect(shown([releaseWith(PROVEN)], others).filter((each) => each.startsWith('cluster'))).toEqual([]);
  });

  it('is exported for each Release, and the commit itself with the last of them', () => {
    const [one, other] = [releaseWith(PROVEN), releaseWith({ finishedAt: later(900) }, 'other')];
    const open = releaseWith({}, 'other');
    const keys = (release: Release, releases: readonly Release[]): readonly string[] =>
      endedChange(release, { releases, clusters: [] }).map(({ key }) => key.replace(COMMIT, 'C'));
    expect(keys(open, [one, open])).toEqual([]);
    expect(keys(one, [one, open])).toEqual(['release/fleet/C']);
    expect(keys(other, [one, other])).toEqual(['release/other/C', `change/C/${later(900)}`]);
    const [release, change] = endedChange(other, { releases: [one, other], clusters: [] }).map(({ trace }) =>
      spansOf(trace()),
    );
    const { traceId, spanId } = changeSpan(COMMIT);
    expect(change).toMatchObject([{ traceId, spanId, name: 'change' }]);
    expect(release?.[0]).toMatchObject({ traceId, parentSpanId: spanId, name: 'release' });
  });

  it('begins with the Release where the time of the commit is not known', () => {
    const release = releaseWith(PROVEN);
    const { committedAt: _, ...spec } = release.spec;
    expect(shown([{ ...release, spec }], [])[0]).toBe('change 20-300');
  });

  it.each<[name: string, seconds: number]>([
    ['was ahead of that of the hub', 600],
    ['is of more than a day before', -86_400],
  ])('begins with the Release where the time of the commit %s, and has that time', (_, seconds) => {
    const release = releaseWith(PROVEN);
    const releases = [{ ...release, spec: { ...release.spec, committedAt: later(seconds) } }];
    expect(shown(releases, CLUSTERS).slice(0, 5)).toEqual([
      'change 20-300',
      'release 20-300',
      'accept and render 20-20',
      'stage test 30-100',
      'cluster t-1 30-100',
    ]);
    const [change, own] = spansOf(changeTrace(releases[0] ?? release, { releases, clusters: [] }));
    for (const span of [change, own]) {
      expect(span?.attributes).toMatchObject({
        'kubenode.time_adjusted': true,
        'kubenode.commit.committed_at': later(seconds),
      });
    }
  });

  it('has other span IDs for a Release that was created again', () => {
    expect(spanOf('uid-1')).toBe(spanOf('uid-1'));
    expect(spanOf('uid-1')).not.toBe(spanOf('uid-2'));
  });

  it('has all Releases of the commit that change a cluster, and the one that was asked for', () => {
    const [own, other] = [releaseWith(PROVEN), releaseWith(PROVEN, 'other')];
    const plan = { digest: 'd', clusters: 3, changed: 0 };
    const unchanged = releaseWith({}, 'unchanged');
    const idle = { ...unchanged, spec: { ...unchanged.spec, plan } };
    const elsewhere = { ...other, spec: { ...other.spec, commit: 'b'.repeat(40) } };
    expect(releasesOfChange(own, [elsewhere, idle, other, own])).toEqual([own, other]);
    expect(releasesOfChange(idle, [idle, other])).toEqual([idle, other]);
  });
});

/** The span ID of a Release with this UID. */
function spanOf(uid: string): string | undefined {
  const { metadata, ...release } = releaseWith(PROVEN);
  const own = { ...release, metadata: { ...metadata, uid } };
  const [{ trace } = {}] = endedChange(own, { releases: [own], clusters: [] });
  return trace && spansOf(trace())[0]?.spanId;
}
