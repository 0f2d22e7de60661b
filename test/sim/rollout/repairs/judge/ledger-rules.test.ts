import { describe, expect, it } from 'vitest';
import { createLedgerRules } from '../../../../../src/sim/rollout/repairs/judge/ledger-rules.ts';
import { judgedJob, judgedLedger } from '../repair-objects.ts';

const ENDED = judgedJob({ outcome: 'Succeeded' });

describe('createLedgerRules', () => {
  it('finds nothing when a grant is settled after the outcome of its job', () => {
    const rules = createLedgerRules();
    expect(rules.written(judgedLedger(), () => judgedJob())).toEqual([]);
    expect(rules.written(judgedLedger({ state: 'Settled', outcome: 'Succeeded' }), () => ENDED)).toEqual([]);
    expect(rules.openGrantOf(judgedLedger({ state: 'Settled' }), ENDED)).toEqual([]);
  });

  it('finds a grant that is settled before the outcome of its job', () => {
    const found = createLedgerRules().written(judgedLedger({ state: 'Settled' }), () => judgedJob());
    expect(found).toEqual(['a grant settled before the outcome of its job']);
  });

  it('finds a grant that is settled twice', () => {
    const rules = createLedgerRules();
    rules.written(judgedLedger({ state: 'Settled', outcome: 'Failed' }), () => ENDED);
    const twice = rules.written(judgedLedger({ state: 'Settled', outcome: 'Succeeded' }), () => ENDED);
    expect(twice).toEqual(['a grant settled twice']);
    expect(rules.written(judgedLedger(), () => ENDED)).toEqual(['a grant settled twice']);
  });

  it('finds a finalizer that leaves an open grant behind', () => {
    const found = createLedgerRules().openGrantOf(judgedLedger(), ENDED);
    expect(found).toEqual(['a job gave up its finalizer with an open grant']);
  });

  it('knows which grants the limit counts', () => {
    const rules = createLedgerRules();
    rules.written(judgedLedger({ risk: 'Pod' }), () => undefined);
    expect(rules.isDisruptive('g-1')).toBe(false);
    rules.written(judgedLedger({ id: 'g-2' }), () => undefined);
    expect(rules.isDisruptive('g-2')).toBe(true);
  });
});
