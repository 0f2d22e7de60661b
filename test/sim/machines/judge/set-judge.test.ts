import { describe, expect, it } from 'vitest';
import { MACHINES } from '../../../../src/api/generated/resources.ts';
import { NODES } from '../../../../src/kube/objects/core-kinds.ts';
import { editSet } from '../../../../src/sim/machines/set-people.ts';
import { node } from '../../../support/builders.ts';
import { createSetBed, type SetBed } from '../set-bed.ts';

function createBed(replicas: number): SetBed {
  const bed = createSetBed();
  editSet(bed, (spec) => ({ ...spec, replicas, paused: false }));
  bed.clock.nowMs += 300_000;
  return bed;
}

describe('createSetJudge', () => {
  it('blames a Machine too many, and a deletion without a grant and without a surplus', () => {
    const bed = createBed(1);
    bed.addMachine('m-1');
    expect(bed.faults()).toEqual([]);
    bed.addMachine('m-2');
    expect(bed.faults()).toEqual(['machine 2 of 1']);
    bed.api.delete(MACHINES, { name: 'm-1' });
    expect(bed.faults().slice(1)).toEqual(['a machine was deleted without a grant']);
    bed.api.delete(MACHINES, { name: 'm-2' });
    expect(bed.faults().slice(2)).toEqual([
      'a machine was deleted without a grant',
      'a machine was deleted though it was not a surplus',
    ]);
  });

  it('does not blame what a person deletes', () => {
    const bed = createBed(1);
    bed.addMachine('m-1');
    bed.asPerson(() => void bed.api.delete(MACHINES, { name: 'm-1' }));
    expect([bed.faults(), bed.judge.history.at(-1)]).toEqual([
      [],
      '2030-01-01T00:05:00.000Z Machine m-1 deleted by a person',
    ]);
  });

  it('blames an instance without its Machine, a second one, and one that is deleted too early', () => {
    const bed = createBed(1);
    const machine = bed.addMachine('m-1');
    const id = bed.addInstance(machine);
    bed.judge.observe();
    expect(bed.faults()).toEqual([]);
    bed.addInstance({ ...machine, metadata: { name: 'm-1', uid: 'another' } });
    bed.judge.observe();
    expect(bed.faults()).toEqual([
      'a second instance of one Machine',
      'an instance without its Machine is created',
      'an instance without its Machine',
    ]);
    bed.cloud.delete(id);
    expect(bed.faults().slice(3)).toEqual([
      'the instance of a machine that is not deleted was deleted',
      'an instance was deleted without a grant',
    ]);
  });

  it('blames the deletion of a Node without a grant, a create without a search, and what is left', () => {
    const bed = createBed(1);
    bed.api.put(node('m-1'));
    bed.api.delete(NODES, { name: 'm-1' });
    bed.judge.unsearched('m-1');
    bed.judge.quiet(1);
    expect(bed.faults()).toEqual([
      'a Node was deleted without a grant',
      'an instance is created without a search for it',
      '0 machines at the end, and 1 asked for',
      '0 instances at the end, and 1 asked for',
      '0 Nodes at the end, and 1 asked for',
      'undefined Ready machines in the status of the set at the end, and 1 asked for',
    ]);
  });
});
