import { describe, expect, it } from 'vitest';
import { createHost, type SimulatedHost } from '../../../../../src/sim/rollout/hosts.ts';
import { type Budget, budgetOf } from '../../../../../src/sim/rollout/repairs/judge/budget-rule.ts';
import { judgedJob } from '../repair-objects.ts';

const STEPS = { steps: [{ id: 's1', state: 'Running' }] } as const;
const REPAIRED = judgedJob({ machine: 'm-1' }, STEPS);

function updating(name: string): SimulatedHost {
  const host = createHost(name, `uid-${name}`, 0);
  host.components.set('app', {
    committedMs: 0,
    denied: new Set(),
    hasDrifted: false,
    work: { id: 'd', activeMs: 0, endsMs: 0 },
  });
  return host;
}

function budget(parts: Partial<Budget>): Budget {
  const entry = { name: 'app', grant: { id: 'g-9' } };
  const machine = { spec: { components: [entry] } };
  return {
    jobs: [],
    hosts: new Map([['m-2', updating('m-2')]]),
    api: { get: () => machine as never },
    ledgers: { isDisruptive: () => true },
    maxUnavailable: 1,
    ...parts,
  };
}

describe('budgetOf', () => {
  it('R14 counts updates and repairs together', () => {
    const { busy, violations } = budgetOf(budget({ jobs: [REPAIRED] }));
    expect(busy).toBe(2);
    expect(violations).toEqual(['updates and repairs on 2 machines, and 1 allowed']);
    expect(budgetOf(budget({ jobs: [REPAIRED], maxUnavailable: 2 })).violations).toEqual([]);
  });

  it.each([
    ['has not begun', judgedJob()],
    ['has ended', judgedJob({ outcome: 'Succeeded' }, STEPS)],
    ['disturbs only pods', judgedJob({ risk: 'Pod' }, STEPS)],
  ])('does not count a repair that %s', (_, job) => {
    expect(budgetOf(budget({ jobs: [job] })).busy).toBe(1);
  });

  it('does not count an update whose grant has no limit', () => {
    expect(budgetOf(budget({ ledgers: { isDisruptive: () => false } })).busy).toBe(0);
  });
});
