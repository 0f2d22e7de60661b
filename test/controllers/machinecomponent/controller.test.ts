import { describe, expect, it } from 'vitest';
import {
  MACHINE_COMPONENT_SETS,
  MACHINE_COMPONENTS,
  MACHINES,
} from '../../../src/api/generated/resources.ts';
import type { Machine, MachineComponent, MachineComponentSet } from '../../../src/api/generated/types.ts';
import { createMachineComponentController } from '../../../src/controllers/machinecomponent/controller.ts';
import { servedKind } from '../../../src/sim/api-server/kinds.ts';
import { componentSpec } from '../../support/agent/component-spec.ts';
import { machine } from '../../support/builders.ts';
import { type ControllerBed, createControllerBed, sweepCrashes } from '../../support/controller/bed.ts';

const KINDS = [servedKind(MACHINE_COMPONENTS), servedKind(MACHINE_COMPONENT_SETS), servedKind(MACHINES)];
const apiVersion = 'kubenode.dev/v1alpha1';

function component(version: string): MachineComponent {
  const metadata = { name: `proxy-${version}` };
  return { apiVersion, kind: 'MachineComponent', metadata, spec: componentSpec(version) };
}

function set(version: string): MachineComponentSet {
  const components = [{ name: 'proxy', componentRef: `proxy-${version}`, state: 'Present', parameters: {} }];
  const metadata = { name: 'general' };
  return {
    apiVersion,
    kind: 'MachineComponentSet',
    metadata,
    spec: { components },
  } as unknown as MachineComponentSet;
}

function machineWith(version: string): Machine {
  const { metadata: _, status: __, ...rest } = machine('n17');
  const components = [
    { name: 'proxy', componentRef: `proxy-${version}`, digest: 'd', state: 'Present', parameters: {} },
  ];
  return { ...rest, metadata: { name: 'n17' }, spec: { ...rest.spec, components } } as unknown as Machine;
}

function optionsFor(...objects: readonly MachineComponent[]): Parameters<typeof createControllerBed>[0] {
  return { controllers: [createMachineComponentController()], kinds: KINDS, objects };
}

function phaseOf(bed: ControllerBed, version: string): string | undefined {
  return bed.get<MachineComponent>(MACHINE_COMPONENTS, `proxy-${version}`)?.status?.phase;
}

describe('the controller of MachineComponents', () => {
  it('writes the status once, and again when a set or a machine begins or ends to use the version', async () => {
    const bed = createControllerBed(optionsFor(component('1.0'), component('2.0')));
    await bed.start();
    await bed.advance(3000);
    expect([phaseOf(bed, '1.0'), phaseOf(bed, '2.0')]).toEqual(['Unused', 'Unused']);
    expect(bed.writes()).toHaveLength(2);
    bed.apply(set('1.0'));
    bed.apply(machineWith('1.0'));
    await bed.advance(3000);
    expect([phaseOf(bed, '1.0'), phaseOf(bed, '2.0')]).toEqual(['InUse', 'Unused']);
    bed.apply(set('2.0'));
    await bed.advance(3000);
    expect([phaseOf(bed, '1.0'), phaseOf(bed, '2.0')]).toEqual(['InUse', 'InUse']);
    bed.apply(machineWith('2.0'));
    await bed.advance(3000);
    expect([phaseOf(bed, '1.0'), phaseOf(bed, '2.0')]).toEqual(['Unused', 'InUse']);
    bed.writes();
    await bed.advance(600_000);
    expect(bed.writes()).toEqual([]);
  });

  it('ends the same after a crash at each of its writes', async () => {
    const writes = await sweepCrashes(optionsFor(component('1.0')), (bed) => {
      expect(phaseOf(bed, '1.0')).toBe('Unused');
    });
    expect(writes).toBe(1);
  });
});
