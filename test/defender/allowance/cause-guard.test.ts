import { describe, expect, it } from 'vitest';
import type { FleetCause } from '../../../src/api/generated/types.ts';
import type { GrantAsk } from '../../../src/api/grants.ts';
import { ago, decideScene, explain, machines } from '../builders.ts';
import { allowance } from './builders.ts';

const UNTIL = ago(-600);

function cause(fields: Partial<FleetCause> = {}): FleetCause {
  const message = 'it failed in test-1, pre-1';
  return {
    dimension: 'componentUpdate',
    value: 'kubelet-2',
    policy: 'fleet',
    until: UNTIL,
    message,
    ...fields,
  };
}

const UPDATE: Partial<GrantAsk> = {
  holder: { kind: 'MachineComponentSet', name: 'base', revision: 'r-2' },
  action: 'UpdateComponent',
  brings: ['containerd-2', 'kubelet-2'],
};

function answer(causes: readonly FleetCause[], ask: Partial<GrantAsk>, kernelVersion = '6.9'): string {
  const all = machines(10).map((each) => ({ ...each, dimensions: { kernelVersion } }));
  return explain(decideScene({ ledger: { allowance: allowance({ causes }) }, machines: all, ask }));
}

const HELD = `FleetCause: it failed in test-1, pre-1 (FleetPolicy fleet holds it until ${UNTIL})`;

describe('fleetCause', () => {
  it('brings what failed in several clusters to no further machine', () => {
    expect(answer([cause()], UPDATE)).toBe(HELD);
    expect(answer([cause()], { ...UPDATE, brings: ['kubelet-3'] })).toBe('granted');
    expect(answer([cause()], {})).toBe('granted');
  });

  it('never holds a rollback', () => {
    expect(answer([cause()], { ...UPDATE, recovery: true })).toBe('granted');
  });

  it('ends by itself, also when the hub is away', () => {
    expect(answer([cause({ until: ago(1) })], UPDATE)).toBe('granted');
  });

  it('begins no rollout after too many failed, and continues repairs', () => {
    const failed = cause({ dimension: 'failedRollouts', value: 'fleet' });
    expect(answer([failed], UPDATE)).toBe(HELD);
    expect(answer([failed], {})).toBe('granted');
  });

  it('repairs no machine that has what is faulty in several clusters, and lets it be updated', () => {
    const kernel = cause({ dimension: 'kernelVersion', value: '6.9' });
    expect(answer([kernel], {})).toBe(HELD);
    expect(answer([kernel], {}, '6.10')).toBe('granted');
    expect(answer([kernel], UPDATE)).toBe('granted');
  });

  it('holds the repairs of a rule that fails in several clusters', () => {
    const rule = cause({ dimension: 'rule', value: 'hang' });
    expect(answer([rule], { holder: repairOf('hang') })).toContain(HELD);
    expect(answer([rule], { holder: repairOf('disk') })).not.toContain('FleetCause');
  });
});

function repairOf(rule: string): GrantAsk['holder'] {
  return { kind: 'RemedyOperationJob', name: 'j', origin: `NodeRemedier/${rule}`, revision: 'c0ffee' };
}
