import { expect, it } from 'vitest';
import { diffStates } from '../../../src/console/state/patch.ts';
import { showChange, showState } from '../../../src/console/state/shown.ts';
import { clusterLine, stateOf } from '../fixtures.ts';

it('shows after a change what it would show if it began with the state', () => {
  const before = stateOf({ 'a/m-1': 'Ready', 'a/m-2': 'Ready' }, { clusters: { a: clusterLine('a') } });
  const after = stateOf(
    { 'a/m-2': 'Held', 'b/m-1': 'Ready' },
    { clusters: { a: clusterLine('a', { state: 'Failed' }), b: clusterLine('b', { order: 1 }) } },
  );
  const shown = showState(before);
  expect(shown.state).not.toHaveProperty('machines');
  expect(showChange(shown, diffStates(before, after) ?? {})).toEqual(showState(after));
});
