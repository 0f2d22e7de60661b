import { describe, expect, it } from 'vitest';
import type { ComponentInput, DesiredComponent } from '../../../../src/agent/component/input.ts';
import type { ComponentPlan } from '../../../../src/agent/component/operation.ts';
import { planTransition } from '../../../../src/agent/component/transition/plan.ts';
import { absent, present } from '../../../support/agent/component-driver.ts';
import { componentInput, explainPlan, V1, V2 } from '../../../support/agent/component-input.ts';

const ORPHANED: DesiredComponent = { state: 'Orphaned' };
const STAGED = {
  step: 'Staged',
  entry: V2.id,
  direction: 'Forward',
  from: V1.id,
  to: V2.id,
  bootId: 'boot-1',
  boots: 0,
} as const;

function plan(input: Partial<ComponentInput>): string {
  const found: ComponentPlan = planTransition(componentInput(input));
  return explainPlan(found);
}

const COMMITTED = { current: V1.id, state: 'Committed' } as const;

describe('planTransition', () => {
  it.each<[string, DesiredComponent, Partial<ComponentInput['progress']>, string]>([
    ['begins a first install', present(V1), {}, 'record Fetching Forward to 1.0: another version is desired'],
    [
      'begins an upgrade',
      present(V2),
      COMMITTED,
      'record Fetching Forward to 1.1: another version is desired',
    ],
    ['has nothing to do at the desired version', present(V1), COMMITTED, 'nothing'],
    ['begins a removal', absent(), COMMITTED, 'record Staged Forward: the component is to be removed'],
    ['has nothing to do when it is removed', absent(), { state: 'Absent' }, 'nothing'],
    [
      'keeps a component whose entry was removed',
      ORPHANED,
      COMMITTED,
      'wait Orphaned: the entry was removed from the Machine: the component is kept',
    ],
    ['has nothing to do for an entry that never was', ORPHANED, {}, 'nothing'],
    [
      'waits for a valid entry',
      { state: 'Invalid', message: 'no artifact' },
      COMMITTED,
      'wait InvalidEntry: no artifact',
    ],
    [
      'does not try a denied entry again',
      present(V2),
      {
        ...COMMITTED,
        state: 'RolledBack',
        denied: [V2.id],
        failure: { code: 'UnitFailed', message: 'unit proxy failed' },
      },
      'wait Denied: proxy-1.1 failed on this machine: unit proxy failed. Change the entry, or set spec.retryToken to try again',
    ],
    [
      'does not try a denied removal again',
      absent('sha256:gone'),
      { ...COMMITTED, state: 'RolledBack', denied: ['sha256:gone'] },
      'wait Denied: the removal failed on this machine. Change the entry, or set spec.retryToken to try again',
    ],
    [
      'is committed again when the desired version is the one that it returned to',
      present(V1),
      { ...COMMITTED, state: 'RolledBack', denied: [V2.id] },
      'record Committed at 1.0: the version in force is the desired one',
    ],
    [
      'tries the version in force again after both failed and a person asked for it',
      present(V1),
      { ...COMMITTED, state: 'Failed' },
      'record Fetching Forward to 1.0: another version is desired',
    ],
    [
      'leaves a target that is no longer desired before anything stopped',
      present(V1),
      { ...COMMITTED, transition: STAGED },
      'record Committed at 1.0: the target is no longer desired',
    ],
    [
      'changes to a newer target before anything stopped',
      present(V1),
      { transition: { ...STAGED, from: undefined as never } },
      'record Fetching Forward to 1.0: another version is desired',
    ],
    [
      'ends a transition that has stopped units, whatever is desired meanwhile',
      present(V1),
      { ...COMMITTED, transition: { ...STAGED, step: 'Stopping' } },
      'StopUnit proxy, record Swapped Forward to 1.1: artifact changed, unit proxy changed, file /etc/proxy/proxy.conf changed',
    ],
  ])('%s', (_name, desired, progress, expected) => {
    expect(plan({ desired, progress: componentInput({}, progress).progress })).toBe(expected);
  });

  it('AGT-50 begins again for a repair job that comes while the version in force is tried again', () => {
    const transition = { ...STAGED, entry: V1.id, to: V1.id };
    const { progress } = componentInput({}, { ...COMMITTED, state: 'Failed', transition });
    expect(plan({ desired: present(V1), progress, reinstall: 'job' })).toBe(
      'record Fetching Forward to 1.0: a repair job installs the version in force again',
    );
  });
});
