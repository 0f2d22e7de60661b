/** The small rules: amounts, selectors, membership, the book of proofs, soak clocks, gates. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Cluster, Selector } from '../../../src/api/generated/types.ts';
import { isSelected } from '../../../src/kube/objects/selector.ts';
import { type CheckRun, countRuns, judgeGates, nextRuns } from '../../../src/rollout/gates.ts';
import { amountOf } from '../../../src/rollout/int-or-percent.ts';
import {
  failureOf,
  isProven,
  unitsToSoak,
  withFailure,
  withProof,
} from '../../../src/sync/promote/cluster/proofs.ts';
import { seenHealthy, soakAnew, soakedAt, soakFor } from '../../../src/sync/promote/cluster/soak.ts';
import { historyOf } from '../../../src/sync/promote/commit-history.ts';
import { claimsOn } from '../../../src/sync/promote/stage/claims.ts';
import { labelsOf, membershipOf } from '../../../src/sync/promote/stage/membership.ts';
import { checkOf, SmallWorld, stageOf } from './small-world.ts';

const NOW = new Date('2030-01-01T00:00:00Z');

function later(seconds: number): Date {
  return new Date(+NOW + seconds * 1000);
}

function words(text: string): string[] {
  return text.split(' ').filter((word) => word !== '');
}

function run(result: 'Passed' | 'Failed' | 'Unknown', at: number): CheckRun {
  return { check: 'ok', at: later(at), result, message: result };
}

describe('an amount', () => {
  it.each([
    [0, 10, 0],
    [3, 10, 3],
    [30, 10, 30],
    ['0%', 10, 0],
    ['10%', 0, 0],
    ['10%', 3, 1],
    ['10%', 19, 1],
    ['10%', 20, 2],
    ['99%', 3, 2],
    ['100%', 7, 7],
  ] as const)('%s of a set of %i', (amount, total, wanted) => {
    expect(amountOf(amount, total)).toBe(wanted);
  });

  it('never is more than the whole, nor nothing of something', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 1e6 }), (percent, total) => {
        const amount = amountOf(`${percent}%`, total);
        expect(amount).toBeGreaterThanOrEqual(1);
        expect(amount).toBeLessThanOrEqual(total);
      }),
    );
  });

  it.each(['101%', 'x%', '-1%', '5'])('refuses %s', (amount) => {
    expect(() => amountOf(amount as `${number}%`, 3)).toThrow('is no amount');
  });
});

describe('a selector', () => {
  const labels = { team: 'a', tier: '1' };

  it.each<[string, Selector, boolean]>([
    ['empty selects nothing', { all: false }, false],
    ['empty lists select nothing', { all: false, matchLabels: {}, matchExpressions: [] }, false],
    ['all selects everything', { all: true }, true],
    ['a label that is there', { all: false, matchLabels: { team: 'a' } }, true],
    ['a label with another value', { all: false, matchLabels: { team: 'b' } }, false],
    ['a label that is missing', { all: false, matchLabels: { zone: 'a' } }, false],
    ['In', { all: false, matchExpressions: [{ key: 'team', operator: 'In', values: ['b', 'a'] }] }, true],
    [
      'In without the label',
      { all: false, matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] },
      false,
    ],
    ['NotIn', { all: false, matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['a'] }] }, false],
    [
      'NotIn without the label',
      { all: false, matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['a'] }] },
      true,
    ],
    ['Exists', { all: false, matchExpressions: [{ key: 'team', operator: 'Exists' }] }, true],
    [
      'Exists of what every object has',
      { all: false, matchExpressions: [{ key: 'toString', operator: 'Exists' }] },
      false,
    ],
    ['DoesNotExist', { all: false, matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] }, false],
    [
      'one that holds and one that does not',
      {
        all: false,
        matchLabels: { team: 'a' },
        matchExpressions: [{ key: 'tier', operator: 'In', values: ['2'] }],
      },
      false,
    ],
  ])('%s', (_, selector, wanted) => {
    expect(isSelected(selector, labels)).toBe(wanted);
  });

  it('sees environment and region of the spec, whatever the labels claim', () => {
    const world = new SmallWorld({ clusters: [] });
    const cluster = world
      .addCluster('prod-1', { labels: { 'kubenode.dev/environment': 'test', team: 'a' } })
      .object();
    const seen = labelsOf({ ...cluster, spec: { ...cluster.spec, region: 'eu' } });
    expect(seen).toEqual({ 'kubenode.dev/environment': 'prod', 'kubenode.dev/region': 'eu', team: 'a' });
  });
});

describe('a cluster and its stages', () => {
  const world = new SmallWorld({ clusters: ['prod-1', 'test-1'] });
  const cluster = (name: string): Cluster => world.cluster(name).object();
  const stages = [stageOf({ name: 'test' }), stageOf({ name: 'prod' })];
  const everything = stageOf({ name: 'all', clusterSelector: { all: true } });

  it('belongs to one, to none, or is contested', () => {
    expect(membershipOf(cluster('prod-1'), stages)).toEqual({ kind: 'Member', stage: 'prod' });
    expect(membershipOf(cluster('prod-1'), [])).toEqual({ kind: 'Unassigned' });
    expect(membershipOf(cluster('prod-1'), [...stages, everything])).toEqual({
      kind: 'Contested',
      stages: ['prod', 'all'],
    });
  });

  it('is claimed by the pipelines that select it; one of them writes its status', () => {
    const pipeline = (name: string, own: typeof stages): typeof world.pipeline => ({
      ...world.pipeline,
      metadata: { name },
      spec: { ...world.pipeline.spec, stages: own },
    });
    const claims = claimsOn(
      [cluster('prod-1'), cluster('test-1')],
      [pipeline('b', [everything]), pipeline('a', stages.slice(1))],
    );
    expect(claims.map(({ owner, by }) => [owner, by])).toEqual([
      ['a', ['a', 'b']],
      ['b', ['b']],
    ]);
    expect(claimsOn([cluster('test-1')], [pipeline('a', stages.slice(1))])).toMatchObject([
      { owner: 'a', by: [] },
    ]);
  });
});

describe('the book of proofs', () => {
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
  const place = { history: historyOf(commits), cluster: 'x' };
  const targetOf = (id: string) =>
    place.history.target(id, 'x') ?? { digest: '', units: new Map<string, string>() };
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
    ['a cluster that proved nothing soaks all', '', '', 'c1', 'a b'],
    ['a proven digest soaks nothing', 'c1', '', 'c1', ''],
    ['the unit that changed soaks', 'c1', '', 'c2', 'a'],
    ['units proven in different digests soak nothing', 'c1 c3', '', 'c4', ''],
    ['a unit that is gone soaks', 'c1', '', 'c5', 'b'],
    ['a unit that was gone in a proven digest does not', 'c5 c1', '', 'c5', ''],
    ['the failed unit of a digest is to blame, the proven one is not', 'c1', 'c2', 'c4', 'b'],
    ['where all were proven, all are to blame', 'c1 c3', 'c4', 'c5', 'a b'],
  ])('%s', (...[, proven, failed, target, units]) => {
    const book = { proven: words(proven).map(proof), failed: words(failed).map(failure) };
    expect(unitsToSoak(book, targetOf(target), place).join(' ')).toBe(units);
  });

  it('holds a digest in one list only: the later word counts', () => {
    const failed = withFailure(withProof({}, proof('c1')), failure('c1'));
    expect([isProven(failed, 'a1 b1'), failureOf(failed, 'a1 b1')?.commit]).toEqual([false, 'c1']);
    const again = withProof(failed, proof('c1'));
    expect([isProven(again, 'a1 b1'), failureOf(again, 'a1 b1')]).toEqual([true, undefined]);
  });

  it('keeps the first word of a failure, and 20 entries, newest first', () => {
    const first = withFailure({}, { ...failure('c1'), reason: 'First' });
    expect(withFailure(first, { ...failure('c1'), reason: 'Second' }).failed[0]?.reason).toBe('First');
    const many = Array.from({ length: 25 }, (_, index) => ({
      digest: `d${index}`,
      commit: 'c',
      provenAt: '',
    }));
    const book = many.reduce((all, each) => withProof(all, each), withProof({}, proof('c1')));
    expect(book.proven.length).toBe(20);
    expect(book.proven[0]?.digest).toBe('d24');
  });

  it('lets nothing off that is not rendered any more', () => {
    const book = { proven: [{ digest: 'a9 b1', commit: 'gone', provenAt: '' }] };
    expect(unitsToSoak(book, targetOf('c1'), place)).toEqual(['a', 'b']);
  });
});

describe('a soak', () => {
  const target = {
    digest: 'd1',
    units: new Map([
      ['a', 'a1'],
      ['b', 'b1'],
    ]),
  };

  it('has no end before it is settled, then the end of its last unit', () => {
    const begun = soakFor(target, ['a', 'b'], undefined, NOW);
    expect(soakedAt(begun, 60)).toBeUndefined();
    expect(soakedAt(seenHealthy(begun, target, ['a', 'b'], later(30)), 60)).toEqual(later(90));
    expect(soakedAt(seenHealthy(begun, target, [], later(30)), 60)).toEqual(later(30));
  });

  it.each([
    ['a gap of two minutes counts', 120, 60],
    ['a longer one does not', 121, 60 + 121],
    ['a clock set back changes nothing', -1000, 60 - 1000],
  ])('%s', (_, gap, end) => {
    const running = seenHealthy(soakFor(target, ['a'], undefined, NOW), target, ['a'], NOW);
    expect(soakedAt(seenHealthy(running, target, ['a'], later(gap)), 60)).toEqual(later(end));
  });

  it('keeps the clocks of units that stay the same', () => {
    const running = seenHealthy(soakFor(target, ['a', 'b'], undefined, NOW), target, ['a', 'b'], NOW);
    const next = {
      digest: 'd2',
      units: new Map([
        ['a', 'a2'],
        ['b', 'b1'],
      ]),
    };
    const soak = seenHealthy(soakFor(next, ['a', 'b'], running, later(50)), next, ['a', 'b'], later(60));
    expect(soak.clocks).toEqual([
      { unit: 'a', digest: 'a2', since: later(60).toISOString() },
      { unit: 'b', digest: 'b1', since: NOW.toISOString() },
    ]);
  });

  it('shares one clock among more than 64 units', () => {
    const units = Array.from({ length: 65 }, (_, index) => `u${index}`);
    const big = { digest: 'd1', units: new Map(units.map((unit) => [unit, unit])) };
    const soak = seenHealthy(soakFor(big, units, undefined, NOW), big, units, NOW);
    expect(soak.clocks).toEqual([{ unit: '*', digest: 'd1', since: NOW.toISOString() }]);
  });

  it('begins anew without forgetting when a check was asked', () => {
    const gates = [{ name: 'ok', ranAt: NOW.toISOString(), result: 'Failed' as const, failures: 3 }];
    expect(soakAnew({ startedAt: NOW.toISOString(), settledAt: NOW.toISOString(), gates })).toEqual({
      startedAt: NOW.toISOString(),
      clocks: [],
      gates: [{ name: 'ok', ranAt: NOW.toISOString() }],
    });
  });
});

describe('the gates of a soak', () => {
  const check = checkOf({ name: 'ok', failureLimit: 1, inconclusiveLimit: 1 });

  it.each([
    ['not asked yet', [], 'Waiting'],
    ['passed', ['Passed'], 'Open'],
    ['failed within the limit, last', ['Passed', 'Failed'], 'Waiting'],
    ['failed within the limit, then passed', ['Failed', 'Passed'], 'Open'],
    ['failed beyond the limit', ['Failed', 'Passed', 'Failed'], 'Failed'],
    ['no answer within the limit', ['Passed', 'Unknown'], 'Waiting'],
    ['no answer beyond the limit', ['Unknown', 'Passed', 'Unknown'], 'Unanswered'],
    ['both beyond the limit', ['Unknown', 'Unknown', 'Failed', 'Failed'], 'Failed'],
  ] as const)('%s', (_, results, wanted) => {
    const gates = countRuns(
      [],
      results.map((result, index) => run(result, index)),
      [check],
    );
    expect(judgeGates(gates, [check]).gate).toBe(wanted);
  });

  it('counts the same run once, whatever the order', () => {
    const once = countRuns([], [run('Failed', 2), run('Failed', 1)], [check]);
    expect(countRuns(once, [run('Failed', 1), run('Failed', 2)], [check])).toEqual(once);
    expect(once[0]?.failures).toBe(2);
  });

  it('forgets checks that are not asked any more, and is open without any', () => {
    const gates = countRuns([], [run('Failed', 1)], [check]);
    expect(countRuns(gates, [], [])).toEqual([]);
    expect(judgeGates([], []).gate).toBe('Open');
  });

  it('asks at once, and then at its interval', () => {
    expect(nextRuns([], [check], NOW)).toEqual([{ check: 'ok', at: NOW }]);
    expect(nextRuns(countRuns([], [run('Passed', 0)], [check]), [check], later(10))).toEqual([
      { check: 'ok', at: later(30) },
    ]);
  });
});
