import { describe, expect, it } from 'vitest';
import { DEFENDER_LEDGERS, MACHINES } from '../../../src/api/generated/resources.ts';
import type { LedgerGrant, Machine } from '../../../src/api/generated/types.ts';
import { LEDGER } from '../../../src/api/names.ts';
import { stepRepairs } from '../../../src/sim/machines/set-repairs.ts';
import { createSetBed, type SetBed } from './set-bed.ts';

function put(bed: SetBed, name: string, ready: 'True' | 'False'): Machine {
  const lastTransitionTime = new Date(bed.clock.nowMs).toISOString();
  const conditions = [
    { type: 'Ready', status: ready, reason: 'x', message: '', lastTransitionTime },
  ] as const;
  const known = bed.api.get(MACHINES, name) ?? bed.addMachine(name);
  const status = { ...known.status, conditions: [...conditions], infra: { state: 'Running' as const } };
  bed.api.put({ ...known, status });
  return known;
}

function grantOf({ api }: SetBed, name: string): LedgerGrant | undefined {
  return api.get(DEFENDER_LEDGERS, LEDGER)?.spec.grants[name];
}

function markOf({ api }: SetBed, name: string): string | undefined {
  return api.get(MACHINES, name)?.status?.replacement?.grant;
}

/** Steps until chance has begun a job, where one may begin. */
function run(bed: SetBed, steps = 400, isCalm = false): void {
  for (let count = 0; count < steps; count += 1) {
    bed.clock.nowMs += 1000;
    stepRepairs(bed, isCalm);
  }
}

describe('stepRepairs', () => {
  it('marks a machine that is not Ready, once and with a grant, and no other one', () => {
    const bed = createSetBed();
    put(bed, 'm-ill', 'False');
    put(bed, 'm-well', 'True');
    run(bed);
    expect(grantOf(bed, 'm-ill')).toMatchObject({ action: 'ReplaceMachine', state: 'Started' });
    expect(markOf(bed, 'm-ill')).toBe(grantOf(bed, 'm-ill')?.id);
    expect([grantOf(bed, 'm-well'), markOf(bed, 'm-well')]).toEqual([undefined, undefined]);
  });

  it('begins no job once everything is calm', () => {
    const bed = createSetBed();
    put(bed, 'm-ill', 'False');
    run(bed, 400, true);
    expect(grantOf(bed, 'm-ill')).toBeUndefined();
  });

  it('ends minutes after the machine came back, and takes its mark away', () => {
    const bed = createSetBed();
    put(bed, 'm-ill', 'False');
    run(bed);
    put(bed, 'm-ill', 'True');
    run(bed, 500, true);
    expect([grantOf(bed, 'm-ill')?.state, markOf(bed, 'm-ill')]).toEqual(['Started', expect.any(String)]);
    run(bed, 200, true);
    expect(grantOf(bed, 'm-ill')).toMatchObject({ state: 'Settled', outcome: 'Failed' });
    expect(markOf(bed, 'm-ill')).toBeUndefined();
  });

  it('has succeeded when the machine does not exist any more', () => {
    const bed = createSetBed();
    const { metadata } = put(bed, 'm-ill', 'False');
    run(bed);
    const found = bed.api.get(MACHINES, metadata.name);
    if (found) bed.api.put({ ...found, metadata: { ...found.metadata, finalizers: [] } });
    bed.asPerson(() => void bed.api.delete(MACHINES, metadata));
    run(bed, 1, true);
    expect(grantOf(bed, 'm-ill')).toMatchObject({ state: 'Settled', outcome: 'Succeeded' });
  });
});
