import { describe, expect, it } from 'vitest';
import { applyPatch, diffStates } from '../../../src/console/state/patch.ts';
import { type ConsoleState, NO_STATE } from '../../../src/console/state/state.ts';
import { clusterLine, stateOf } from '../fixtures.ts';

const one = stateOf({ 'a/m-1': 'Ready', 'a/m-2': 'Ready' });

describe('diffStates', () => {
  it.each<[name: string, before: ConsoleState, after: ConsoleState, patch: object | undefined]>([
    ['nothing for equal rows', one, stateOf({ 'a/m-1': 'Ready', 'a/m-2': 'Ready' }), undefined],
    [
      'a row that changed, and no other',
      one,
      stateOf({ 'a/m-1': 'Ready', 'a/m-2': 'Stalled' }),
      { machines: { set: { 'a/m-2': { p: 'Stalled' } }, removed: [] } },
    ],
    [
      'a row that was added',
      NO_STATE,
      stateOf({ 'a/m-1': 'Ready' }),
      { machines: { set: { 'a/m-1': { p: 'Ready' } }, removed: [] } },
    ],
    [
      'a row that was removed',
      one,
      stateOf({ 'a/m-1': 'Ready' }),
      { machines: { set: {}, removed: ['a/m-2'] } },
    ],
    [
      'each section that changed',
      stateOf({ 'a/m-1': 'Ready' }, { clusters: { a: clusterLine('a') } }),
      stateOf({}, { clusters: { a: clusterLine('a', { state: 'Failed' }) } }),
      {
        clusters: { set: { a: clusterLine('a', { state: 'Failed' }) }, removed: [] },
        machines: { set: {}, removed: ['a/m-1'] },
      },
    ],
  ])('contains %s', (_, before, after, patch) => {
    expect(diffStates(before, after)).toEqual(patch);
    expect(applyPatch(before, patch ?? {})).toEqual(after);
  });

  it('keeps rows and sections that did not change the same objects, so that the page draws only what changed', () => {
    const before = stateOf({ 'a/m-1': 'Ready', 'a/m-2': 'Ready' }, { clusters: { a: clusterLine('a') } });
    const after = applyPatch(before, { machines: { set: { 'a/m-2': { p: 'Stalled' } }, removed: [] } });
    expect(after.clusters).toBe(before.clusters);
    expect(after.machines['a/m-1']).toBe(before.machines['a/m-1']);
  });

  it('leaves out sections that the state does not have', () => {
    const change = { machines: { set: { 'a/m-1': { p: 'Held' } }, removed: [] } };
    expect(applyPatch({ notes: {} }, change)).toEqual({ notes: {} });
  });

  it('treats a key that every object has as any other', () => {
    const odd = stateOf({ constructor: 'Ready' });
    expect(diffStates(odd, NO_STATE)).toEqual({ machines: { set: {}, removed: ['constructor'] } });
    expect(diffStates(NO_STATE, odd)).toEqual({
      machines: { set: { constructor: { p: 'Ready' } }, removed: [] },
    });
  });
});
