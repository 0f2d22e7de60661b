import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../../src/api/generated/types.ts';
import { coverageOf } from '../../../../src/cli/commands/component/coverage.ts';
import { usesOf } from '../../../../src/observability/fleet/component-uses.ts';
import { DESIRED, FLEET_WORDS, fleet, machine, PREVIOUS } from '../../../support/builders.ts';

function coverage(machines: readonly Machine[], versions: readonly string[] = []) {
  const components = versions.map((name) => ({
    component: 'kubelet',
    componentRef: name,
    phase: 'InUse',
  }));
  return coverageOf(machines.flatMap(usesOf), components, machines.length);
}

describe('coverageOf', () => {
  it('ROL-63 counts which version is desired and which one runs', () => {
    const [kubelet] = coverage(fleet('done done moving failed behind'), [DESIRED.componentRef]);
    expect(kubelet).toEqual({
      component: 'kubelet',
      machines: 5,
      total: 5,
      consistent: 3,
      versions: [
        { componentRef: 'kubelet-1.34.2', desired: 4, current: 4, failed: 1, phase: 'InUse' },
        { componentRef: 'kubelet-1.34.1', desired: 1, current: 1, failed: 0, phase: 'Missing' },
      ],
      differing: ['m-3', 'm-4'],
    });
  });

  it.each<[string, Machine, boolean]>([
    [
      'other content under the same name',
      {
        ...machine('m'),
        spec: {
          ...machine('m').spec,
          components: [{ ...DESIRED, digest: PREVIOUS.digest, state: 'Present', parameters: {} }],
        },
      },
      false,
    ],
    [
      'what does not run',
      machine('m', {
        status: {
          components: [{ name: 'kubelet', state: 'Committed', digest: DESIRED.digest, running: false }],
        },
      }),
      false,
    ],
    ['what no agent reported', machine('m', { status: { components: [] } }), false],
    [
      'what is removed',
      machine('m', {
        spec: { components: [{ ...DESIRED, state: 'Absent', parameters: {} }] },
        status: { components: [] },
      }),
      true,
    ],
    ['what should be removed and is still there', machine('m', { spec: { components: [] } }), false],
    ['what runs as desired', machine('m'), true],
  ])('ROL-63 tells whether it is consistent: %s', (_, found, isConsistent) => {
    expect(usesOf(found).map((use) => use.isConsistent)).toEqual([isConsistent]);
  });

  it('ROL-63 agrees with a count by hand over any fleet', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...FLEET_WORDS), { maxLength: 40 }), (words) => {
        const machines = fleet(words.join(' '));
        const [kubelet] = coverage(machines);
        const ofWord = (...names: string[]): number => words.filter((word) => names.includes(word)).length;
        expect(kubelet?.machines ?? 0).toBe(words.length);
        expect(kubelet?.consistent ?? 0).toBe(words.length - ofWord('moving', 'failed', 'silent'));
        const desired = kubelet?.versions.reduce((sum, version) => sum + version.desired, 0) ?? 0;
        expect(desired).toBe(words.length);
      }),
    );
  });

  it('bounds the list of names', () => {
    const [kubelet] = coverage(fleet('failed '.repeat(50)));
    expect(kubelet?.differing).toHaveLength(20);
  });

  it('also lists a version that runs nowhere', () => {
    const [kubelet] = coverage([], ['kubelet-9']);
    expect(kubelet?.versions).toEqual([
      { componentRef: 'kubelet-9', desired: 0, current: 0, failed: 0, phase: 'InUse' },
    ]);
  });
});
