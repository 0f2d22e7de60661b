import { describe, expect, it } from 'vitest';
import type { Denial } from '../../../../src/api/grants.ts';
import { denialResult } from '../../../../src/controllers/machine/execute/drain.ts';
import type { ReconcileContext } from '../../../../src/kube/controller/reconcile-context.ts';
import { ago, NOW } from '../../../support/builders.ts';

const context = { clock: { now: () => NOW } } as unknown as ReconcileContext;

function retryAfterSeconds(denial: Partial<Denial> | undefined): number {
  const full = denial && {
    granted: false as const,
    reason: 'KillSwitch' as const,
    message: '',
    also: [],
    ...denial,
  };
  return (+denialResult(full, context).requeueAt - +NOW) / 1000;
}

describe('denialResult', () => {
  it.each<[what: string, denial: Partial<Denial> | undefined, seconds: number]>([
    ['without an answer', undefined, 5],
    ['that names no end', {}, 5],
    ['of a machine that is busy', { reason: 'NodeBusy' }, 2],
    ['that ends in 2 seconds', { retryAt: new Date(ago(-2)) }, 5],
    ['that ends in 20 seconds', { retryAt: new Date(ago(-20)) }, 20],
    // People change limits, and other acts end.
    ['that ends in an hour', { retryAt: new Date(ago(-3600)) }, 30],
  ])('asks again after a denial %s', (_what, denial, seconds) => {
    expect(retryAfterSeconds(denial)).toBe(seconds);
  });

  it('names the reason of the denial, or that the Defender did not answer', () => {
    const denial = { granted: false, reason: 'Freeze', message: 'freeze fair', also: [] } as const;
    expect(denialResult(denial, context).wait.message).toBe('Freeze: freeze fair');
    expect(denialResult(undefined, context).wait.message).toBe('LedgerUnavailable: no answer');
  });
});
