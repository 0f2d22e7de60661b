import { describe, expect, it } from 'vitest';
import { inOrder, type WaitingMachine } from '../../../src/controllers/componentset/order.ts';

const MACHINES: readonly (WaitingMachine & { readonly name: string })[] = Array.from(
  { length: 40 },
  (_, index) => ({
    name: `m-${index}`,
    uid: `uid-${index}`,
    isAvailable: index % 10 !== 0,
  }),
);

function namesOf(revision: string, { machines = MACHINES, preferUnhealthy = true } = {}): readonly string[] {
  return inOrder(machines, revision, { preferUnhealthy }).map(({ name }) => name);
}

describe('inOrder', () => {
  it('is the same in every process, whatever order the machines are read in', () => {
    expect(namesOf('r-1', { machines: MACHINES.toReversed() })).toEqual(namesOf('r-1'));
    expect(namesOf('r-1').toSorted()).toEqual(MACHINES.map(({ name }) => name).toSorted());
  });

  it('begins with other machines for another revision', () => {
    const first = Array.from({ length: 20 }, (_, index) =>
      namesOf(`r-${index}`, { preferUnhealthy: false }).at(0),
    );
    expect(new Set(first).size).toBeGreaterThan(8);
  });

  it('ROL-11 puts machines that do not serve first, unless the set forbids it', () => {
    const unavailable = ['m-0', 'm-10', 'm-20', 'm-30'];
    expect(namesOf('r-1').slice(0, 4).toSorted()).toEqual(unavailable);
    expect(namesOf('r-1', { preferUnhealthy: false }).slice(0, 4).toSorted()).not.toEqual(unavailable);
  });
});
