import { describe, expect, it } from 'vitest';
import { caseId, caseOf } from '../../../../src/controllers/remedy/case/case.ts';
import { ago } from '../../../support/builders.ts';
import { type JobParts, remedier, remedyJob } from '../../../support/remediers.ts';

/** With `clearSeconds` 600 and the default pauses. */
const RULE = remedier();
const SINCE = new Date(ago(300));

function found(jobs: readonly JobParts[], isSinceKnown = true): readonly [string, number] {
  const all = jobs.map((parts) => remedyJob({ case: 'aaaaaaaa', ...parts }));
  const { id, jobs: own } = caseOf({
    remedier: RULE,
    nodeUID: 'node-uid-1',
    since: SINCE,
    isSinceKnown,
    jobs: all,
  });
  return [id === NEW ? 'new' : id, own.length];
}

const NEW = caseId({ remedier: RULE, nodeUID: 'node-uid-1', since: SINCE });

describe('the case of a fault', () => {
  it('is named by Node, rule and start of the fault', () => {
    expect(NEW).toMatch(/^[0-9a-f]{8}$/);
    const others = [
      caseId({ remedier: RULE, nodeUID: 'node-uid-2', since: SINCE }),
      caseId({ remedier: remedier({}, { name: 'other' }), nodeUID: 'node-uid-1', since: SINCE }),
      caseId({ remedier: RULE, nodeUID: 'node-uid-1', since: new Date(ago(299)) }),
    ];
    expect(new Set([NEW, ...others]).size).toBe(4);
  });

  it.each<[string, readonly JobParts[], isSinceKnown: boolean, expected: readonly [string, number]]>([
    ['new without jobs', [], true, ['new', 0]],
    ['that of a job at work', [{ begun: 9000 }], true, ['aaaaaaaa', 1]],
    [
      'that of a job during the fault',
      [{ outcome: 'Permanent', begun: 200, ended: 100 }],
      true,
      ['aaaaaaaa', 1],
    ],
    [
      'that of a job shortly before',
      [{ outcome: 'Permanent', begun: 990, ended: 890 }],
      true,
      ['aaaaaaaa', 1],
    ],
    ['new long after the last job', [{ outcome: 'Permanent', begun: 1000, ended: 900 }], true, ['new', 0]],
    [
      'that of an earlier job when its start is unknown',
      [{ outcome: 'Permanent', begun: 10_000, ended: 9000 }],
      false,
      ['aaaaaaaa', 1],
    ],
    [
      'new when its start is unknown and the last job ended long ago',
      [{ outcome: 'Permanent', begun: 90_000, ended: 80_000 }],
      false,
      ['new', 0],
    ],
    [
      'not that of another rule',
      [{ remedier: 'other', outcome: 'Permanent', begun: 200, ended: 100 }],
      true,
      ['new', 0],
    ],
    [
      'not that of another Node',
      [{ nodeUID: 'old', outcome: 'Permanent', begun: 200, ended: 100 }],
      true,
      ['new', 0],
    ],
  ])('is %s', (_, jobs, isSinceKnown, expected) => {
    expect(found(jobs, isSinceKnown)).toEqual(expected);
  });
});
