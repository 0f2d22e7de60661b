import { describe, expect, it } from 'vitest';
import { observeConditions } from '../../../../src/rules/clocks/condition-clock.ts';
import { latchedReason } from '../../../../src/rules/facts/reading/latched.ts';
import { ago, machine, NOW } from '../../../support/builders.ts';

const POINT = { ms: 10_000, at: NOW };

/** Observed for the first time at 10 s. */
function reasonOf(
  type: string,
  status: string,
  jobEndedMs: number,
  from: 'node' | 'machine' = 'node',
): string | undefined {
  const sources = { nodeUID: 'u', bootID: 'b', node: [], machine: [], faults: [] };
  const conditions = observeConditions(undefined, { ...sources, [from]: [{ type, status }] }, POINT);
  const observed = conditions.types.get(type);
  return observed && latchedReason(type, observed, { conditions, machine: machine('n'), jobEndedMs });
}

describe('latchedReason', () => {
  it.each([
    ['a fault that was raised before the repair ended', 'KernelDeadlock', 'True', 20_000],
    ['a fault that is reported as False', 'StorageHealthy', 'False', 20_000],
  ] as const)('R3 does not take as proof of a fault %s', (_, type, status, endedMs) => {
    expect(reasonOf(type, status, endedMs)).toContain('before the last repair ended');
  });

  it.each([
    ['a fault that was raised after the repair', 'KernelDeadlock', 'True', 5000],
    ['a condition without a fault', 'KernelDeadlock', 'False', 20_000],
    ['a condition that its detector does not know', 'KernelDeadlock', 'Unknown', 20_000],
    ['a condition that clears by itself', 'DiskPressure', 'True', 20_000],
  ] as const)('R3 reads as it is reported %s', (_, type, status, endedMs) => {
    expect(reasonOf(type, status, endedMs)).toBeUndefined();
  });

  it.each([
    ['before the repair that another process ended', 8, 'before the last repair ended'],
    ['after the repair that another process ended', 4, undefined],
  ] as const)('R3 takes the time of its writer for a fault that was raised %s', (_, age, reason) => {
    const lastTransitionTime = ago(age);
    const condition = { type: 'KernelDeadlock', status: 'True', lastTransitionTime };
    const sources = { nodeUID: 'u', bootID: 'b', node: [condition], machine: [], faults: [] };
    const conditions = observeConditions(undefined, sources, POINT);
    const observed = conditions.types.get('KernelDeadlock');
    const snapshot = { conditions, machine: machine('n'), jobEndedMs: 4000 };
    const found = observed && latchedReason('KernelDeadlock', observed, snapshot);
    expect(found?.includes(reason ?? 'never') ?? false).toBe(reason !== undefined);
  });

  it('R3 accepts conditions of the Machine, which our controllers write again', () => {
    expect(reasonOf('ComponentsReady', 'False', 20_000, 'machine')).toBeUndefined();
  });
});
