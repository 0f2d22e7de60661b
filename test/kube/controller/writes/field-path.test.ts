import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isFieldPath,
  overlap,
  parseFieldPath,
  stepOfEntry,
} from '../../../../src/kube/controller/writes/field-path.ts';

it.each([
  ['Machine.spec.components', true],
  ['Machine.status.conditions[kubenode.dev/Ready]', true],
  ['Machine.status.components[*].ready', true],
  ['Machine', false],
  ['spec.x', false],
  ['Machine.spec..x', false],
  ['Machine.spec.x[]', false],
])('isFieldPath(%s) is %s', (path, expected) => {
  expect(isFieldPath(path)).toBe(expected);
});

it('parses a kind, fields and entries', () => {
  expect(parseFieldPath('Node.metadata.labels[a.b/c].x')).toEqual({
    kind: 'Node',
    steps: ['metadata', 'labels', '[a.b/c]', 'x'],
  });
});

it.each([
  [{ type: 'Ready', status: 'True' }, '[Ready]'],
  [{ key: 'a/b', effect: 'NoSchedule' }, '[a/b]'],
  [{ name: 'containerd', unit: 'x' }, '[containerd]'],
  ['kubenode.dev/machine', '[kubenode.dev/machine]'],
  [{ size: 1 }, '[3]'],
  [7, '[3]'],
])('names the entry %j %s', (entry, step) => {
  expect(stepOfEntry(entry, 3)).toBe(step);
});

describe('overlap', () => {
  it('holds exactly when one path leads through the other', () => {
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

  it.each([
    ['Machine.status.components[*].ready', 'Machine.status.components[containerd].ready', true],
    ['Machine.status.components[*].ready', 'Machine.status.components[containerd].phase', false],
    ['Machine.status.components[*]', 'Machine.status.components', true],
    ['Machine.status[*]', 'Machine.status.components', false],
    ['Node.spec.x', 'Machine.spec.x', false],
  ])('of %s and %s is %s', (one, other, expected) => {
    expect(overlap(one, other)).toBe(expected);
    expect(overlap(other, one)).toBe(expected);
  });
});
