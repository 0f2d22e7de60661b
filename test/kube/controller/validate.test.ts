import { describe, expect, it } from 'vitest';
import { type KindRead, read } from '../../../src/kube/controller/controller.ts';
import { type Declaration, declarationErrors } from '../../../src/kube/controller/validate.ts';

const KINDS = ['Machine', 'Node', 'MachineSet'];

function reading(kind: string, keys?: () => string[]): KindRead {
  const resource = {
    group: 'test',
    version: 'v1',
    kind,
    plural: `${kind.toLowerCase()}s`,
    namespaced: false,
  };
  return read(resource, keys ? { keys } : {});
}

function declared(name: string, change: Partial<Declaration> = {}): Declaration {
  return {
    name,
    reads: [reading('Machine')],
    writes: [`Machine.status.${name}`],
    fieldManager: `kubenode-${name}`,
    ...change,
  };
}

describe('declarationErrors', () => {
  it('accepts controllers that write different fields', () => {
    const all = [
      declared('a', { writes: ['Machine.spec.components', 'Machine.status.conditions[Ready]'] }),
      declared('b', {
        writes: ['Machine.spec.componentsHeld', 'Machine.status.conditions[kubenode.dev/Synced]'],
      }),
      declared('c', {
        writes: ['MachineSet.spec.components'],
        reads: [reading('MachineSet'), reading('Node', () => [])],
      }),
    ];
    expect(declarationErrors(all, KINDS)).toEqual([]);
  });

  it('accepts a field that both of its writers share', () => {
    const shares = ['Node.spec.taints', 'Node.metadata.annotations[*]'];
    expect(declarationErrors([declared('a', { shares }), declared('b', { shares })], KINDS)).toEqual([]);
  });

  it('accepts a kind that a controller creates with fields that it shares', () => {
    const one = declared('a', { writes: [], shares: ['Node.spec'], creates: ['Node'] });
    expect(declarationErrors([one], KINDS)).toEqual([]);
  });

  it.each<[name: string, one: Partial<Declaration>, other: Partial<Declaration>, want: string]>([
    [
      'a field that only one of them shares',
      { shares: ['Node.spec.taints'] },
      { writes: ['Node.spec.taints'] },
      'controllers a and b both write Node.spec.taints',
    ],
    [
      'a field that only the other shares',
      { writes: ['Node.spec'] },
      { shares: ['Node.spec.taints'] },
      'controller a writes Node.spec and controller b writes Node.spec.taints: one contains the other',
    ],
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
      'controller a writes Machine.spec.x.y and controller b writes Machine.spec.x: one contains the other',
    ],
    [
      'a list and one of its entries',
      { writes: ['Machine.status.conditions'] },
      { writes: ['Machine.status.conditions[Ready]'] },
      'controller a writes Machine.status.conditions and controller b writes Machine.status.conditions[Ready]: one contains the other',
    ],
    [
      'the same field manager',
      { fieldManager: 'x' },
      { fieldManager: 'x' },
      'controllers a and b share the field manager x',
    ],
    ['the same name', {}, { name: 'a' }, 'two controllers are called a'],
  ])('refuses %s', (_, one, other, want) => {
    expect(declarationErrors([declared('a', one), declared('b', other)], KINDS)).toEqual([want]);
    expect(declarationErrors([declared('b', other), declared('a', one)], KINDS)).toHaveLength(1);
  });

  it.each<[name: string, one: Partial<Declaration>, want: string]>([
    [
      'a bad name',
      { name: 'My Controller' },
      "controller 'My Controller': expected a name of lower-case letters, digits and -",
    ],
    ['no reads', { reads: [] }, 'controller a reads no kind, so nothing would start a reconcile'],
    ['an unknown kind', { reads: [reading('Pod')] }, 'controller a reads Pod, but there is no view of Pod'],
    [
      'a kind without keys',
      { reads: [reading('Machine'), reading('Node')] },
      'controller a reads Node without keys. Declare the keys that it concerns',
    ],
    [
      'the same kind twice',
      { reads: [reading('Machine'), reading('Machine', () => [])] },
      'controller a reads Machine twice',
    ],
    [
      'a kind that it creates without any field',
      { creates: ['Node'] },
      'controller a creates Node, but declares no field of it in its writes or shares',
    ],
    [
      'a ServiceAccount without a namespace',
      { serviceAccount: { name: 'kubenode-machine' } },
      'controller a: the namespace of its ServiceAccount kubenode-machine is missing',
    ],
    [
      'a path without a field',
      { writes: ['Machine'] },
      "controller a writes 'Machine': expected a path of the form Kind.field.field[key]",
    ],
    [
      'a path without a kind',
      { writes: ['spec.x'] },
      "controller a writes 'spec.x': expected a path of the form Kind.field.field[key]",
    ],
    [
      'a path with a gap',
      { writes: ['Machine.spec..x'] },
      "controller a writes 'Machine.spec..x': expected a path of the form Kind.field.field[key]",
    ],
  ])('refuses %s', (_, one, want) => {
    expect(declarationErrors([declared('a', one)], KINDS)).toEqual([want]);
  });

  it('names every error at once', () => {
    const all = [
      declared('a', { writes: ['Machine.spec'] }),
      declared('b', { writes: ['Machine.spec'], reads: [] }),
    ];
    expect(declarationErrors(all, KINDS)).toHaveLength(2);
  });
});
