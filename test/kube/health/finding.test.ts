import { describe, expect, it } from 'vitest';
import { conditionAt, conditionsOf, explain, failed, progressing } from '../../../src/kube/health/finding.ts';
import { configMap } from '../../support/builders.ts';

const READY = {
  type: 'Ready',
  status: 'False',
  reason: 'NoNodes',
  message: 'no node is Ready',
  lastTransitionTime: '',
} as const;

describe('conditionsOf', () => {
  it.each<[name: string, conditions: unknown, expected: readonly unknown[]]>([
    ['no conditions', undefined, []],
    ['conditions that are not a list', 'Ready', []],
    [
      'entries without the shape of a condition',
      [READY, null, 'Ready', { type: 'Ready' }, { status: 'True' }],
      [READY],
    ],
  ])('reads %s', (_, conditions, expected) => {
    expect(conditionsOf({ ...configMap('a'), status: { conditions } })).toEqual(expected);
  });

  it('finds a condition by its type', () => {
    const object = { ...configMap('a'), status: { conditions: [READY] } };
    expect(conditionAt(object, 'Ready')).toEqual(READY);
    expect(conditionAt(object, 'Healthy')).toBeUndefined();
  });
});

describe('explain', () => {
  const since = '2026-01-02T03:04:05Z';

  it.each([
    [
      'all fields',
      { ...READY, lastTransitionTime: since },
      { reason: 'NoNodes', because: 'Ready=False, no node is Ready', since: new Date(since) },
    ],
    [
      'a malformed reason',
      { ...READY, reason: 'no nodes!' },
      { reason: 'Ready', because: 'Ready=False, no node is Ready' },
    ],
    ['an empty message', { ...READY, message: '' }, { reason: 'NoNodes', because: 'Ready=False, NoNodes' }],
    [
      'a malformed time',
      { ...READY, lastTransitionTime: 'yesterday' },
      { reason: 'NoNodes', because: 'Ready=False, no node is Ready' },
    ],
  ])('uses the type and status for what is missing: %s', (_, condition, expected) => {
    expect(explain(condition)).toEqual(expected);
  });
});

it('leaves out the time of a failure, and the deadline, if they are unknown', () => {
  expect(failed('Broken', 'it broke')).toEqual({ state: 'failed', reason: 'Broken', because: 'it broke' });
  expect(progressing('Rollout', '1 of 2', { hasDeadline: true })).toEqual({
    state: 'progressing',
    reason: 'Rollout',
    because: '1 of 2',
    hasDeadline: true,
  });
});
