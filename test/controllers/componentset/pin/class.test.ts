import { describe, expect, it } from 'vitest';
import type {
  MachineComponent,
  MachineComponentEntry,
  MachineComponentReport,
} from '../../../../src/api/generated/types.ts';
import { classOfPins } from '../../../../src/controllers/componentset/pin/class.ts';
import { componentSpec } from '../../../support/agent/component-spec.ts';
import { component, machine } from '../../../support/builders.ts';

const PIN: MachineComponentEntry = { ...component('proxy', '2'), state: 'Present', parameters: {} };
const REMOVAL: MachineComponentEntry = { ...PIN, state: 'Absent' };

const SPECS = new Map([
  ['proxy-1', componentSpec('1', { activation: { class: 'Restart' } })],
  ['proxy-2', componentSpec('2', { activation: { class: 'Restart' } })],
  ['proxy-3', componentSpec('3', { activation: { class: 'Drain' } })],
]);

function find(ref: string): MachineComponent | undefined {
  const spec = SPECS.get(ref);
  return (
    spec && { apiVersion: 'kubenode.dev/v1alpha1', kind: 'MachineComponent', metadata: { name: ref }, spec }
  );
}

describe('classOfPins', () => {
  it.each<[what: string, pin: MachineComponentEntry, installed: string | undefined, expected: string]>([
    ['another version', PIN, 'proxy-1', 'Restart'],
    ['a version with a higher class', { ...PIN, componentRef: 'proxy-3' }, 'proxy-1', 'Drain'],
    ['other parameters of the same version, which are not known', PIN, 'proxy-2', 'Drain'],
    ['a version that is not found', { ...PIN, componentRef: 'proxy-9' }, 'proxy-1', 'Drain'],
    ['an installed version that is not found', PIN, 'proxy-0', 'Drain'],
    ['a removal that comes too late', REMOVAL, undefined, 'None'],
  ])('%s', (_what, pin, currentRef, expected) => {
    const reports: readonly MachineComponentReport[] =
      currentRef === undefined ? [] : [{ name: 'proxy', currentRef }];
    expect(classOfPins(machine('m-1', { status: { components: reports } }), [pin], find)).toBe(expected);
  });

  it('is the highest of all pins', () => {
    const reports = ['proxy', 'agent'].map((name) => ({ name, currentRef: 'proxy-1' }));
    const pins = [PIN, { ...PIN, name: 'agent', componentRef: 'proxy-3' }];
    expect(classOfPins(machine('m-1', { status: { components: reports } }), pins, find)).toBe('Drain');
  });
});
