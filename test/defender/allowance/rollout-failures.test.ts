import { describe, expect, it } from 'vitest';
import type { MachineComponentSet, RevisionRecord } from '../../../src/api/generated/types.ts';
import { rolloutFailures } from '../../../src/defender/allowance/rollout-failures.ts';
import { componentSet } from '../../controllers/componentset/component-set.ts';
import { ago, condition } from '../../support/builders.ts';

const STILL = ago(60);
const BEFORE: RevisionRecord = {
  revision: 'r-1',
  components: ['kubelet-1.36.2', 'containerd-2.1.0'],
  result: 'Completed',
  finishedAt: ago(9000),
};

function setWith(status: Partial<MachineComponentSet['status']>): MachineComponentSet {
  const components = [
    { name: 'kubelet', componentRef: 'kubelet-1.36.3', state: 'Present', parameters: {} },
    { name: 'containerd', componentRef: 'containerd-2.1.0', state: 'Present', parameters: {} },
    { name: 'old', componentRef: 'old-1', state: 'Absent', parameters: {} },
  ] as const;
  return componentSet('base', {
    spec: { components },
    status: { conditions: [], updateRevision: 'r-2', history: [BEFORE], ...status },
  });
}

function rolledBack(fields: Partial<RevisionRecord> = {}): RevisionRecord {
  const components = ['kubelet-1.36.3', 'containerd-2.1.0'];
  return { revision: 'r-2', components, result: 'RolledBack', finishedAt: ago(600), ...fields };
}

describe('rolloutFailures', () => {
  it('names what is new in a rollout that stopped because machines or checks failed', () => {
    const stopped = { reason: 'FailureBudgetSpent', message: 'machines failed: 2, allowed: 0' };
    const conditions = [condition('Stalled', 'True', { lastTransitionTime: ago(900) })];
    expect(rolloutFailures(setWith({ stopped, conditions }), STILL)).toEqual([
      {
        set: 'base',
        revision: 'r-2',
        components: ['kubelet-1.36.3'],
        at: ago(900),
        lastAt: STILL,
        because: 'FailureBudgetSpent: machines failed: 2, allowed: 0',
      },
    ]);
  });

  it.each(['Paused', 'ApprovalRequired', 'GateInconclusive', 'HealthUnknown'])(
    'counts no rollout that waits for people: %s',
    (reason) => {
      expect(rolloutFailures(setWith({ stopped: { reason, message: 'it waits' } }), STILL)).toEqual([]);
    },
  );

  it('counts a rollback while the machines go back, and when they have', () => {
    const [ended] = rolloutFailures(setWith({ history: [rolledBack(), BEFORE] }), STILL);
    expect(ended).toMatchObject({ components: ['kubelet-1.36.3'], at: ago(600), lastAt: ago(600) });
    const { finishedAt: _, ...open } = rolledBack();
    const [under] = rolloutFailures(setWith({ history: [open, BEFORE] }), STILL);
    expect(under).toMatchObject({ at: STILL, because: 'its machines go back' });
  });

  it('counts a revision once that stopped while it went back', () => {
    const stopped = { reason: 'RollbackImpossible', message: 'nothing completed before' };
    const found = rolloutFailures(setWith({ stopped, history: [rolledBack(), BEFORE] }), STILL);
    expect(found.map(({ revision, because }) => [revision, because])).toEqual([
      ['r-2', 'RollbackImpossible: nothing completed before'],
    ]);
  });

  it('finds nothing in a set that succeeded, or was replaced, or is new', () => {
    const superseded: RevisionRecord = { ...rolledBack(), result: 'Superseded' };
    expect(rolloutFailures(setWith({ history: [superseded, BEFORE] }), STILL)).toEqual([]);
    expect(rolloutFailures(componentSet('base'), STILL)).toEqual([]);
  });
});
