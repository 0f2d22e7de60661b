import { describe, expect, it } from 'vitest';
import {
  MACHINES,
  MAINTENANCE_EVENTS,
  NODE_REMEDIERS,
  REMEDY_OPERATION_JOBS,
} from '../../../src/api/generated/resources.ts';
import type { MaintenanceEvent } from '../../../src/api/generated/types.ts';
import { LABEL_POOL } from '../../../src/api/names.ts';
import { createHostDoctorController } from '../../../src/controllers/hostdoctor/controller.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { servedKind } from '../../../src/sim/api-server/kinds.ts';
import { ago, condition, machine } from '../../support/builders.ts';
import { type ControllerBed, createControllerBed, sweepCrashes } from '../../support/controller/bed.ts';
import {
  type EventParts,
  maintenanceEvent,
  maintenanceJob,
  maintenanceRule,
} from '../../support/maintenance.ts';

const KINDS = [MAINTENANCE_EVENTS, MACHINES, REMEDY_OPERATION_JOBS, NODE_REMEDIERS].map(servedKind);

/** With its cordon and its grant returned. */
function endedJob(): KubeObject {
  const { metadata, ...rest } = maintenanceJob({ outcome: 'Superseded' }, 'undone');
  return { ...rest, metadata: { name: metadata.name } };
}

/** Without what the API server sets. */
function declared(parts: EventParts = {}): MaintenanceEvent {
  const { metadata, ...rest } = maintenanceEvent(parts);
  return { ...rest, metadata: { name: metadata.name } };
}

function member(name: string): KubeObject {
  const { metadata: _, status: __, ...rest } = machine(name);
  return { ...rest, metadata: { name } };
}

function job(drain: 'draining' | 'drained'): KubeObject {
  const { metadata, ...rest } = maintenanceJob({}, drain);
  return { ...rest, metadata: { name: metadata.name, finalizers: metadata.finalizers ?? [] } };
}

function inPool(name: string, pool: string): KubeObject {
  return { ...member(name), metadata: { name, labels: { [LABEL_POOL]: pool } } };
}

/** Twenty of m-2, a minute each. */
const DRAINS = Array.from({ length: 20 }, (_, index) => {
  const parts = {
    machine: 'm-2',
    case: `0000000${index}`.slice(-8),
    begun: 70,
    outcome: 'Succeeded',
  } as const;
  const { metadata, ...rest } = maintenanceJob(parts, 'drained');
  return { ...rest, metadata: { name: metadata.name } };
});

function optionsFor(
  objects: readonly KubeObject[] = [],
  skewSeconds = 0,
): Parameters<typeof createControllerBed>[0] {
  return {
    controllers: [createHostDoctorController({ skewSeconds: () => skewSeconds })],
    kinds: KINDS,
    objects: [member('m-1'), maintenanceRule(), ...objects],
  };
}

function eventIn(bed: ControllerBed, name = 'local-e-1'): MaintenanceEvent | undefined {
  return bed.get<MaintenanceEvent>(MAINTENANCE_EVENTS, name);
}

function phaseIn(bed: ControllerBed, name = 'local-e-1'): string | undefined {
  return eventIn(bed, name)?.status?.phase;
}

function waitIn(bed: ControllerBed): string | undefined {
  return eventIn(bed)?.status?.waiting?.reason;
}

describe('the controller of MaintenanceEvents', () => {
  it('writes one status for an event that is reported a hundred times', async () => {
    const bed = createControllerBed(optionsFor());
    await bed.start();
    for (let report = 0; report < 100; report += 1) {
      bed.apply(declared());
      await bed.advance(100);
    }
    await bed.advance(3000);
    expect(bed.writes()).toEqual(['apply MaintenanceEvent local-e-1 status']);
    expect(eventIn(bed)?.status).toMatchObject({ phase: 'Pending', reports: 1, observedState: 'Scheduled' });
  });

  it('follows an event from its report to its end, and never writes anything but its status', async () => {
    const bed = createControllerBed(optionsFor([declared({ notBefore: ago(-1600) })]));
    await bed.start();
    await bed.advance(3000);
    const phases = [phaseIn(bed)];
    await bed.advance(100_000);
    phases.push(phaseIn(bed));
    for (const drain of ['draining', 'drained'] as const) {
      bed.apply(job(drain));
      bed.apply(job(drain), 'status');
      await bed.advance(3000);
      phases.push(phaseIn(bed));
    }
    bed.apply(declared({ notBefore: ago(-1600), state: 'Cancelled' }));
    await bed.advance(3000);
    phases.push(waitIn(bed));
    bed.apply(endedJob());
    bed.apply(endedJob(), 'status');
    await bed.advance(3000);
    phases.push(phaseIn(bed));
    expect(phases).toEqual(['Pending', 'Preparing', 'Preparing', 'Prepared', 'Undoing', 'Done']);
    expect(new Set(bed.writes())).toEqual(new Set(['apply MaintenanceEvent local-e-1 status']));
  });

  it('knows the state before after a restart', async () => {
    const bed = createControllerBed(optionsFor([declared()]));
    const first = await bed.start();
    await bed.advance(3000);
    await first.stop();
    bed.apply(declared({ state: 'Inquiring' }));
    await bed.start();
    await bed.advance(3000);
    expect(eventIn(bed)?.status).toMatchObject({
      observedState: 'Scheduled',
      waiting: { reason: 'Inconsistent' },
    });
    expect(eventIn(bed)?.status?.actAt).toBeUndefined();
  });

  it('settles a hint at its time without anything that happens', async () => {
    const bed = createControllerBed(optionsFor([declared({ hint: true, ttlSeconds: 60 })]));
    await bed.start();
    await bed.advance(59_000);
    expect(phaseIn(bed)).toBe('Pending');
    await bed.advance(2000);
    expect(phaseIn(bed)).toBe('Done');
  });

  it.each([120, -120])(
    'measures the time of a hint by the clock of the server with a skew of %i s',
    async (skew) => {
      // The server is where the bed is, and the process ahead or behind by the skew.
      const bed = createControllerBed(optionsFor([declared({ hint: true, ttlSeconds: 600 })], skew));
      await bed.start();
      await bed.advance((600 + skew) * 1000 - 3000);
      expect(phaseIn(bed)).toBe('Pending');
      await bed.advance(5000);
      expect(phaseIn(bed)).toBe('Done');
    },
  );

  it('notices that the machine goes, and that another one takes its name', async () => {
    const bed = createControllerBed(optionsFor([declared()]));
    await bed.start();
    await bed.advance(3000);
    bed.delete(MACHINES, 'm-1');
    await bed.advance(3000);
    expect(waitIn(bed)).toBe('MachineNotFound');
    bed.apply(member('m-1'));
    await bed.advance(3000);
    expect(waitIn(bed)).toBe('MachineReplaced');
  });

  it('begins with the earliest of 300 events', async () => {
    const names = Array.from({ length: 300 }, (_, index) => `e-${String(index).padStart(3, '0')}`);
    const events = names.map((name, index) =>
      declared({ name, machine: `n-${index}`, notBefore: ago(-1510 - 2 * (299 - index)) }),
    );
    const machines = names.map((_, index) => member(`n-${index}`));
    const bed = createControllerBed(optionsFor([...machines, ...events]));
    await bed.start();
    const begun: string[] = [];
    while (begun.length < names.length) {
      await bed.advance(10_000);
      begun.push(
        ...names.filter((name) => !begun.includes(name) && phaseIn(bed, name) === 'Preparing').toReversed(),
      );
    }
    expect(begun).toEqual(names.toReversed());
  });

  it('notices the instance of its machine, and a rule that stops acting', async () => {
    const bed = createControllerBed(optionsFor([declared({ notBefore: ago(0) })]));
    await bed.start();
    await bed.advance(3000);
    expect(waitIn(bed)).toBe('NoJobYet');
    bed.apply({ ...member('m-1'), status: { infra: { providerID: 'local://1' } } }, 'status');
    await bed.advance(3000);
    expect(eventIn(bed)?.status?.machine?.providerID).toBe('local://1');
    bed.apply(maintenanceRule('Shadow'));
    await bed.advance(3000);
    expect(waitIn(bed)).toBe('Shadow');
  });

  it.each([
    ['its own pool', 'a', '2030-01-01T12:49:00Z'],
    ['no other pool', 'b', '2030-01-01T12:35:00Z'],
  ])('takes the usual time of a drain from %s', async (_, pool, actAt) => {
    const bed = createControllerBed(optionsFor([inPool('m-1', 'a'), inPool('m-2', pool), ...DRAINS]));
    for (const drain of DRAINS) bed.apply(drain, 'status');
    bed.apply(declared());
    await bed.start();
    await bed.advance(3000);
    expect(eventIn(bed)?.status?.actAt).toBe(actAt);
  });

  it('deletes an event two weeks after its end', async () => {
    const settled = condition('Settled', 'True', { lastTransitionTime: ago(1_209_600 - 60) });
    const done = declared({ state: 'Done', status: { conditions: [settled] } });
    const bed = createControllerBed(optionsFor([done]));
    bed.apply(done, 'status');
    await bed.start();
    await bed.advance(3000);
    expect(phaseIn(bed)).toBe('Done');
    await bed.clock.advance(60_000);
    await bed.advance(3000);
    expect(eventIn(bed)).toBeUndefined();
  });

  it('ends the same after a crash at each of its writes', async () => {
    const writes = await sweepCrashes(optionsFor([declared()]), (bed) => {
      expect(phaseIn(bed)).toBe('Pending');
    });
    // The status and its Event.
    expect(writes).toBe(2);
  });
});
