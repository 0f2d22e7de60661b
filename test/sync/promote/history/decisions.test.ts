import { describe, expect, it } from 'vitest';
import type { Pipeline } from '../../../../src/api/generated/types.ts';
import { type DecidedRun, decisionsAbout } from '../../../../src/sync/promote/history/decisions.ts';

const SINCE = '2030-01-01T00:00:00Z';

function specOf(spec: Partial<Pipeline['spec']>): Pipeline['spec'] {
  return { source: {}, approvals: [], acknowledgements: [], ...spec } as Pipeline['spec'];
}

const RUN: DecidedRun = {
  commit: 'c2',
  digest: 'a2',
  stage: 'prod',
  planDigest: 'plan-2',
  held: [{ unit: 'web', planDigest: 'held-1' }],
};

describe('decisionsAbout', () => {
  it.each<[name: string, spec: Partial<Pipeline['spec']>, decisions: readonly string[]]>([
    ['nothing', {}, []],
    [
      'a head that a person accepted',
      { acceptedHead: { commit: 'c2', replaces: [], by: 'alice', since: SINCE } },
      ['head accepted by alice'],
    ],
    [
      'a head that git accepts',
      { source: { repository: 'r', acceptHead: 'c2' } as Pipeline['spec']['source'] },
      ['head accepted in git, by spec.source.acceptHead'],
    ],
    ['no other head', { acceptedHead: { commit: 'c1', replaces: [], by: 'alice', since: SINCE } }, []],
    [
      'the approval of its plan for its stage',
      {
        approvals: [
          { stage: 'prod', planDigest: 'plan-2', reason: 'reviewed' },
          { stage: 'test', planDigest: 'plan-2', reason: 'other stage' },
          { stage: 'prod', planDigest: 'plan-1', reason: 'other plan' },
        ],
      },
      ['approved for stage prod: reviewed'],
    ],
    [
      'the acknowledgement of its failure and of its held deletes',
      {
        acknowledgements: [
          { planDigest: 'a2', unit: 'web', reason: 'network outage' },
          { planDigest: 'held-1', unit: 'web', reason: 'moved' },
          { planDigest: 'held-1', unit: 'other', reason: 'other unit' },
          { planDigest: 'held-9', unit: 'web', reason: 'other plan' },
        ],
      },
      ['failure acknowledged: network outage', 'deletes of unit web acknowledged: moved'],
    ],
  ])('lists %s', (_, spec, decisions) => {
    expect(decisionsAbout(specOf(spec), RUN)).toEqual(decisions);
  });
});
