import { describe, expect, it } from 'vitest';
import type {
  LedgerBreaker,
  MachineComponentSet,
  RemedyOperationJob,
  RevisionRecord,
} from '../../../src/api/generated/types.ts';
import { type FailureInput, failureReport } from '../../../src/defender/allowance/failures.ts';
import { preparePolicies } from '../../../src/defender/policies/prepare.ts';
import { componentSet } from '../../controllers/componentset/component-set.ts';
import { condition } from '../../support/builders.ts';
import { ago, breaker, NOW, policy } from '../builders.ts';
import { job } from '../objects.ts';

const CAUSES = breaker({
  name: 'causes',
  type: 'CommonCause',
  per: 'Cluster',
  count: 3,
  withinSeconds: 600,
  dimensions: ['kernelVersion', 'componentVersion', 'zone'],
});
const POLICY = policy({ breakers: [CAUSES, breaker({ name: 'acts' })] });
const OPEN: LedgerBreaker = { state: 'Open', since: ago(900), trips: 1, evidence: '5 of 6 machines have it' };

function report(input: Partial<FailureInput>) {
  const policies = preparePolicies([POLICY]);
  return failureReport({ ledger: { breakers: {} }, policies, sets: [], jobs: [], now: NOW, ...input });
}

function named({ failures }: ReturnType<typeof report>): readonly string[] {
  return failures.map(({ dimension, value }) => `${dimension}=${value}`);
}

function breakers(...ids: readonly string[]): Pick<FailureInput, 'ledger'> {
  return {
    ledger: { breakers: Object.fromEntries(ids.map((id) => [`${POLICY.metadata.name}/${id}`, OPEN])) },
  };
}

function ended(rule: string, isGood: boolean, seconds = 600): RemedyOperationJob {
  const conditions = [
    condition('Settled', 'True', {
      reason: isGood ? 'Succeeded' : 'Permanent',
      lastTransitionTime: ago(seconds),
    }),
  ];
  const found = job('m-1', {
    status: { conditions, outcome: { class: isGood ? 'Succeeded' : 'Permanent' } },
  });
  return { ...found, spec: { ...found.spec, cause: { ...found.spec.cause, remedier: rule } } };
}

function reportAfter(seconds: number): ReturnType<typeof report> {
  return report({ ...breakers('causes/kernelVersion=6.9'), now: new Date(+NOW + seconds * 1000) });
}

function rolledBack(name: string, seconds: number): MachineComponentSet {
  const record: RevisionRecord = {
    revision: 'r-2',
    components: ['kubelet-2'],
    result: 'RolledBack',
    finishedAt: ago(seconds),
  };
  return componentSet(name, { status: { conditions: [], history: [record] } });
}

describe('failureReport', () => {
  it('reports what faulty machines have in common, and not where they are', () => {
    const found = report(breakers('causes/kernelVersion=6.9=rc1', 'causes/zone=a', 'acts/Cluster'));
    expect(found.failures).toMatchObject([
      { dimension: 'kernelVersion', value: '6.9=rc1', message: OPEN.evidence },
    ]);
    expect(+NOW - Date.parse(found.failures[0]?.at ?? '')).toBeLessThan(300_000);
  });

  it('does not bring a version to others whose machines are faulty', () => {
    expect(named(report(breakers('causes/componentVersion=kubelet-2')))).toEqual([
      'componentUpdate=kubelet-2',
      'componentVersion=kubelet-2',
    ]);
  });

  it('reports no breaker that tries whether its cause is over', () => {
    const id = `${POLICY.metadata.name}/causes/kernelVersion=6.9`;
    const ledger = { breakers: { [id]: { ...OPEN, state: 'HalfOpen' as const } } };
    expect(report({ ledger }).failures).toEqual([]);
  });

  it('reports the same for some minutes, so that it is not a write each time', () => {
    expect(reportAfter(1)).toEqual(reportAfter(290));
    expect(reportAfter(1)).not.toEqual(reportAfter(310));
  });

  it('reports a rollout that failed within a day, with what it brought', () => {
    const found = report({
      sets: [rolledBack('base', 600), rolledBack('edge', 300), rolledBack('old', 90_000)],
    });
    expect(found.failures).toEqual([
      {
        dimension: 'componentUpdate',
        value: 'kubelet-2',
        at: ago(300),
        message: 'rollout of MachineComponentSet edge: it was rolled back',
      },
    ]);
    expect(found.failedRollouts.map(({ set: name }) => name)).toEqual(['edge', 'base']);
  });

  it.each<readonly [string, readonly RemedyOperationJob[], readonly string[]]>([
    [
      'most repairs of a rule failed',
      [ended('hang', false), ended('hang', false), ended('hang', true)],
      ['rule=hang'],
    ],
    [
      'half of them failed: no',
      [ended('hang', false), ended('hang', false), ended('hang', true), ended('hang', true)],
      [],
    ],
    ['one failed: no', [ended('hang', false)], []],
    ['another rule failed once: no', [ended('hang', false), ended('disk', false)], []],
    ['they failed two days ago: no', [ended('hang', false, 172_800), ended('hang', false, 172_800)], []],
    ['they are in work: no', [job('m-1'), job('m-2')], []],
  ])('reports a rule when %s', (_, jobs, expected) => {
    expect(named(report({ jobs }))).toEqual(expected);
  });

  it('reports the newest of more than fit', () => {
    const ids = Array.from({ length: 40 }, (_, index) => `causes/kernelVersion=6.${index}`);
    expect(report(breakers(...ids)).failures).toHaveLength(32);
  });
});
