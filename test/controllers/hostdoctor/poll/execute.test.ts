import { describe, expect, it } from 'vitest';
import {
  MACHINES,
  MAINTENANCE_EVENTS,
  NODE_REMEDIERS,
  REMEDY_OPERATION_JOBS,
} from '../../../../src/api/generated/resources.ts';
import type { MaintenanceEvent } from '../../../../src/api/generated/types.ts';
import { createHostDoctorController } from '../../../../src/controllers/hostdoctor/controller.ts';
import { pollSeconds } from '../../../../src/controllers/hostdoctor/poll/execute.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { servedKind } from '../../../../src/sim/api-server/kinds.ts';
import { ApiRefusal } from '../../../../src/sim/api-server/refusal.ts';
import { ago, machine, NOW } from '../../../support/builders.ts';
import { type ControllerBed, createControllerBed } from '../../../support/controller/bed.ts';
import { maintenanceRule } from '../../../support/maintenance.ts';
import { type MemoryProvider, memoryProvider } from '../../../support/memory-provider.ts';

const KINDS = [MAINTENANCE_EVENTS, MACHINES, REMEDY_OPERATION_JOBS, NODE_REMEDIERS].map(servedKind);
const POLL_MS = 600_000;
const NOTICE = {
  eventId: 'e-1',
  instanceId: 'local:///m-1',
  type: 'Reboot',
  notBefore: new Date(ago(-86_400)),
};

function member(name: string): KubeObject {
  const {
    metadata: _,
    status: __,
    ...rest
  } = machine(name, { spec: { infra: { provider: 'local', config: {} } } });
  return { ...rest, metadata: { name } };
}

function optionsFor(provider: MemoryProvider): Parameters<typeof createControllerBed>[0] {
  return {
    controllers: () => [createHostDoctorController({ skewSeconds: () => 0, providers: { local: provider } })],
    kinds: KINDS,
    objects: [member('m-1'), member('m-2'), maintenanceRule()],
  };
}

function open(provider = memoryProvider(() => NOW)): {
  readonly bed: ControllerBed;
  readonly provider: MemoryProvider;
} {
  const bed = createControllerBed(optionsFor(provider));
  giveInstance(bed);
  return { bed, provider };
}

function giveInstance(bed: ControllerBed): void {
  const { apiVersion, kind } = member('m-1');
  const status = { infra: { providerID: 'local:///m-1' } };
  bed.apply({ apiVersion, kind, metadata: { name: 'm-1' }, status }, 'status');
}

function eventIn(bed: ControllerBed): MaintenanceEvent | undefined {
  return bed.get<MaintenanceEvent>(MAINTENANCE_EVENTS, 'local-e-1');
}

function specWrites(bed: ControllerBed): readonly string[] {
  return bed.writes().filter((line) => /^\w+ MaintenanceEvent \S+( ->.*)?$/.test(line));
}

describe('the poll of a provider', () => {
  it('MAC-37 reports a notice once, with one request for all machines, however often it is repeated', async () => {
    const { bed, provider } = open();
    provider.announced = [NOTICE];
    await bed.start();
    expect(eventIn(bed)?.spec).toMatchObject({ machine: 'm-1', type: 'Reboot', state: 'Scheduled' });
    expect(eventIn(bed)?.status?.phase).toBe('Pending');
    expect(specWrites(bed)).toHaveLength(1);
    await bed.advance(3 * POLL_MS);
    expect(provider.calls.filter((call) => call === 'events')).toHaveLength(4);
    expect(specWrites(bed)).toEqual([]);
  });

  it('MAC-37 reports the other notices when the API server refuses one, and logs that once', async () => {
    const { bed, provider } = open();
    provider.announced = [{ ...NOTICE, eventId: 'e-0', notBefore: NOW }, NOTICE];
    const refusal = new ApiRefusal(422, 'Invalid', 'not this one');
    for (const _ of [1, 2, 3]) bed.api.refuse(/^apply MaintenanceEvent local-e-0$/, refusal);
    await bed.start();
    expect(eventIn(bed)?.spec.state).toBe('Scheduled');
    await bed.advance(POLL_MS);
    const lines = bed.log.lines.filter(({ message }) => message === 'announced event skipped');
    expect(lines).toHaveLength(1);
    expect(JSON.stringify(lines)).toContain('MaintenanceEvent local-e-0 is refused: ');
  });

  it('MAC-37 counts no poll whose reports failed: three of them within seconds end nothing', async () => {
    const { bed, provider } = open();
    provider.announced = [NOTICE];
    await bed.start();
    provider.announced = [{ ...NOTICE, eventId: 'e-2' }];
    const refusal = new ApiRefusal(500, 'InternalError', 'not now');
    for (const _ of [1, 2, 3, 4]) bed.api.refuse(/^apply MaintenanceEvent local-e-2$/, refusal);
    await bed.advance(POLL_MS + 60_000);
    expect(bed.get<MaintenanceEvent>(MAINTENANCE_EVENTS, 'local-e-2')?.spec.state).toBe('Scheduled');
    expect(eventIn(bed)?.spec.state).toBe('Scheduled');
  });

  it('MAC-37 follows a time that is moved, and cancels what is taken back for good', async () => {
    const { bed, provider } = open();
    provider.announced = [NOTICE];
    await bed.start();
    provider.announced = [{ ...NOTICE, notBefore: new Date(ago(-90_000)) }];
    await bed.advance(POLL_MS);
    expect(eventIn(bed)?.spec.notBefore).toBe('2030-01-02T13:00:00Z');
    provider.announced = [];
    await bed.advance(2 * POLL_MS);
    expect(eventIn(bed)?.spec.state).toBe('Scheduled');
    await bed.advance(POLL_MS);
    expect(eventIn(bed)?.spec.state).toBe('Cancelled');
    expect(eventIn(bed)?.status?.phase).toBe('Done');
  });

  it('R39 reports what was carried out as Done, without an impossible change of state', async () => {
    const { bed, provider } = open();
    provider.announced = [{ ...NOTICE, notBefore: new Date(ago(-60)) }];
    await bed.start();
    provider.announced = [];
    await bed.advance(3 * POLL_MS);
    expect(eventIn(bed)?.spec.state).toBe('Executing');
    await bed.advance(POLL_MS);
    expect([eventIn(bed)?.spec.state, eventIn(bed)?.status?.phase]).toEqual(['Done', 'Done']);
  });

  it.each(['RetryableBefore', 'AmbiguousAfter', 'Auth', 'Throttled'] as const)(
    'MAC-37 ends nothing while the provider fails with %s, and logs it once',
    async (fault) => {
      const { bed, provider } = open();
      provider.announced = [NOTICE];
      await bed.start();
      provider.announced = [];
      provider.fault = () => fault;
      await bed.advance(6 * POLL_MS);
      expect(eventIn(bed)?.spec.state).toBe('Scheduled');
      const lines = bed.log.lines.filter(({ message }) => message === 'events of the provider not read');
      expect(lines).toHaveLength(1);
    },
  );

  it('MAC-37 gives up a provider that does not answer, and asks again', async () => {
    const { bed, provider } = open();
    let asked = 0;
    provider.events = (signal) => {
      asked += 1;
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      );
    };
    await bed.start();
    await bed.advance(31_000);
    await bed.advance(POLL_MS);
    expect(asked).toBe(2);
  });

  it('MAC-37 reports the event of a machine that gets its instance later', async () => {
    const provider = memoryProvider(() => NOW);
    const bed = createControllerBed(optionsFor(provider));
    provider.announced = [NOTICE];
    await bed.start();
    expect(eventIn(bed)).toBeUndefined();
    expect(bed.log.lines.map(({ message }) => message)).toContain('announced event skipped');
    giveInstance(bed);
    await bed.advance(POLL_MS);
    expect(eventIn(bed)?.spec.machine).toBe('m-1');
  });

  it('MAC-37 sends no request for a provider without the capability, or without machines', async () => {
    const provider = memoryProvider(() => NOW);
    const quiet = { ...provider, capabilities: { ...provider.capabilities, events: false } };
    const bed = createControllerBed(optionsFor(quiet));
    await bed.start();
    await bed.advance(POLL_MS);
    expect(provider.calls).toEqual([]);
    const empty = createControllerBed({ ...optionsFor(provider), objects: [] });
    await empty.start();
    await empty.advance(POLL_MS);
    expect(provider.calls).toEqual([]);
  });

  it.each(
    [1, 2, 3].flatMap((n) => [
      { n, when: 'before' as const },
      { n, when: 'after' as const },
    ]),
  )('R30 reports one event although the process crashes $when its write $n', async (crash) => {
    const { bed, provider } = open();
    provider.announced = [NOTICE];
    const first = await bed.start(crash);
    await bed.advance(10_000);
    expect(first.crashed).toBe(true);
    await first.kill();
    await bed.start();
    await bed.advance(10_000);
    expect([eventIn(bed)?.spec.state, eventIn(bed)?.status?.phase]).toEqual(['Scheduled', 'Pending']);
    expect(eventIn(bed)?.metadata.generation).toBe(1);
  });

  it('MAC-37 reports one event when two processes poll', async () => {
    const { bed, provider } = open();
    provider.announced = [NOTICE];
    await Promise.all([bed.start(), bed.start()]);
    await bed.advance(POLL_MS);
    expect(eventIn(bed)?.metadata.generation).toBe(1);
    expect(eventIn(bed)?.status?.reports).toBe(1);
  });
});

describe('the time between two polls', () => {
  it.each([
    [0, 600],
    [1, 600],
    [8, 600],
    [10, 480],
    [30, 160],
    [80, 60],
    [10_000, 60],
  ])('MAC-37 is bounded, and few machines cause few requests: %i machines, %i s', (machines, seconds) => {
    expect(pollSeconds(machines)).toBe(seconds);
  });
});
