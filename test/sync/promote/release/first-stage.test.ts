import { describe, expect, it } from 'vitest';
import type { Pipeline, Release, ReleaseStage } from '../../../../src/api/generated/types.ts';
import type { HeadReport } from '../../../../src/sync/commits.ts';
import { type FirstStageInput, firstStageDelay } from '../../../../src/sync/promote/release/first-stage.ts';

const at = (seconds: number): string => new Date(Date.UTC(2030, 0, 1) + seconds * 1000).toISOString();
const stage = (more: Partial<ReleaseStage>): ReleaseStage => ({ name: 'test', state: 'Promoting', ...more });

interface Case {
  readonly before?: ReleaseStage;
  readonly after?: ReleaseStage;
  readonly head?: Partial<HeadReport>;
  readonly recordedAt?: string;
  readonly webhookAt?: string;
}

function input({
  before,
  after = stage({ startedAt: at(20) }),
  head,
  recordedAt,
  webhookAt,
}: Case): FirstStageInput {
  const recorded = recordedAt === undefined ? {} : { head: { commit: 'c1', seenAt: recordedAt } };
  const webhook = webhookAt === undefined ? {} : { webhook: { receivedAt: webhookAt } };
  const pipeline = { metadata: { name: 'p' }, status: { conditions: [], ...recorded, ...webhook } };
  const release = { spec: { commit: 'c1' }, status: before ? { stages: [before] } : {} };
  return {
    pipeline: pipeline as unknown as Pipeline,
    head: { commit: 'c1', observedAt: new Date(at(10)), verdict: 'Accepted', ...head },
    update: { release: release as unknown as Release, status: { conditions: [], stages: [after] } },
  };
}

describe('firstStageDelay', () => {
  it.each<[name: string, given: Case, want: number | undefined]>([
    ['from when the head was first observed', {}, 10],
    ['from when another process observed it', { recordedAt: at(4) }, 16],
    ['from the webhook that announced it', { webhookAt: at(7) }, 13],
    ['not from a webhook that came long before', { webhookAt: at(-600) }, 10],
    ['not from a webhook that came after it was read', { webhookAt: at(15) }, 10],
    ['not before it begins', { after: stage({}) }, undefined],
    ['not a second time', { before: stage({ startedAt: at(20) }) }, undefined],
    ['not after a wait for a window or an approval', { before: stage({ state: 'Waiting' }) }, undefined],
    ['after a reconcile in which it was pending', { before: stage({ state: 'Pending' }) }, 10],
    ['not of a commit that is not the head', { head: { commit: 'c2' } }, undefined],
    ['never below zero, if the clock was set back', { head: { observedAt: new Date(at(30)) } }, 0],
  ])('counts %s', (_, given, want) => {
    expect(firstStageDelay(input(given))).toBe(want);
  });
});
