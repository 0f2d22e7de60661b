import { describe, expect, it } from 'vitest';
import { asStored, selectRule } from '../../../../../src/cli/commands/rules/backtest/find-rule.ts';
import type { RenderedTarget } from '../../../../../src/sync/rendered.ts';
import { remedier } from '../../../../support/remediers.ts';

function targetOf(target: string, priority: number): RenderedTarget {
  const object = remedier({ '/priority': priority });
  return { target, digest: '', units: [{ unit: 'rules', digest: '', objects: [{ object, source: {} }] }] };
}

const SAME = [targetOf('pre', 5), targetOf('prod', 5)];
const DIFFERENT = [targetOf('pre', 5), targetOf('prod', 7)];

describe('selectRule', () => {
  it.each<[name: string, targets: readonly RenderedTarget[], target: string | undefined, priority: number]>([
    ['the only form', SAME, undefined, 5],
    ['the form of one cluster', DIFFERENT, 'prod', 7],
  ])('finds %s', (_, targets, target, priority) => {
    expect(selectRule(targets, { name: 'kernel-hang', target }).spec.priority).toBe(priority);
  });

  it.each<[name: string, rule: string, target: string | undefined, message: string]>([
    ['a rule that differs', 'kernel-hang', undefined, 'rule kernel-hang differs between clusters'],
    ['a cluster without it', 'kernel-hang', 'test', 'cluster test has no rule kernel-hang'],
    ['an unknown rule', 'constructor', undefined, 'the fleet declares no rule constructor'],
  ])('refuses %s', (_, name, target, message) => {
    expect(() => selectRule(DIFFERENT, { name, target })).toThrow(message);
  });
});

describe('asStored', () => {
  it('fills in the defaults of the API server, which a fleet repository does not contain', () => {
    const { spec, ...rest } = remedier();
    const { priority: _, perMachine: __, ...written } = spec;
    expect(asStored({ ...rest, spec: written }).spec).toMatchObject({
      priority: expect.any(Number) as number,
      perMachine: { maxJobs: expect.any(Number) as number },
    });
  });
});
