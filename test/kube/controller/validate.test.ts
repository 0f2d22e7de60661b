import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Declaration, objectionsTo, overlap } from '../../../src/kube/controller/validate.ts';

const KINDS = ['Machine', 'Node', 'MachineSet'];

function declared(name: string, change: Partial<Declaration> = {}): Declaration {
  return {
    name,
    reads: ['Machine'],
    writes: [`Machine.status.${name}`],
    fieldManager: `kubenode-${name}`,
    ...change,
  };
}

describe('objectionsTo', () => {
  it('has none against controllers that leave each other alone', () => {
    const all = [
      declared('a', { writes: ['Machine.spec.components', 'Machine.status.conditions[Ready]'] }),
      declared('b', {
        writes: ['Machine.spec.componentsHeld', 'Machine.status.conditions[kubenode.dev/Synced]'],
      }),
      declared('c', {
        writes: ['MachineSet.spec.components'],
        reads: ['MachineSet', 'Node'],
        keys: { Node: () => [] },
      }),
    ];
    expect(objectionsTo(all, KINDS)).toEqual([]);
  });

  it.each<[name: string, one: Partial<Declaration>, other: Partial<Declaration>, want: string]>([
    [
      'the same field',
      { writes: ['Machine.spec.x'] },
      { writes: ['Machine.spec.x'] },
      'controllers a and b both write Machine.spec.x',
    ],
    [
      'a field and its parent',
      { writes: ['Machine.spec.x.y'] },
      { writes: ['Machine.spec.x'] },
      'controller a writes Machine.spec.x.y and controller b writes Machine.spec.x: one lies in the other',
    ],
    [
      'a list and one of its entries',
      { writes: ['Machine.status.conditions'] },
      { writes: ['Machine.status.conditions[Ready]'] },
      'controller a writes Machine.status.conditions and controller b writes Machine.status.conditions[Ready]: one lies in the other',
    ],
    [
      'the same field manager',
      { fieldManager: 'x' },
      { fieldManager: 'x' },
      'controllers a and b share the field manager x',
    ],
    ['the same name', {}, { name: 'a' }, 'two controllers are called a'],
  ])('refuses %s', (_, one, other, want) => {
    expect(objectionsTo([declared('a', one), declared('b', other)], KINDS)).toEqual([want]);
    expect(objectionsTo([declared('b', other), declared('a', one)], KINDS)).toHaveLength(1);
  });

  it.each<[name: string, one: Partial<Declaration>, want: string]>([
    [
      'a bad name',
      { name: 'My Controller' },
      "controller 'My Controller': its name is not lower-case letters, digits and -",
    ],
    ['no reads', { reads: [] }, 'controller a reads nothing, so nothing would ever start a pass'],
    ['an unknown kind', { reads: ['Pod'] }, 'controller a reads Pod, but there is no view of Pod'],
    [
      'a kind without keys',
      { reads: ['Machine', 'Node'] },
      'controller a reads Node, but does not say which keys a change of it concerns',
    ],
    [
      'keys without a kind',
      { keys: { Node: () => [] } },
      'controller a has keys for Node, but does not read it',
    ],
    [
      'a path without a field',
      { writes: ['Machine'] },
      "controller a writes 'Machine', which is not of the form Kind.field.field[key]",
    ],
    [
      'a path without a kind',
      { writes: ['spec.x'] },
      "controller a writes 'spec.x', which is not of the form Kind.field.field[key]",
    ],
    [
      'a path with a gap',
      { writes: ['Machine.spec..x'] },
      "controller a writes 'Machine.spec..x', which is not of the form Kind.field.field[key]",
    ],
  ])('refuses %s', (_, one, want) => {
    expect(objectionsTo([declared('a', one)], KINDS)).toEqual([want]);
  });

  it('names every objection at once', () => {
    const all = [
      declared('a', { writes: ['Machine.spec'] }),
      declared('b', { writes: ['Machine.spec'], reads: [] }),
    ];
    expect(objectionsTo(all, KINDS)).toHaveLength(2);
  });
});

describe('overlap', () => {
  it('says yes exactly when one path leads through the other', () => {
    const anyStep = fc.constantFrom('.spec', '.status', '.x', '.xy', '[a.b]', '[a]');
    const anyPath = fc.array(anyStep, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(anyPath, anyPath, (one, other) => {
        const length = Math.min(one.length, other.length);
        const same = one.slice(0, length).join(' ') === other.slice(0, length).join(' ');
        expect(overlap(`Kind${one.join('')}`, `Kind${other.join('')}`)).toBe(same);
      }),
    );
  });
});
