import { describe, expect, it } from 'vitest';
import { entryDigest } from '../../../../src/api/machine/entry-content.ts';
import { rolloutCounts } from '../../../../src/controllers/componentset/status/counts.ts';
import { condition, machine, NOW } from '../../../support/builders.ts';
import { member, NEW } from '../rollout/rollout-input.ts';
import { BUDGET_WAIT, draining } from './draining.ts';
import { denied, reportOf } from './set-report.ts';
import { DONE, FAILED, IN_WORK } from './situations.ts';

describe('rolloutCounts', () => {
  it('ROL-62 counts each machine by its state', () => {
    const [digest = ''] = NEW.components.map(entryDigest);
    const status = {
      conditions: [condition('DriftDetected', 'True')],
      components: [{ name: 'app', deniedDigests: [digest] }],
    };
    const members = [
      member('done', DONE),
      member('work', IN_WORK),
      { ...member('failed', { ...FAILED, readiness: 'NotReady' }), machine: machine('failed', { status }) },
      member('held', { hold: { reason: 'mine', scope: 'All' } }),
      member('pinned', { pinned: ['app'] }),
      member('silent', { isSilent: true }),
      member('queued'),
    ];
    const left = [member('left')];
    expect(rolloutCounts(reportOf({ members, left, paused: true }))).toEqual({
      selected: 7,
      updated: 1,
      ready: 5,
      inProgress: 1,
      failed: 1,
      rolledBack: 1,
      skipped: 1,
      held: 1,
      pinned: 1,
      drifted: 1,
      blocked: 4,
    });
  });

  it('ROL-12 counts a machine that the Defender denied as blocked, and one in the queue not', () => {
    const members = [member('a'), member('b'), member('c')];
    expect(rolloutCounts(reportOf({ members, denials: [denied('a')] })).blocked).toBe(1);
  });

  it('ROL-11 counts a machine in work once, whatever it waits for', () => {
    const members = [draining('a', BUDGET_WAIT)];
    expect(rolloutCounts(reportOf({ members }))).toMatchObject({ inProgress: 1, blocked: 0 });
  });

  it('ROL-62 does not count a machine that gave its grant back, in a ledger that is observed later', () => {
    const updated = member('a', {
      holdsGrant: true,
      step: 'InWork',
      reason: 'NotObserved',
      grantEndsAt: NOW,
    });
    const { grantEndsAt: _settled, ...done } = { ...updated, name: 'b' };
    const works = { ...done, name: 'c', reason: 'Probation' };
    expect(rolloutCounts(reportOf({ members: [updated, done] })).inProgress).toBe(1);
    expect(rolloutCounts(reportOf({ members: [updated, works] })).inProgress).toBe(2);
  });

  it('reads the entries of the desired revision as often for many machines as for one', () => {
    const members = Array.from({ length: 50 }, (_, index) => member(`m-${index}`));
    let reads = 0;
    const components = NEW.components.map((entry) => ({
      ...entry,
      get digest() {
        reads += 1;
        return entry.digest;
      },
    }));
    const desired = { revision: { ...NEW, components }, yanked: [] };
    const readsFor = (some: typeof members): number => {
      reads = 0;
      const report = reportOf({ members: some });
      rolloutCounts({ ...report, input: { ...report.input, desired } });
      return reads;
    };
    expect(readsFor(members.slice(0, 1))).toBeGreaterThan(0);
    expect(readsFor(members)).toBe(readsFor(members.slice(0, 1)));
  });
});
