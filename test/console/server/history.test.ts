import { expect, it } from 'vitest';
import { recordHistory } from '../../../src/console/server/history.ts';
import { POINT_MS } from '../../../src/console/state/history/points.ts';
import type { ConsoleState } from '../../../src/console/state/state.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { stateOf } from '../fixtures.ts';

it('adds a point every few seconds, without a page, and notifies those who follow', async () => {
  const clock = virtualClock();
  const startS = Math.floor(clock.now().getTime() / 1000);
  let state: ConsoleState = stateOf({ 'a/m-1': 'Ready' });
  const recorded = recordHistory({ current: () => state, subscribe: () => undefined }, clock);
  let notified = 0;
  recorded.subscribe(() => {
    notified += 1;
  });
  const stop = new AbortController();
  const running = recorded.run(stop.signal);
  state = stateOf({ 'a/m-1': 'Updating' });
  await clock.advance(POINT_MS);
  expect(recorded.current()).toEqual({
    ...state,
    history: {
      [startS]: { ready: 1, changing: 0, trouble: 0, repairs: 0, grants: 0, updated: 0 },
      [startS + POINT_MS / 1000]: { ready: 0, changing: 1, trouble: 0, repairs: 0, grants: 0, updated: 0 },
    },
  });
  expect(notified).toBe(2);
  stop.abort();
  await running;
});
