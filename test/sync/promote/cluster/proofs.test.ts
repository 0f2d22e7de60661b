import { describe, expect, it } from 'vitest';
import {
  failureOf,
  isProven,
  unitsToSoak,
  wasProven,
  withFailure,
  withProof,
} from '../../../../src/sync/promote/cluster/proofs.ts';
import { createCommitHistory } from '../../../../src/sync/promote/commit-history.ts';
import { NOW } from '../../../rollout/builders.ts';

function words(text: string): string[] {
  return text.split(' ').filter((word) => word !== '');
}

describe('the proofs of a cluster', () => {
  const commits = [
    ['c1', 'a1 b1'],
    ['c2', 'a2 b1'],
    ['c3', 'a2 b2'],
    ['c4', 'a1 b2'],
    ['c5', 'a1'],
  ].map(([id = '', content = '']) => {
    const units = new Map(content.split(' ').map((word) => [word.slice(0, 1), word] as const));
    return { id, targets: new Map([['x', { digest: content, units }]]) };
  });
  const context = { history: createCommitHistory(commits), cluster: 'x' };
  const targetOf = (id: string) =>
    context.history.target(id, 'x') ?? { digest: '', units: new Map<string, string>() };
  const proof = (commit: string) => ({
    digest: targetOf(commit).digest,
    commit,
    provenAt: NOW.toISOString(),
  });
  const failure = (commit: string) => ({
    digest: targetOf(commit).digest,
    commit,
    failedAt: NOW.toISOString(),
  });

  it.each<[name: string, proven: string, failed: string, target: string, units: string]>([
    ['every unit of a cluster that proved nothing', '', '', 'c1', 'a b'],
    ['no unit of a proven digest', 'c1', '', 'c1', ''],
    ['only the unit that changed', 'c1', '', 'c2', 'a'],
    ['no unit, if each was proven in some digest', 'c1 c3', '', 'c4', ''],
    ['a unit that was removed', 'c1', '', 'c5', 'b'],
    ['no unit that was missing in a proven digest', 'c5 c1', '', 'c5', ''],
    ['of a failed digest only the unit that no other digest proved', 'c1', 'c2', 'c4', 'b'],
    ['every unit of a failed digest, if all of them were proven', 'c1 c3', 'c4', 'c5', 'a b'],
  ])('soaks %s', (...[, proven, failed, target, units]) => {
    const record = { proven: words(proven).map(proof), failed: words(failed).map(failure) };
    expect(unitsToSoak(record, targetOf(target), context).join(' ')).toBe(units);
  });

  it.each<[name: string, proven: string, failed: string, target: string, expected: boolean]>([
    ['that the cluster never had', 'c1', '', 'c2', false],
    ['that was proven as a whole', 'c1 c2', '', 'c1', true],
    ['of which each unit was proven', 'c1 c3', '', 'c4', true],
    ['that failed after its units were proven', 'c1 c3', 'c4', 'c4', false],
  ])('S13 recognizes a revert to content %s', (...[, proven, failed, target, expected]) => {
    const lists = { proven: words(proven).map(proof), failed: words(failed).map(failure) };
    const record = { ...lists, commit: target, renderedDigest: targetOf(target).digest };
    expect(wasProven(record, context)).toBe(expected);
    expect(wasProven({ ...lists, commit: target }, context)).toBe(false);
  });

  it('keeps a digest in one list only: the later result counts', () => {
    const failed = withFailure(withProof({}, proof('c1')), failure('c1'));
    expect([isProven(failed, 'a1 b1'), failureOf(failed, 'a1 b1')?.commit]).toEqual([false, 'c1']);
    expect(failureOf(failed, 'a1 b1')?.provenAt).toBe(proof('c1').provenAt);
    expect(failureOf(withFailure(failed, failure('c1')), 'a1 b1')?.provenAt).toBe(proof('c1').provenAt);
    const again = withProof(failed, proof('c1'));
    expect([isProven(again, 'a1 b1'), failureOf(again, 'a1 b1')]).toEqual([true, undefined]);
  });

  it('keeps the first message of a failure, and 20 entries, newest first', () => {
    const first = withFailure({}, { ...failure('c1'), reason: 'First' });
    expect(withFailure(first, { ...failure('c1'), reason: 'Second' }).failed[0]?.reason).toBe('First');
    const many = Array.from({ length: 25 }, (_, index) => ({
      digest: `d${index}`,
      commit: 'c',
      provenAt: '',
    }));
    const record = many.reduce((all, each) => withProof(all, each), withProof({}, proof('c1')));
    expect(record.proven.length).toBe(20);
    expect(record.proven[0]?.digest).toBe('d24');
  });

  it('soaks every unit if the proven commit is not rendered any more', () => {
    const record = { proven: [{ digest: 'a9 b1', commit: 'gone', provenAt: '' }] };
    expect(unitsToSoak(record, targetOf('c1'), context)).toEqual(['a', 'b']);
  });
});
