import { describe, expect, it } from 'vitest';
import { chooseWay, type MadeRevert, nothingProven, unmadeReason } from '../../../src/sync/revert/refusal.ts';
import { FAILED, HEAD, PROVEN } from './builders.ts';

const RANGE = { stage: 'prod', commit: FAILED, proven: PROVEN };

describe('unmadeReason', () => {
  it('S35 names the files of a conflict, and the command that reverts by hand', () => {
    const paths = ['a.yaml', 'b.yaml', 'c.yaml', 'd.yaml', 'e\n.yaml'];
    expect(unmadeReason({ type: 'Conflict', paths }, RANGE)).toEqual({
      reason: 'Conflict',
      message: `commits after ${FAILED} changed files of the range, too: a.yaml, b.yaml, c.yaml and 2 more. Nothing was pushed. Revert the range yourself: git revert --no-commit ${PROVEN}..${FAILED}`,
    });
  });

  it('S35 keeps the command although a path is long, and prints no control characters', () => {
    const { message } = unmadeReason({ type: 'Conflict', paths: [`\u001b[31m${'x'.repeat(2000)}`] }, RANGE);
    expect(message.length).toBeLessThan(1024);
    expect(message).toMatch(/git revert --no-commit [a-b.]+$/);
    expect(message).not.toContain('\u001b');
  });

  it.each([
    [{ type: 'Nothing' }, 'AlreadyReverted', 'nothing is left to revert'],
    [{ type: 'OwnRevert', commit: HEAD }, 'AutomaticRevert', `contains ${HEAD}, which is a revert by sync`],
    [{ type: 'Unrelated', ancestor: PROVEN, head: HEAD }, 'Unrelated', `${HEAD} does not contain ${PROVEN}`],
  ] as const)('S35 explains why nothing was made: %j', (result, reason, message) => {
    expect(unmadeReason(result, RANGE)).toEqual({
      reason,
      message: expect.stringContaining(message) as unknown,
    });
    expect(nothingProven(RANGE).message).toContain('stage prod, which has proven no commit yet');
  });
});

describe('chooseWay', () => {
  it.each<[string, Partial<MadeRevert>, string]>([
    ['pushes to the head that failed', {}, 'Push'],
    [
      'proposes if the ref has moved',
      { onto: HEAD },
      `Propose not pushed to the ref: it has moved from ${FAILED} to ${HEAD}`,
    ],
    [
      'refuses to push what sync refuses',
      { unaccepted: 'it is not signed' },
      'NotSigned sync would refuse its own commit: it is not signed',
    ],
    [
      'refuses it also if the ref has moved',
      { onto: HEAD, unaccepted: 'it is not signed' },
      'NotSigned sync would refuse its own commit: it is not signed',
    ],
    ['proposes', { how: 'Propose', onto: HEAD }, 'Propose'],
    [
      'proposes what a person must sign',
      { how: 'Propose', unaccepted: 'it is not signed' },
      'Propose sync would refuse this commit: it is not signed. Sign it before you merge',
    ],
  ])('S35 chooses between push and proposal: %s', (_, more, expected) => {
    const made = {
      how: 'Push',
      failure: { commit: FAILED },
      onto: FAILED,
      branch: 'b',
      unaccepted: undefined,
    } as const;
    const way = chooseWay({ ...made, ...more });
    const text = 'reason' in way ? `${way.reason} ${way.message}` : [way.how, way.note].join(' ').trim();
    expect(text.slice(0, Math.max(expected.length, 10))).toBe(expected);
  });
});
