import { expect, it } from 'vitest';
import { addPoint, POINT_MS, pointOf } from '../../../../src/console/state/history/points.ts';
import { applyPatch, diffStates } from '../../../../src/console/state/patch.ts';
import type {
  ConsoleState,
  HistoryPoint,
  RepairCard,
  RolloutCard,
} from '../../../../src/console/state/state.ts';
import { stateOf } from '../../fixtures.ts';

const NONE: HistoryPoint = { ready: 0, changing: 0, trouble: 0, repairs: 0, grants: 0, updated: 0 };

function repair(state: string): RepairCard {
  return {
    cluster: 'a',
    job: 'j',
    machine: 'm',
    rule: 'r',
    rung: 'reboot',
    attempt: 1,
    phase: 'Running',
    state,
    evidence: [],
    timeline: [],
    steps: [],
  };
}

function rollout(updated: number): RolloutCard {
  return {
    cluster: 'a',
    set: 's',
    phase: 'Rolling',
    state: 'Running',
    because: '',
    changes: [],
    selected: 9,
    updated,
    failed: 0,
    unblock: '',
    inWork: [],
  };
}

function recorded(points: number): ConsoleState['history'] {
  let history: ConsoleState['history'] = {};
  for (let index = 0; index < points; index += 1) {
    history = addPoint(history, index * POINT_MS, { ...NONE, changing: index });
  }
  return history;
}

it('counts machines by what a person sees, open repairs, and grants', () => {
  const phases = { 'a/1': 'Ready', 'a/2': 'Updating', 'a/3': 'NotReady', 'a/4': 'Held', 'a/5': 'Joining' };
  const grant = {
    cluster: 'a',
    machine: '2',
    id: 'g-1-0',
    action: 'Restart',
    state: 'Active',
    holder: 'general',
    since: '',
  };
  const state = stateOf(phases, {
    repairs: { 'a/x': repair('Running'), 'a/y': repair('Succeeded'), 'a/z': repair('NeedsPerson') },
    grants: { 'a/2': grant },
    rollouts: { 'a/general': rollout(3), 'a/gpu': rollout(4) },
  });
  expect(pointOf(state)).toEqual({ ready: 1, changing: 2, trouble: 1, repairs: 2, grants: 1, updated: 7 });
  const cordoned = { 'a/1': { p: 'Ready', c: { g: 'g-1-0' } }, 'a/2': { p: 'Ready', c: {} } };
  expect(pointOf({ ...state, machines: cordoned }).changing).toBe(1);
});

it('keeps an hour, in the order of time', () => {
  const history = recorded(730);
  const times = Object.keys(history).map(Number);
  expect([times.length, times[0], times.at(-1)]).toEqual([720, 50, 3645]);
  expect([history[50]?.changing, history[3645]?.changing]).toEqual([10, 729]);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

it('sends a page one point, and which one is too old', () => {
  const [before, after] = [720, 721].map((points) => ({ ...stateOf({}), history: recorded(points) }));
  const patch = diffStates(before as ConsoleState, after as ConsoleState);
  expect(patch).toEqual({ history: { set: { 3600: { ...NONE, changing: 720 } }, removed: ['0'] } });
  const shown = applyPatch(before as ConsoleState, patch ?? {});
  expect(shown.history).toEqual((after as ConsoleState).history);
});
