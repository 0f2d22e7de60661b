import { expect, it } from 'vitest';
import { readinessOf } from '../../../src/api/machine/node-state.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { silence, stepInstances } from '../../../src/sim/machines/instance-hosts.ts';
import { createSetBed, type SetBed } from './set-bed.ts';

function live(bed: SetBed, seconds: number): string {
  for (let left = seconds; left > 0; left -= 5) {
    bed.clock.nowMs += 5000;
    stepInstances(bed);
  }
  const node = bed.api.get(NODES, 'm-1');
  return node ? readinessOf(node) : 'None';
}

it('joins when its instance has started, and is silent while it is stopped and after its end', () => {
  const bed = createSetBed();
  const machine = bed.addMachine('m-1');
  const id = bed.addInstance(machine);
  expect(live(bed, 5)).toBe('None');
  expect(live(bed, 80)).toBe('Ready');
  const instance = bed.cloud.get(id);
  if (instance) instance.state = 'Stopped';
  expect(live(bed, 10)).toBe('NotReady');
  if (instance) instance.state = 'Running';
  expect(live(bed, 10)).toBe('Ready');
  for (const host of bed.hosts.values()) silence(host, bed.clock.nowMs + 20_000);
  expect([live(bed, 15), live(bed, 15)]).toEqual(['NotReady', 'Ready']);
  bed.cloud.delete(id);
  expect([live(bed, 40), bed.hosts.size]).toEqual(['Unknown', 0]);
});

it('does not join a Machine that is not its own', () => {
  const bed = createSetBed();
  bed.addInstance({ ...bed.addMachine('m-1'), metadata: { name: 'm-1', uid: 'another' } });
  expect([live(bed, 100), bed.hosts.size]).toEqual(['None', 0]);
});
