import { expect, it } from 'vitest';
import type { Machine } from '../../../../src/api/generated/types.ts';
import { createStormWatch } from '../../../../src/sim/machines/judge/storms.ts';
import { createHost } from '../../../../src/sim/rollout/hosts.ts';
import { createSetBed } from '../set-bed.ts';

/** Machines that were in service once, by zone, of which the first ones are silent for 100 seconds. */
function stormOf(zones: readonly (string | undefined)[], silent: number, seconds = 100): number | undefined {
  const bed = createSetBed();
  const machines = zones.map((zone, index): Machine => {
    const machine = bed.addMachine(`m-${index}`, zone === undefined ? {} : { zone });
    const { name, uid = '' } = machine.metadata;
    if (index >= silent) bed.hosts.set(name, createHost(name, uid, bed.clock.nowMs));
    return { ...machine, status: { conditions: [], node: { uid: `node-${index}` } } };
  });
  const watch = createStormWatch(bed);
  const fromMs = bed.clock.nowMs;
  for (let left = seconds; left >= 0; left -= 5) {
    watch.observe(machines);
    bed.clock.nowMs += 5000;
  }
  const sinceMs = watch.sinceMs();
  return sinceMs === undefined ? undefined : (sinceMs - fromMs) / 1000;
}

const NO_ZONES = Array.from({ length: 10 }, () => undefined);

it.each<[name: string, since: number | undefined, zones: readonly (string | undefined)[], silent: number]>([
  ['40% of the set are silent', undefined, NO_ZONES, 4],
  ['more than 40% of the set are silent', 80, NO_ZONES, 5],
  ['the only machine is silent', undefined, [undefined], 1],
  ['half of a zone is silent', undefined, ['a', 'a', 'a', 'a', 'b', 'b', 'b'], 2],
  ['more than half of a zone is silent', 80, ['a', 'a', 'a', 'b', 'b', 'b', 'b'], 2],
])('MAC-33 is in a storm since the right moment when %s', (_, since, zones, silent) => {
  expect(stormOf(zones, silent)).toBe(since);
});

it('is not in a storm before agents count as silent', () => {
  expect(stormOf(NO_ZONES, 10, 75)).toBeUndefined();
});
