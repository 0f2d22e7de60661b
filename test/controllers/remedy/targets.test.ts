import { describe, expect, it } from 'vitest';
import {
  boundText,
  isTarget,
  isWithin,
  labelsOf,
  matchBound,
} from '../../../src/controllers/remedy/targets.ts';
import { machine, node } from '../../support/builders.ts';
import { remedier } from '../../support/remediers.ts';

const CONTROL_PLANE = { 'node-role.kubernetes.io/control-plane': '' };

describe('the targets of a rule', () => {
  it.each<[string, Readonly<Record<string, unknown>>, Readonly<Record<string, string>>, boolean]>([
    ['what its selector selects', {}, {}, true],
    ['not what it excludes', {}, { pool: 'system' }, false],
    ['no control plane by default', {}, CONTROL_PLANE, false],
    [
      'control planes where the rule includes them',
      { '/target/controlPlane': 'OneAtATime' },
      CONTROL_PLANE,
      true,
    ],
    ['nothing else', { '/target/nodeSelector': { all: false, matchLabels: { pool: 'web' } } }, {}, false],
  ])('are %s', (_, changes, labels, expected) => {
    expect(isTarget(remedier(changes), labels)).toBe(expected);
  });

  it('are selected by labels of the Machine before those of its Node', () => {
    const labels = labelsOf(
      machine('m-1', { metadata: { labels: { pool: 'web' } } }),
      node('m-1', 'True', { labels: { pool: 'db', zone: 'a' } }),
    );
    expect(labels).toMatchObject({ pool: 'web', zone: 'a' });
  });
});

describe('the part of its targets that a rule may match', () => {
  it.each<[targets: number, limit: number]>([
    [1, 1],
    [19, 1],
    [40, 2],
    [100, 5],
  ])('of %d is %d', (targets, limit) => {
    const bound = matchBound(remedier(), { targets, unseen: 0 }, new Map());
    expect(bound.limit).toBe(limit);
  });

  it('counts what is held by the gate as ill', () => {
    const findings = new Map(
      (['Match', 'Held', 'NoMatch', 'Indeterminate'] as const).map((outcome) => [
        outcome,
        { outcome, because: '', isSinceKnown: true },
      ]),
    );
    const bound = matchBound(remedier(), { targets: 20, unseen: 0 }, findings);
    expect([isWithin(bound), boundText(bound)]).toEqual([
      false,
      '2 of 20 targets match, and at most 1 may (5 %)',
    ]);
  });
});
