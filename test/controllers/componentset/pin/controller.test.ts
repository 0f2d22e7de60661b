import { describe, expect, it } from 'vitest';
import { MACHINES } from '../../../../src/api/generated/resources.ts';
import type { Machine, MachineComponentEntry } from '../../../../src/api/generated/types.ts';
import { machineOfKey, pinKeys } from '../../../../src/controllers/componentset/pin/controller.ts';
import { component, machine } from '../../../support/builders.ts';
import { createFleetBed, type FleetBed } from '../fleet-bed.ts';
import { ownEntries } from '../managed-fields.ts';

const NAME = 'm-1';

function entry(version: string): MachineComponentEntry {
  return { ...component('app', version), state: 'Present', parameters: {} };
}

/** A person applies it, and no set exists. */
function pin(bed: FleetBed, version: string): void {
  const { apiVersion, kind, spec } = bed.get<Machine>(MACHINES, NAME) as Machine;
  bed.apply({
    apiVersion,
    kind,
    metadata: { name: NAME },
    spec: { ...spec, components: [entry(version)] },
  });
}

function summary(bed: FleetBed): string {
  const [found] = bed.machine(NAME)?.spec.components ?? [];
  return `${bed.summary()}; ${found?.componentRef} ${found?.grant ? 'with' : 'without'} a grant`;
}

/** A second process takes over. Whether the first one crashed. */
async function endAfterCrash(n: number, when: 'before' | 'after'): Promise<boolean> {
  const bed = createFleetBed({ machines: 1 });
  await bed.run(1);
  pin(bed, '1');
  const first = await bed.start({ n, when });
  await bed.run(8);
  const { crashed } = first;
  if (crashed) {
    await first.kill();
    await bed.start();
    await bed.run(12);
  }
  const activations = bed.agents.get(NAME)?.activations.get('app-1');
  const found = `${when} write ${n}: ${summary(bed)}; ${activations} activation`;
  expect(found).toBe(`${when} write ${n}: 1 run app-1; grants: 0; app-1 without a grant; 1 activation`);
  return crashed;
}

describe('reconcilePins', () => {
  it('ROL-06 permits what a person pins, in the name of the Machine, and settles it when it is in force', async () => {
    const bed = createFleetBed({ machines: 1 });
    await bed.run(1);
    await bed.start();
    pin(bed, '1');
    await bed.run(10);
    expect(summary(bed)).toBe('1 run app-1; grants: 0; app-1 without a grant');
    pin(bed, '2');
    await bed.run(10);
    expect(summary(bed)).toBe('1 run app-2; grants: 0; app-2 without a grant');
    expect(bed.grants.settled).toEqual([
      'g-1 UpdateComponent m-1: Succeeded',
      'g-2 UpdateComponent m-1: Succeeded',
    ]);
    bed.writes();
    await bed.run(60);
    expect(bed.writes()).toEqual([]);
  });

  it('ROL-06 permits nothing while the Defender denies it, and goes on when it does not', async () => {
    const bed = createFleetBed({ machines: 1 });
    await bed.run(1);
    await bed.start();
    bed.grants.deny = () => 'the kill switch is engaged';
    pin(bed, '1');
    await bed.run(20);
    expect(summary(bed)).toBe('1 run -; grants: 0; app-1 without a grant');
    bed.grants.deny = () => undefined;
    await bed.run(40);
    expect(summary(bed)).toBe('1 run app-1; grants: 0; app-1 without a grant');
  });

  it('ROL-06 settles a pin that the agent gives up', async () => {
    const bed = createFleetBed({ machines: 1 });
    bed.behaviorOf = () => 'Fails';
    await bed.run(1);
    await bed.start();
    pin(bed, '1');
    await bed.run(20);
    expect(bed.grants.settled).toEqual(['g-1 UpdateComponent m-1: Failed']);
    expect(summary(bed)).toBe('1 run -; grants: 0; app-1 without a grant');
  });

  it('ROL-06 takes a grant that is missing in the ledger out of the entry when it would be renewed', async () => {
    const bed = createFleetBed({ machines: 1 });
    bed.behaviorOf = () => 'Hangs';
    await bed.run(1);
    await bed.start();
    pin(bed, '1');
    await bed.run(5);
    await bed.grants.settle([{ id: 'g-1', fence: 1, outcome: 'Ambiguous' }]);
    await bed.run(100);
    expect(summary(bed)).toBe('1 run -; grants: 0; app-1 with a grant');
    await bed.run(100);
    expect(summary(bed)).toBe('1 run -; grants: 0; app-1 without a grant');
  });

  it('ROL-06 writes no grant for a pin that was changed while it was asked for', async () => {
    const bed = createFleetBed({ machines: 1 });
    await bed.run(1);
    await bed.start();
    bed.grants.deny = () => {
      bed.grants.deny = () => undefined;
      pin(bed, '2');
      return undefined;
    };
    pin(bed, '1');
    bed.writes();
    await bed.run(10);
    expect(bed.writes()[0]).toBe('apply Machine m-1 -> 409');
    expect(summary(bed)).toBe('1 run app-2; grants: 0; app-2 without a grant');
  });

  it.each(['before', 'after'] as const)(
    'ROL-06 activates a pin once and forgets no grant, after a crash %s each write',
    async (when) => {
      let n = 1;
      // oxlint-disable-next-line no-await-in-loop -- one crash after the other
      while (await endAfterCrash(n, when)) n += 1;
      expect(n).toBeGreaterThan(2);
    },
  );
});

describe('pinKeys', () => {
  it('is a key that no set has, for a machine that has a pin', () => {
    const components = [entry('1')];
    const pinned = machine(NAME, { metadata: { managedFields: [] }, spec: { components } });
    const ours = machine(NAME, { metadata: { managedFields: [ownEntries('app')] }, spec: { components } });
    expect([pinned, ours, machine('m-2')].map(pinKeys)).toEqual([['machine/m-1'], [], []]);
    expect(['machine/m-1', 'm-1'].map(machineOfKey)).toEqual(['m-1', undefined]);
  });
});
