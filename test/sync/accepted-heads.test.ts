import { describe, expect, it } from 'vitest';
import type { Pipeline } from '../../src/api/generated/types.ts';
import { acceptedHeads, isHeadAccepted } from '../../src/sync/accepted-heads.ts';

const pipeline = (acceptedHead: object | undefined, acceptHead?: string): Pipeline =>
  ({ spec: { acceptedHead, source: { acceptHead } } }) as never;
const BY_COMMAND = { commit: 'h', replaces: ['r'], by: 'ann', since: '2030-01-01T00:00:00Z' };

describe('acceptedHeads', () => {
  it.each<[name: string, pipeline: Pipeline, expected: readonly string[]]>([
    ['none', pipeline(undefined), []],
    ['that of the command', pipeline(BY_COMMAND), ['h']],
    ['that of git', pipeline(undefined, 'g'), ['g']],
    ['that of the command also when git sets another one later', pipeline(BY_COMMAND, 'g'), ['h', 'g']],
  ])('are %s', (_, object, expected) => {
    expect(acceptedHeads(object).map(({ commit }) => commit)).toEqual(expected);
    expect(isHeadAccepted(object, 'h')).toBe(expected.includes('h'));
    expect(isHeadAccepted(object, undefined)).toBe(false);
  });

  it('S19 are of a person only where the command wrote them: a commit accepts no unsigned head', () => {
    const heads = acceptedHeads(pipeline(BY_COMMAND, 'g'));
    expect(heads.map(({ byPerson }) => byPerson)).toEqual([true, undefined]);
  });
});
