import { describe, expect, it } from 'vitest';
import { rolloutBatch } from '../../../../src/controllers/componentset/status/batch.ts';
import { ago } from '../../../support/builders.ts';
import { BATCH, member, progressOf } from '../rollout/rollout-input.ts';
import { reportOf } from './set-report.ts';
import { DONE, FAILED, IN_WORK, STEADY } from './situations.ts';

describe('rolloutBatch', () => {
  it('ROL-60 shows the open batch, what it has reached, and how many batches follow', () => {
    const soakUntil = new Date(ago(-60));
    const members = [
      member('a', DONE),
      member('b', { ...FAILED, step: 'Settled' }),
      ...Array.from({ length: 12 }, (_, index) => member(`m-${index}`)),
    ];
    const progress = progressOf({ batch: { ...BATCH, total: 14, soakUntil } });
    expect(rolloutBatch(reportOf({ members, progress }))).toEqual({
      index: 1,
      of: 4,
      size: 2,
      total: 14,
      updated: 2,
      failed: 0,
      startedAt: ago(600).replace('Z', '.000Z'),
      soakUntil: soakUntil.toISOString(),
    });
  });

  it('ROL-60 leaves out of the batches that follow what the open one still takes, and machines that are skipped', () => {
    const members = [
      member('a', IN_WORK),
      member('b'),
      member('c', { hold: { reason: 'mine', scope: 'All' } }),
      member('d', { pinned: ['app'] }),
    ];
    expect(rolloutBatch(reportOf({ members }))).toMatchObject({ index: 1, of: 2, updated: 0 });
  });

  it('ROL-60 counts batches that follow without a machine that is left: those of a revision that came back', () => {
    const members = [member('a', DONE), member('b', { ...DONE, batch: 3 })];
    expect(rolloutBatch(reportOf({ members }))).toMatchObject({ index: 1, of: 4 });
  });

  it('ROL-30 counts the failed machines of the batch', () => {
    const members = [member('a', FAILED), member('b', DONE), member('c', { ...FAILED, batch: 0 })];
    const rollout = { failure: { maxFailed: 5, per: 'Rollout', onFailure: 'Pause' } } as const;
    expect(rolloutBatch(reportOf({ members, rollout }))).toMatchObject({ updated: 1, failed: 1 });
  });

  it('is absent when the rollout is at its end', () => {
    expect(rolloutBatch(reportOf({ members: [member('a', DONE)], progress: STEADY }))).toBeUndefined();
  });
});
