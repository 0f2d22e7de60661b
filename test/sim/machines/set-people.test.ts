import { describe, expect, it } from 'vitest';
import { MACHINE_SETS, MACHINES } from '../../../src/api/generated/resources.ts';
import type { MachineSet } from '../../../src/api/generated/types.ts';
import {
  befallSet,
  calmSet,
  editSet,
  interfereWithSet,
  replaceLost,
  SET,
} from '../../../src/sim/machines/set-people.ts';
import { createSetBed, type SetBed } from './set-bed.ts';

function specOf({ api }: SetBed): MachineSet['spec'] | undefined {
  return api.get<MachineSet>(MACHINE_SETS, SET)?.spec;
}

function factsOf(bed: SetBed): readonly string[] {
  const { replicas, paused } = specOf(bed) ?? {};
  const ofMachines = bed.api
    .list(MACHINES)
    .flatMap(({ spec, metadata }) => [
      `held ${spec.hold?.scope}`,
      `marked ${metadata.annotations !== undefined}`,
    ]);
  return [`replicas ${replicas}`, `paused ${paused}`, ...ofMachines];
}

/** As its controller does. */
function finish({ api }: SetBed, name: string): void {
  const machine = api.get(MACHINES, name);
  if (machine) api.put({ ...machine, metadata: { ...machine.metadata, finalizers: [] } });
}

describe('people', () => {
  it('scale, edit, pause, hold, mark and delete, and none of it is blamed on the controllers', () => {
    const bed = createSetBed();
    const found = new Set<string>();
    for (let count = 0; count < 400; count += 1) {
      if (bed.api.list(MACHINES).length < 3) bed.asPerson(() => void bed.addMachine(`m-${count}`));
      interfereWithSet(bed);
      for (const fact of factsOf(bed)) found.add(fact);
      for (const { metadata } of bed.api.list(MACHINES)) {
        if (metadata.deletionTimestamp !== undefined) finish(bed, metadata.name);
      }
    }
    for (const what of [
      'replicas 0',
      'replicas 4',
      'paused true',
      'held All',
      'held Disruptive',
      'marked true',
    ]) {
      expect([...found]).toContain(what);
    }
    expect(bed.judge.history.some((line) => line.endsWith('deleted by a person'))).toBe(true);
    expect(bed.faults().filter((what) => what.startsWith('a machine was deleted'))).toEqual([]);
  });

  it('end what disturbs the set, and delete the machines whose instance ended', () => {
    const bed = createSetBed();
    const machine = bed.addMachine('m-1', { hold: { reason: 'debugging', scope: 'All' } });
    bed.addInstance(machine);
    for (let count = 0; count < 200; count += 1) befallSet(bed);
    editSet(bed, (spec) => ({ ...spec, paused: true }));
    calmSet(bed, 3);
    expect(specOf(bed)).toMatchObject({ replicas: 3, paused: false });
    expect(bed.api.list(MACHINES).every(({ spec }) => spec.hold === undefined)).toBe(true);
    const lost = bed.addMachine('m-lost');
    bed.api.put({ ...lost, status: { conditions: [], infra: { state: 'Gone' } } });
    replaceLost(bed);
    expect(bed.api.get(MACHINES, 'm-lost')?.metadata.deletionTimestamp).toBeDefined();
  });
});
