import { describe, expect, it } from 'vitest';
import type { Machine, MachineComponentSet } from '../../../../src/api/generated/types.ts';
import { membershipOf } from '../../../../src/controllers/componentset/members/membership.ts';
import { machine } from '../../../support/builders.ts';
import { componentSet } from '../component-set.ts';

const digest = `sha256:${'a'.repeat(64)}`;

/** `a=x` is a machine with label x=yes. `of` is the set of its entries. */
function labelled(name: string, labels: readonly string[], of?: string): Machine {
  const assignment = of === undefined ? {} : { assignment: { set: of, revision: 'r-1' } };
  const components = [
    {
      name: 'kubelet',
      componentRef: 'kubelet-1',
      digest,
      state: 'Present',
      parameters: {},
      ...assignment,
    } as const,
  ];
  return machine(name, {
    metadata: { labels: Object.fromEntries(labels.map((label) => [label, 'yes'])) },
    spec: { components },
  });
}

function setOf(
  name: string,
  label: string,
  components: readonly string[],
  metadata: { readonly deletionTimestamp?: string } = {},
): MachineComponentSet {
  return componentSet(name, {
    metadata,
    spec: {
      machineSelector: { all: false, matchLabels: { [label]: 'yes' } },
      components: components.map((each) => ({
        name: each,
        componentRef: `${each}-1`,
        state: 'Present',
        parameters: {},
      })),
    },
  });
}

const A = setOf('a', 'x', ['kubelet', 'runc']);
const DELETED = { deletionTimestamp: '2030-01-01T00:00:00Z' };

function namesOf(machines: readonly Machine[]): string {
  return machines.map(({ metadata }) => metadata.name).join(' ');
}

function membership(
  others: readonly MachineComponentSet[],
  machines: readonly Machine[],
  set = A,
): { readonly members: string; readonly conflicts: readonly string[]; readonly left: string } {
  const { members, conflicts, left } = membershipOf(set, [set, ...others], machines);
  return {
    members: namesOf(members),
    conflicts: conflicts.map(
      ({ machine: { metadata }, conflict }) => `${metadata.name}: ${conflict.because}`,
    ),
    left: namesOf(left),
  };
}

const NONE = { members: '', conflicts: [], left: '' };

describe('membershipOf', () => {
  it('ROL-06 has the machines that its selector matches', () => {
    const machines = [labelled('m-1', ['x']), labelled('m-2', ['y']), labelled('m-3', ['x', 'y'])];
    expect(membership([], machines)).toEqual({ ...NONE, members: 'm-1 m-3' });
  });

  it('ROL-06 shares a machine with a set of other components', () => {
    const other = setOf('b', 'x', ['containerd']);
    expect(membership([other], [labelled('m-1', ['x'])])).toEqual({ ...NONE, members: 'm-1' });
  });

  it('ROL-06 acts on no machine where another set names the same component, and names both', () => {
    const other = setOf('b', 'y', ['containerd', 'runc']);
    const machines = [labelled('m-1', ['x', 'y']), labelled('m-2', ['x'])];
    expect(membership([other], machines)).toEqual({
      ...NONE,
      members: 'm-2',
      conflicts: [
        'm-1: sets a and b both select machine m-1 and name component runc: change a selector, or remove the component from one of them',
      ],
    });
    expect(membership([A], machines, other)).toMatchObject({
      members: '',
      conflicts: [expect.stringContaining('sets b and a both select machine m-1')],
    });
  });

  it('ROL-06 blames the set that decides', () => {
    const { conflicts } = membershipOf(A, [setOf('b', 'x', ['runc']), A], [labelled('m-1', ['x'])]);
    expect(conflicts[0]?.conflict).toMatchObject({
      reason: 'SetConflict',
      blocker: { kind: 'MachineComponentSet', name: 'b' },
    });
  });

  it('ROL-06 has no conflict with a set that is being deleted', () => {
    const other = setOf('b', 'x', ['runc'], DELETED);
    expect(membership([other], [labelled('m-1', ['x'])])).toEqual({ ...NONE, members: 'm-1' });
  });

  it('ROL-40 knows the machines that left: they have entries of the set, and it no longer selects them', () => {
    const machines = [labelled('m-1', ['y'], 'a'), labelled('m-2', ['y'], 'b'), labelled('m-3', ['y'])];
    expect(membership([], machines)).toEqual({ ...NONE, left: 'm-1' });
  });

  it('ROL-40 lets a machine go that is being deleted', () => {
    const member = labelled('m-1', ['x'], 'a');
    const deleted = { ...member, metadata: { ...member.metadata, ...DELETED } };
    expect(membership([], [deleted, labelled('m-2', ['x'])])).toEqual({
      ...NONE,
      members: 'm-2',
      left: 'm-1',
    });
  });

  it('ROL-41 a set that is being deleted lets all machines go', () => {
    const machines = [labelled('m-1', ['x'], 'a'), labelled('m-2', ['x'])];
    expect(membership([], machines, setOf('a', 'x', ['kubelet'], DELETED))).toEqual({ ...NONE, left: 'm-1' });
  });
});
