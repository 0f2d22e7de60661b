import { describe, expect, it } from 'vitest';
import type { Pipeline, Release, ReleaseStatus } from '../../../../../src/api/generated/types.ts';
import {
  type ApprovalRequest,
  planReleaseApproval,
} from '../../../../../src/cli/commands/release/approve/plan.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;
const OTHER = `sha256:${'b'.repeat(64)}`;
const REQUEST: ApprovalRequest = { release: 'fleet-2', stage: 'prod', reason: 'reviewed' };

function releaseOf(name: string, digest: string, status: Partial<ReleaseStatus> = {}): Release {
  return {
    kind: 'Release',
    metadata: { name, creationTimestamp: `2030-01-01T00:00:0${name.slice(-1)}Z` },
    spec: { pipeline: 'fleet', commit: name, plan: { digest }, authors: [`author of ${name}`] },
    status: { conditions: [], ...status },
  } as unknown as Release;
}

const STAGES = [
  { name: 'test', approval: 'None', approvalByOther: false },
  { name: 'prod', approval: 'Required', approvalByOther: false },
  { name: 'core', approval: 'Unexercised', approvalByOther: true },
];

interface Case {
  readonly status?: Partial<ReleaseStatus>;
  readonly approvals?: readonly object[];
  readonly request?: Partial<ApprovalRequest>;
}

function plan({ status = {}, approvals = [], request = {} }: Case) {
  const pipeline = {
    metadata: { name: 'fleet' },
    spec: { stages: STAGES, approvals },
  } as unknown as Pipeline;
  const proven = { stages: [{ name: 'core', state: 'Proven' as const }] };
  const releases = [releaseOf('fleet-1', OTHER, proven), releaseOf('fleet-2', DIGEST, status)];
  return planReleaseApproval({ pipelines: [pipeline], releases }, { ...REQUEST, ...request });
}

const inStage = (state: string): Partial<ReleaseStatus> =>
  ({ stages: [{ name: 'prod', state }] }) as unknown as Partial<ReleaseStatus>;
const approvals = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ stage: `s${index}`, planDigest: OTHER }));

describe('S36 an approval of a release', () => {
  it.each<[what: string, given: Case]>([
    ['waits for it', { status: inStage('Waiting') }],
    ['has not begun', {}],
    ['failed before', { status: inStage('Failed') }],
    ['waits for the plan that was reviewed', { request: { planDigest: DIGEST } }],
    ['has room for one more', { approvals: approvals(31) }],
    ['has it already', { approvals: [...approvals(31), { stage: 'prod', planDigest: DIGEST }] }],
  ])('names the stage and the plan where the stage %s', (_, given) => {
    const { entry, excluded } = plan(given);
    expect([entry, excluded]).toEqual([{ stage: 'prod', planDigest: DIGEST, reason: 'reviewed' }, undefined]);
  });

  it('names who may not approve where another person is asked for', () => {
    expect(plan({ request: { stage: 'core' } }).excluded).toEqual(['author of fleet-2']);
  });

  it.each<[what: string, given: Case, message: string]>([
    ['an unknown stage', { request: { stage: 'live' } }, 'pipeline fleet has no stage live'],
    ['a stage that asks for none', { request: { stage: 'test' } }, 'stage test asks for no approval'],
    [
      'another plan',
      { request: { planDigest: OTHER } },
      `the plan of Release fleet-2 is ${DIGEST}, not ${OTHER}`,
    ],
    [
      'a release that was replaced',
      { status: { supersededBy: 'fleet-3', finishedAt: 'now', phase: 'Superseded' } },
      'Release fleet-2 was replaced by fleet-3: its plan has lapsed',
    ],
    ['a release that is over', { status: { finishedAt: 'now', phase: 'Failed' } }, 'which is over'],
    [
      'a stage that has begun',
      { status: inStage('Promoting') },
      'stage prod does not wait for Release fleet-2',
    ],
    ['a stage that soaks', { status: inStage('Soaking') }, 'which is Soaking there'],
    ['a stage that is proven', { status: inStage('Proven') }, 'which is Proven there'],
    ['no reason', { request: { reason: ' ' } }, 'expected a reason of 1 to 256 characters, got 0'],
    ['a long reason', { request: { reason: 'x'.repeat(257) } }, 'got 257'],
    ['a Pipeline with 32 others', { approvals: approvals(32) }, 'Pipeline fleet has 32 approvals already'],
  ])('is refused for %s', (_, given, message) => {
    expect(() => plan(given)).toThrow(message);
  });
});
