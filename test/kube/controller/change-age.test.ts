import { expect, it } from 'vitest';
import { createStore } from '../../../src/kube/cache/store.ts';
import { trackChangeAge } from '../../../src/kube/controller/change-age.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

function thing(version: number, phase = 'one'): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { name: 'a', uid: 'u', resourceVersion: String(version) },
    status: { phase },
  };
}

// oxlint-disable-next-line typescript/explicit-function-return-type -- the parts of the bed
function bed(part?: (object: KubeObject) => unknown) {
  const clock = virtualClock();
  const store = createStore({ log: memoryLog() });
  const silence = { ms: 0 };
  const reflector = {
    freshness: () => ({ synced: true, lastContactAt: undefined, ageMs: silence.ms, error: undefined }),
    run: () => Promise.resolve(),
    synced: () => Promise.resolve(),
    retryNow: () => undefined,
  };
  const age = trackChangeAge({ store, reflector }, clock, part);
  return { clock, store, silence, age };
}

it('counts from the last write by our own clock, whatever the timestamps say', async () => {
  const { clock, store, age } = bed();
  store.put(thing(1));
  await clock.advance(5000);
  clock.jumpWall(3_600_000);
  expect(age.ageMs('a')).toBe(5000);
  store.put(thing(2));
  expect(age.ageMs('a')).toBe(0);
});

it('counts from the last change of the part, heartbeats aside', async () => {
  const { clock, store, age } = bed((object) => object['status']);
  store.put(thing(1));
  await clock.advance(5000);
  store.put(thing(2));
  expect(age.ageMs('a')).toBe(5000);
  store.put(thing(3, 'two'));
  expect(age.ageMs('a')).toBe(0);
});

it('does not grow while the server is silent: what happened then is unknown', async () => {
  const { clock, store, silence, age } = bed();
  store.put(thing(1));
  await clock.advance(5000);
  silence.ms = 4000;
  expect(age.ageMs('a')).toBe(1000);
  silence.ms = 9000;
  expect(age.ageMs('a')).toBe(0);
});

it('knows nothing of an object that is not there', () => {
  const { store, age } = bed();
  expect(age.ageMs('a')).toBeUndefined();
  store.put(thing(1));
  store.remove(thing(2));
  expect(age.ageMs('a')).toBeUndefined();
});
