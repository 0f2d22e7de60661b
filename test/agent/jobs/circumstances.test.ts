import { describe, expect, it } from 'vitest';
import { changingComponent, entryFence, holdOf, isActiveJob } from '../../../src/agent/jobs/circumstances.ts';
import { TRANSITION_STEPS } from '../../../src/agent/journal/record.ts';
import type { Machine } from '../../../src/api/generated/types.ts';
import { type JobFields, later, repairJob } from '../../support/agent/jobs.ts';
import { NOW } from '../../support/virtual-clock.ts';

const STATE = { name: 'n1', uid: 'uid-1', generation: 1, spec: { components: [] }, components: {} } as never;

describe('circumstances of repair jobs', () => {
  it('AGT-54 has no safe point from the stop of a component until its end', () => {
    const changing = TRANSITION_STEPS.filter((step) => {
      const transition = { step, entry: 'e', direction: 'Forward', bootId: 'b', boots: 0 } as const;
      const progress = {
        component: 'a',
        state: 'Absent',
        denied: [],
        history: [],
        since: '',
        transition,
      } as const;
      return changingComponent({ components: new Map([['a', progress]]) }) === 'a';
    });
    expect(changing).toEqual(['Stopping', 'Swapped', 'Rebooting', 'Starting', 'Probation']);
  });

  it('knows the highest fence of the entries', () => {
    const components = [{ grant: { fence: 3 } }, {}, { grant: { fence: 9 } }];
    expect(entryFence({ spec: { components } as never })).toBe(9);
    expect(entryFence({ spec: { components: [] } as never })).toBe(0);
  });

  it('AGT-34 obeys a hold of the Machine, and that of the Node, which is a condition', () => {
    expect(holdOf(STATE, undefined, NOW)).toBe('None');
    expect(holdOf(STATE, held('False', 'HeldAll'), NOW)).toBe('None');
    expect(holdOf(STATE, held('True', 'HeldDisruptive'), NOW)).toBe('Disruptive');
    expect(holdOf(STATE, held('True', 'HeldAll'), NOW)).toBe('All');
    const annotated = { ...(STATE as object), holdAnnotation: `${later(60)}; work` } as never;
    expect(holdOf(annotated, undefined, NOW)).toBe('All');
  });

  it.each<[string, JobFields, boolean]>([
    ['that has a release', {}, true],
    ['that waits for another step', { release: null, status: { agent: { steps: [] } } }, false],
    [
      'between two of its steps',
      { release: null, status: { agent: { steps: [answer('Succeeded')] } } },
      true,
    ],
    [
      'whose only step was refused',
      { release: null, status: { agent: { steps: [answer('Refused')] } } },
      false,
    ],
    ['that is settled', { status: { conditions: [settled('True')] } }, false],
    ['that is being settled', { status: { conditions: [settled('False')] } }, true],
    ['that is deleted', { deletionTimestamp: later(0) }, false],
    ['past its deadline', { spec: { deadline: later(-1) } }, false],
  ])('AGT-54 keeps components from changing during a job %s: %j', (_, fields, expected) => {
    expect(isActiveJob(repairJob(fields), NOW)).toBe(expected);
  });
});

function held(status: string, reason: string): Machine {
  return { status: { conditions: [{ type: 'Held', status, reason }] } } as unknown as Machine;
}

function answer(state: 'Succeeded' | 'Refused') {
  return { id: 's1', try: 1, fence: 7, state } as const;
}

function settled(status: 'True' | 'False') {
  return { type: 'Settled', status, reason: 'Succeeded', message: '', lastTransitionTime: later(0) } as const;
}
