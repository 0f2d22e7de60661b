import { describe, expect, it } from 'vitest';
import type { Pipeline, Release, ReleaseStage } from '../../../../src/api/generated/types.ts';
import type { DeliveryEvent } from '../../../../src/observability/metrics/delivery.ts';
import { createCommitHistory } from '../../../../src/sync/promote/commit-history.ts';
import { deliveryEvents } from '../../../../src/sync/promote/release/delivery.ts';
import { orderReleases } from '../../../../src/sync/promote/release/order.ts';

const at = (minutes: number): string => new Date(Date.UTC(2030, 0, 1) + minutes * 60_000).toISOString();

/** `test=Proven:10:20 prod=Failed:30::40`: state, then the minutes of the start, the proof and the failure. */
function stagesOf(text: string): readonly ReleaseStage[] {
  return text.split(' ').flatMap((word): readonly ReleaseStage[] => {
    const [name = '', rest = ''] = word.split('=');
    const [state, ...times] = rest.split(':');
    const [startedAt, provenAt, failedAt] = times.map((time) => (time === '' ? undefined : at(Number(time))));
    if (name === '') return [];
    const stage = { name, state: state as ReleaseStage['state'], clusters: { total: 2 } };
    return [
      {
        ...stage,
        ...(startedAt && { startedAt }),
        ...(provenAt && { provenAt }),
        ...(failedAt && { failedAt }),
      },
    ];
  });
}

interface ReleaseParts {
  readonly committed?: number | 'unknown';
  readonly revertOf?: string;
  readonly changed?: number;
}

function releaseOf(commit: string, stages: string, parts: ReleaseParts = {}): Release {
  const { committed = 0, revertOf, changed = 1 } = parts;
  const recorded = stagesOf(stages);
  const startedAt = recorded.find((stage) => stage.startedAt !== undefined)?.startedAt;
  return {
    metadata: { name: `fleet-${commit}` },
    spec: {
      pipeline: 'fleet',
      commit,
      plan: { changed },
      ...(committed !== 'unknown' && { committedAt: at(committed) }),
      ...(revertOf && { revertOf }),
    },
    status: { conditions: [], stages: recorded, ...(startedAt && { startedAt }) },
  } as unknown as Release;
}

interface Case extends ReleaseParts {
  readonly before?: string;
  readonly after: string;
  /** Older Releases: c1, c2, …; the update is of the last one. */
  readonly older?: readonly Release[];
  readonly pipelineCreated?: number;
}

function eventsOf({ before = '', after, older = [], pipelineCreated, ...parts }: Case): readonly string[] {
  const release = releaseOf('new', before, parts);
  const all = [...older, release];
  const history = createCommitHistory(all.map(({ spec }) => ({ id: spec.commit })));
  const metadata = {
    name: 'fleet',
    ...(pipelineCreated !== undefined && { creationTimestamp: at(pipelineCreated) }),
  };
  const stages = stagesOf(after);
  const finishedAt = stages.at(-1)?.provenAt;
  const status = { conditions: [], stages, ...(finishedAt && { finishedAt }) };
  const pipeline = { metadata } as unknown as Pipeline;
  return deliveryEvents({
    pipeline,
    releases: orderReleases(all, history),
    update: { release, status },
  }).map(textOf);
}

function textOf(event: DeliveryEvent): string {
  if (event.type === 'Restored') return `Restored ${event.seconds / 60}`;
  const lead = event.leadSeconds === undefined ? '' : ` ${event.leadSeconds / 60}`;
  return event.type === 'Stage' ? `${event.stage} ${event.event}${lead}` : `Release ${event.event}${lead}`;
}

const STARTED = 'test=Promoting:10';
const FAILED = releaseOf('bad', 'test=Proven:1:5 prod=Superseded:10::20');
const GOOD = releaseOf('good', 'test=Proven:1:5 prod=Proven:10:20');

describe('deliveryEvents', () => {
  it.each<[name: string, given: Case, want: readonly string[]]>([
    ['counts a start once', { after: STARTED }, ['test Started', 'Release Started']],
    ['counts nothing that was recorded before', { before: STARTED, after: STARTED }, []],
    [
      'counts a stage that is proven, with the time since the commit',
      { committed: 4, before: STARTED, after: 'test=Proven:10:20 prod=Pending' },
      ['test Proven 16'],
    ],
    [
      'counts the whole fleet with its last stage',
      { before: 'test=Proven:10:20 prod=Soaking:30', after: 'test=Proven:10:20 prod=Proven:30:60' },
      ['prod Proven 60', 'Release Proven 60'],
    ],
    [
      'counts stages that are proven at once',
      { after: 'test=Proven:10:10' },
      ['test Started', 'test Proven 10', 'Release Started', 'Release Proven 10'],
    ],
    [
      'knows no lead time of a commit that is older than its Pipeline',
      { pipelineCreated: 5, before: STARTED, after: 'test=Proven:10:20' },
      ['test Proven', 'Release Proven'],
    ],
    [
      'knows no lead time without the time of the commit',
      { committed: 'unknown', before: STARTED, after: 'test=Proven:10:20' },
      ['test Proven', 'Release Proven'],
    ],
    [
      'has no negative lead time of a clock that is ahead',
      { committed: 90, before: STARTED, after: 'test=Proven:10:20' },
      ['test Proven 0', 'Release Proven 0'],
    ],
    [
      'counts a failure once',
      { before: STARTED, after: 'test=Failed:10::15' },
      ['test Failed', 'Release Failed'],
    ],
    [
      'counts no second failure of a Release',
      {
        before: 'test=Proven:1:5:3 prod=Promoting:10',
        after: 'test=Proven:1:5:3 prod=Failed:10::15',
      },
      ['prod Failed'],
    ],
    ['ignores what changes no cluster', { changed: 0, after: 'test=Failed:10::15' }, []],
    [
      'counts the revert of a good change as its failure',
      { older: [GOOD], revertOf: 'good', after: STARTED },
      ['test Started', 'Release Started', 'Release Reverted'],
    ],
    [
      'counts a change once that failed and is reverted',
      { older: [FAILED], revertOf: 'bad', after: STARTED },
      ['test Started', 'Release Started'],
    ],
    [
      'does not count what brings a change back as a failure of its revert',
      {
        older: [GOOD, releaseOf('undo', 'test=Proven:1:5', { revertOf: 'good' })],
        revertOf: 'undo',
        after: STARTED,
      },
      ['test Started', 'Release Started'],
    ],
    [
      'counts nothing for a revert of what is not known',
      { older: [GOOD], revertOf: 'old', after: STARTED },
      ['test Started', 'Release Started'],
    ],
    [
      'counts nothing for a commit that names itself as reverted',
      { revertOf: 'new', after: STARTED },
      ['test Started', 'Release Started'],
    ],
    [
      'measures a restore from the failure to the proof of a newer commit',
      {
        older: [FAILED],
        before: 'test=Proven:10:20 prod=Promoting:30',
        after: 'test=Proven:10:20 prod=Proven:30:50',
      },
      ['prod Proven 50', 'Release Proven 50', 'Restored 30'],
    ],
    [
      'measures it from the first of several failures',
      {
        older: [FAILED, releaseOf('bad2', 'test=Proven:1:5 prod=Superseded:25::28')],
        before: 'prod=Promoting:30',
        after: 'prod=Proven:30:50',
      },
      ['prod Proven 50', 'Release Proven 50', 'Restored 30'],
    ],
    [
      'measures the recovery of the same commit',
      { before: 'prod=Soaking:30::40', after: 'prod=Proven:30:50:40' },
      ['prod Proven 50', 'Release Proven 50', 'Restored 10'],
    ],
    [
      'measures no failure again that ended before',
      { older: [FAILED, GOOD], before: 'prod=Promoting:30', after: 'prod=Proven:30:50' },
      ['prod Proven 50', 'Release Proven 50'],
    ],
    [
      'measures a restore also by a commit that changes nothing against its parent',
      { changed: 0, older: [FAILED], before: 'prod=Promoting:30', after: 'prod=Proven:30:50' },
      ['Restored 30'],
    ],
  ])('DAT-04 counts each event of a Release once: %s', (_, given, want) => {
    expect(eventsOf(given)).toEqual(want);
  });

  it('ignores a stage without clusters', () => {
    const [stage] = stagesOf(STARTED);
    const update = {
      release: releaseOf('new', ''),
      status: { conditions: [], stages: stage ? [{ ...stage, clusters: { total: 0 } }] : [] },
    };
    const events = deliveryEvents({ pipeline: { metadata: {} } as Pipeline, releases: [], update });
    expect(events.map(textOf)).toEqual(['Release Started']);
  });
});
