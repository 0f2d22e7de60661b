import { expect, it } from 'vitest';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { createSimulatedApi } from '../../../src/sim/api-server/simulated-api.ts';
import { createRandom } from '../../../src/sim/random.ts';
import { createFollowingView } from '../../../src/sim/rollout/following-view.ts';

it('follows what is written and deleted, and is late while its watch is stuck', () => {
  let nowMs = 0;
  const api = createSimulatedApi({ nowMs: () => nowMs, changed: () => {} });
  const put = (name: string): unknown => api.put({ apiVersion: 'v1', kind: 'Node', metadata: { name } });
  const random = { ...createRandom(1), chance: () => nowMs === 5000 };
  put('a');
  const following = createFollowingView(NODES, {
    api,
    random,
    nowMs: () => nowMs,
    isCalm: () => false,
  });
  const names = (): readonly string[] => {
    following.follow();
    return following.view.store.list().map(({ metadata }) => metadata.name);
  };
  expect(names()).toEqual(['a']);
  put('b');
  api.delete(NODES, { name: 'a' });
  expect(names()).toEqual(['b']);
  nowMs = 5000;
  put('c');
  expect(names()).toEqual(['b']);
  expect(following.view.reflector.freshness().ageMs).toBe(5000);
  nowMs = 65_000;
  expect(names()).toEqual(['b', 'c']);
});

it('shows each event after the delay of its watch', () => {
  let nowMs = 0;
  const api = createSimulatedApi({ nowMs: () => nowMs, changed: () => {} });
  const random = { ...createRandom(1), chance: () => false };
  const options = { api, random, nowMs: () => nowMs, isCalm: () => false, delayMs: () => 30_000 };
  const following = createFollowingView(NODES, options);
  const names = (): readonly string[] => {
    following.follow();
    return following.view.store.list().map(({ metadata }) => metadata.name);
  };
  api.put({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } });
  nowMs = 29_000;
  api.put({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'b' } });
  expect(names()).toEqual([]);
  nowMs = 30_000;
  expect(names()).toEqual(['a']);
  nowMs = 59_000;
  expect(names()).toEqual(['a', 'b']);
});
