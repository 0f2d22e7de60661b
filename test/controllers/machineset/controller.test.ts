import { describe, expect, it, vi } from 'vitest';
import { DEFENDER_LEDGERS, MACHINE_SETS, MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine, MachineSet } from '../../../src/api/generated/types.ts';
import { ANNOTATION_DELETE } from '../../../src/api/names.ts';
import { createMachineSetController } from '../../../src/controllers/machineset/controller.ts';
import { machineName } from '../../../src/controllers/machineset/names.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import type { Controller } from '../../../src/kube/controller/controller.ts';
import type { ReconcileContext } from '../../../src/kube/controller/reconcile-context.ts';
import { EVENTS } from '../../../src/kube/events/object.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { textAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { formatClaim } from '../../../src/providers/ssh/pool/claim.ts';
import { type ServedKind, servedKind } from '../../../src/sim/api-server/kinds.ts';
import { ApiRefusal } from '../../../src/sim/api-server/refusal.ts';
import { condition } from '../../support/builders.ts';
import { type ControllerBed, createControllerBed, sweepCrashes } from '../../support/controller/bed.ts';
import { machineSet, template } from '../../support/machine-sets.ts';
import { type MemoryGrants, memoryGrants } from '../../support/memory-grants.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const KINDS: readonly ServedKind[] = [MACHINE_SETS, MACHINES, NODES, DEFENDER_LEDGERS].map((kind) =>
  servedKind(kind),
);
const READY = ['Ready', 'AgentReady', 'NodeReady'].map((type) => condition(type, 'True'));

interface Bed extends ControllerBed {
  readonly grants: MemoryGrants;
  readonly machines: () => readonly Machine[];
  /** The machine controller has made all of them Ready. */
  readonly makeReady: () => Promise<void>;
  readonly change: (spec: Partial<MachineSet['spec']>) => Promise<void>;
  readonly status: () => MachineSet['status'];
}

function optionsFor(
  replicas: number,
  grants: MemoryGrants,
  wrapped: (controller: Controller) => Controller = (controller) => controller,
): Parameters<typeof createControllerBed>[0] {
  return {
    controllers: (client) => [wrapped(createMachineSetController({ client, grants }))],
    kinds: KINDS,
    objects: [personal(machineSet(replicas))],
  };
}

/** Reports of each reconcile how often it listed all machines. */
function counted(controller: Controller, passed: (lists: number) => void): Controller {
  return {
    ...controller,
    async reconcile(key, context) {
      let count = 0;
      const view = (resource: Resource): unknown => {
        const store = context.view(resource);
        if (resource.kind !== MACHINES.kind) return store;
        const list = (): readonly KubeObject[] => {
          count += 1;
          return store.list();
        };
        return { ...store, get: (name: string) => store.get(name), list };
      };
      const result = await controller.reconcile(key, { ...context, view } as unknown as ReconcileContext);
      passed(count);
      return result;
    },
  };
}

/** It never learns of its first deletion; but of the mark with which a person then puts another machine before that one. */
function forgetful(controller: Controller): Controller {
  let late: readonly Machine[] | undefined;
  return {
    ...controller,
    reconcile: (key, context) => {
      const remove: ReconcileContext['delete'] = async (resource, object, options) => {
        if (late) return await context.delete(resource, object, options);
        const machines = context.view<Machine>(MACHINES).list();
        late = machines.map((each) => (each.metadata.uid === object.metadata.uid ? each : marked(each)));
        await context.delete(resource, object, options);
        throw new KubeError('Timeout', 'the answer was lost');
      };
      const view = viewWith(context, () => late);
      return controller.reconcile(key, { ...context, view, delete: remove } as ReconcileContext);
    },
  };
}

/** It never sees the machine that it creates third. */
function unaware(controller: Controller): Controller {
  return {
    ...controller,
    reconcile: (key, context) => {
      const list = (): readonly Machine[] => {
        const third = nameOf(context.view<MachineSet>(MACHINE_SETS).get(key), 2);
        return context
          .view<Machine>(MACHINES)
          .list()
          .filter(({ metadata }) => metadata.name !== third);
      };
      return controller.reconcile(key, { ...context, view: viewWith(context, list) } as ReconcileContext);
    },
  };
}

function nameOf(set: MachineSet | undefined, index: number): string {
  return machineName(set?.metadata ?? { name: '' }, index);
}

function viewWith(context: ReconcileContext, list: () => readonly Machine[] | undefined) {
  return (resource: Resource): unknown => {
    const store = context.view(resource);
    if (resource.kind !== MACHINES.kind) return store;
    return { ...store, get: (name: string) => store.get(name), list: () => list() ?? store.list() };
  };
}

function marked(machine: Machine): Machine {
  return { ...machine, metadata: { ...machine.metadata, annotations: { [ANNOTATION_DELETE]: '' } } };
}

/** As a person writes it: its UID comes from the server. */
function personal({ metadata: { name }, ...rest }: MachineSet): MachineSet {
  return { ...rest, metadata: { name } };
}

async function start(replicas: number): Promise<Bed> {
  const grants = memoryGrants(virtualClock());
  const made = extend(createControllerBed(optionsFor(replicas, grants)), grants);
  await made.start();
  await made.advance(3000);
  return made;
}

function extend(made: ControllerBed, grants: MemoryGrants): Bed {
  const machines = (): readonly Machine[] =>
    made.api.objects.list({ resource: MACHINES }, undefined) as unknown as readonly Machine[];
  return {
    ...made,
    grants,
    machines,
    makeReady: async () => {
      for (const { apiVersion, kind, metadata } of machines()) {
        const status = { conditions: READY, node: { uid: 'n' } };
        made.apply({ apiVersion, kind, metadata: { name: metadata.name }, status }, 'status');
      }
      await made.advance(3000);
    },
    change: async (spec) => {
      const { apiVersion, kind, spec: before } = machineSet(0);
      made.apply({ apiVersion, kind, metadata: { name: 'general' }, spec: { ...before, ...spec } });
      await made.advance(3000);
    },
    status: () => made.get<MachineSet>(MACHINE_SETS, 'general')?.status,
  };
}

function reasons(bed: Bed): string {
  const { phase, conditions = [] } = bed.status() ?? {};
  return `${phase}: ${conditions.find(({ type }) => type === 'ScaledAsWanted')?.reason}`;
}

function stalledEvents({ api }: Bed): readonly (string | undefined)[] {
  return api.objects
    .list({ resource: EVENTS }, undefined)
    .filter((event) => textAt(event, 'reason') === 'ScaleStalled')
    .map((event) => textAt(event, 'note'));
}

describe('the machineset controller', () => {
  it('MAC-30 creates as many machines as desired, and no more', async () => {
    const bed = await start(3);
    expect(bed.machines()).toHaveLength(3);
    expect(bed.machines()[0]).toMatchObject({
      metadata: { labels: { 'kubenode.dev/machineset': 'general' }, ownerReferences: [{ controller: true }] },
      spec: { infra: { provider: 'local' }, host: { type: 'sandbox' } },
    });
    await bed.makeReady();
    expect([bed.machines().length, reasons(bed)]).toEqual([3, 'Ready: AsWanted']);
    bed.writes();
    await bed.advance(600_000);
    expect(bed.writes()).toEqual([]);
  });

  it('MAC-30 judges its machines a few times a second, however many of them change, and each time once', async () => {
    const passes: number[] = [];
    const grants = memoryGrants(virtualClock());
    const options = optionsFor(100, grants, (each) => counted(each, (count) => passes.push(count)));
    const made = extend(createControllerBed(options), grants);
    await made.start();
    await made.advance(5000);
    expect(made.machines()).toHaveLength(100);
    passes.length = 0;
    for (const { apiVersion, kind, metadata } of made.machines()) {
      const status = { conditions: READY, node: { uid: 'n' } };
      made.apply({ apiVersion, kind, metadata: { name: metadata.name }, status }, 'status');
      await made.advance(10);
    }
    await made.advance(1000);
    expect(made.status()?.readyReplicas).toBe(100);
    // Its own status, written once a second, starts one more.
    expect(passes.length).toBeLessThan(10);
    expect(new Set(passes)).toEqual(new Set([1]));
  });

  it('MAC-30 gives the name of a machine that was deleted again, but not while its host is not clean', async () => {
    const grants = memoryGrants(virtualClock());
    const infra = { provider: 'ssh', config: { pool: 'rack7' } } as const;
    const pooled = machineSet(1, { spec: { template: template({ infra, host: { type: 'systemd' } }) } });
    const [leases, objects] = [{ resource: LEASES }, [personal(pooled)]];
    const options = { ...optionsFor(1, grants), kinds: [...KINDS, leases], objects };
    const bed = extend(createControllerBed(options), grants);
    await bed.start();
    await bed.advance(3000);
    const names = (): readonly string[] => bed.machines().map(({ metadata }) => metadata.name);
    const [first = ''] = names();
    const recreate = async (): Promise<void> => {
      for (const name of names()) bed.api.objects.delete(servedKind(MACHINES), { name }, {});
      await bed.advance(3000);
      expect(names()).toHaveLength(1);
    };
    await recreate();
    expect(names()).toEqual([first]);
    const tags = { clusterUid: 'c-1', machineUid: 'm-1' };
    const claim = formatClaim({ machine: first, tags, state: 'Unclean', claimedAt: bed.clock.now() });
    bed.api.objects.create(leases, claim, { manager: 'machine', force: false });
    await recreate();
    expect(names()).not.toContain(first);
  });

  it('MAC-32 shows what it is about to do before it does it', async () => {
    const bed = await start(2);
    const [finalizer, status, ...rest] = bed.writes();
    expect([finalizer, status]).toEqual(['patch MachineSet general', 'apply MachineSet general status']);
    expect(rest.filter((what) => what.startsWith('apply Machine '))).toHaveLength(2);
    expect(bed.api.journal.find(({ what }) => what === status)?.body).toMatchObject({
      status: { plannedAction: { type: 'Create', machines: 2, because: '0 of 2 machines exist' } },
    });
  });

  it('MAC-31 deletes only with a grant', async () => {
    const bed = await start(3);
    await bed.makeReady();
    bed.grants.deny = () => 'the kill switch is engaged';
    await bed.change({ replicas: 1 });
    expect([bed.machines().length, reasons(bed)]).toEqual([3, 'Scaling: GrantDenied']);
    expect(bed.status()?.waiting).toMatchObject({
      reason: 'GrantDenied',
      blocker: { kind: 'Machine' },
      message: 'KillSwitch: the kill switch is engaged (and 1 more)',
    });
    bed.grants.deny = () => undefined;
    await bed.advance(35_000);
    expect([bed.machines().length, bed.grants.open.size, reasons(bed)]).toEqual([1, 2, 'Ready: AsWanted']);
  });

  it('MAC-04 becomes Stalled with one Event when its deletions are denied for as long as a drain', async () => {
    const bed = await start(2);
    await bed.makeReady();
    bed.grants.deny = () => 'the kill switch is engaged';
    await bed.change({ replicas: 1 });
    await bed.advance(1_700_000);
    expect([stalledEvents(bed), bed.status()?.phase]).toEqual([[], 'Scaling']);
    await bed.advance(200_000);
    expect([stalledEvents(bed), bed.status()?.phase]).toEqual([
      [expect.stringMatching(/^GrantDenied: since \S+: KillSwitch: the kill switch is engaged$/)],
      'Stalled',
    ]);
    await bed.advance(600_000);
    expect(stalledEvents(bed)).toHaveLength(1);
    bed.grants.deny = () => undefined;
    await bed.advance(35_000);
    expect([bed.machines().length, reasons(bed)]).toEqual([1, 'Ready: AsWanted']);
  });

  it('MAC-06 deletes no second machine when the answer to a deletion was lost, and the watch is late', async () => {
    const grants = memoryGrants(virtualClock());
    const bed = extend(createControllerBed(optionsFor(3, grants, forgetful)), grants);
    await bed.start();
    await bed.advance(3000);
    await bed.makeReady();
    await bed.change({ replicas: 2 });
    await bed.advance(60_000);
    const deletes = bed.writes().filter((what) => what.startsWith('delete Machine '));
    expect([bed.machines().length, deletes.length]).toEqual([2, 1]);
    // It is for the deletion that is under way.
    expect([bed.grants.open.size, bed.grants.settled]).toEqual([1, []]);
  });

  it('MAC-06 MAC-30 creates no machine more when the answer to a create was lost, and the watch is late', async () => {
    const grants = memoryGrants(virtualClock());
    const bed = extend(createControllerBed(optionsFor(2, grants, unaware)), grants);
    await bed.start();
    await bed.advance(3000);
    const name = nameOf(bed.get(MACHINE_SETS, 'general'), 0);
    const { apiVersion = '', kind = '' } = bed.machines()[0] ?? {};
    bed.apply({ apiVersion, kind, metadata: { name, finalizers: ['test/drain'] } });
    bed.delete(MACHINES, name);
    await bed.advance(3000);
    expect(bed.machines()).toHaveLength(3);
    // Its name becomes free, and comes before that of the third.
    bed.apply({ apiVersion, kind, metadata: { name, finalizers: [] } });
    await bed.advance(60_000);
    expect(bed.machines()).toHaveLength(2);
  });

  it('MAC-31 deletes those that it may, when the Defender denies the others', async () => {
    const bed = await start(2);
    await bed.makeReady();
    const [kept] = bed.machines();
    bed.grants.deny = (machine) => (machine === kept?.metadata.name ? 'busy' : undefined);
    await bed.change({ replicas: 0 });
    expect(bed.machines().map(({ metadata }) => metadata.name)).toEqual([kept?.metadata.name]);
  });

  it('MAC-31 returns the grant when a person holds the machine at the last moment', async () => {
    const bed = await start(1);
    await bed.makeReady();
    const [one] = bed.machines();
    const { apiVersion = '', kind = '', metadata } = one ?? {};
    const { ask } = bed.grants;
    let isHeld = false;
    Object.assign(bed.grants, {
      ask: async (asks: Parameters<typeof ask>[0]) => {
        const spec = { hold: { reason: 'debugging', scope: 'All' } };
        if (!isHeld) bed.apply({ apiVersion, kind, metadata: { name: metadata?.name ?? '' }, spec });
        isHeld = true;
        return await ask(asks);
      },
    });
    await bed.change({ replicas: 0 });
    expect([bed.machines().length, reasons(bed)]).toEqual([1, 'Scaling: MachinesHeld']);
    expect(bed.grants.settled).toEqual([`g-1 DeleteMachine ${metadata?.name}: Unused`]);
  });

  it('MAC-32 writes a changed template into its machines, and deletes none', async () => {
    const bed = await start(2);
    await bed.makeReady();
    const node = { labels: { tier: 'web' }, taints: [] };
    await bed.change({ replicas: 2, template: template({ labels: {}, node, host: { type: 'systemd' } }) });
    expect(
      bed.machines().map(({ metadata, spec }) => [metadata.labels?.['pool'], spec.node, spec.host]),
    ).toEqual([
      [undefined, node, { type: 'sandbox' }],
      [undefined, node, { type: 'sandbox' }],
    ]);
    expect(bed.grants.open.size).toBe(0);
    expect(bed.status()?.conditions.find(({ type }) => type === 'UpToDate')).toMatchObject({
      reason: 'ReplacementRequired',
    });
  });

  it('deletes its machines before itself', async () => {
    const bed = await start(2);
    await bed.makeReady();
    bed.grants.deny = () => 'not now';
    bed.delete(MACHINE_SETS, 'general');
    await bed.advance(3000);
    expect([bed.machines().length, reasons(bed)]).toEqual([2, 'Deleting: GrantDenied']);
    bed.grants.deny = () => undefined;
    await bed.advance(35_000);
    expect([bed.machines(), bed.get(MACHINE_SETS, 'general')]).toEqual([[], undefined]);
  });

  it('goes on with the other machines when one cannot be written, and tries it again', async () => {
    const grants = memoryGrants(virtualClock());
    const bed = extend(createControllerBed(optionsFor(3, grants)), grants);
    bed.api.refuse(/^apply Machine general/, new ApiRefusal(500, 'InternalError', 'etcd is slow'));
    await bed.start();
    await bed.advance(20_000);
    expect(bed.machines()).toHaveLength(3);
  });

  it.each([MACHINE_SETS, MACHINES, NODES])(
    'MAC-33 creates and deletes nothing while its view of $kind is stale, and then goes on',
    async ({ kind }) => {
      const grants = memoryGrants(virtualClock());
      const bed = extend(createControllerBed(optionsFor(3, grants)), grants);
      const { views } = await bed.start();
      await bed.advance(3000);
      await bed.makeReady();
      bed.writes();
      const reflector = views[kind]?.reflector;
      expect(reflector).toBeDefined();
      if (!reflector) return;
      const fresh = reflector.freshness.bind(reflector);
      const stale = vi
        .spyOn(reflector, 'freshness')
        .mockImplementation(() => ({ ...fresh(), ageMs: 150_001 }));
      await bed.change({ replicas: 1 });
      await bed.change({ replicas: 5 });
      await bed.change({ replicas: 0 });
      await bed.advance(600_000);
      expect([bed.machines().length, bed.writes(), grants.open.size]).toEqual([3, [], 0]);
      stale.mockRestore();
      await bed.advance(35_000);
      expect([bed.machines().length, reasons(bed)]).toEqual([0, 'Ready: AsWanted']);
    },
  );

  it('MAC-06 ends with the same machines when it is killed at any write, before or after it', async () => {
    const grants = memoryGrants(virtualClock());
    const points = await sweepCrashes(optionsFor(3, grants), (made, crash) => {
      const bed = extend(made, grants);
      expect([crash, bed.machines().length]).toEqual([crash, 3]);
      const creates = made.writes().filter((what) => /^apply Machine general-\S+$/.test(what));
      expect([crash, creates.length]).toEqual([crash, expect.toSatisfy((count: number) => count <= 4)]);
    });
    expect(points).toBeGreaterThan(4);
  });

  it('MAC-06 deletes each machine once when it is killed at any write of a scale-down', async () => {
    for (let n = 1; n < 8; n += 1) {
      for (const when of ['before', 'after'] as const) {
        // oxlint-disable no-await-in-loop -- one scenario after the other
        const grants = memoryGrants(virtualClock());
        const bed = extend(createControllerBed(optionsFor(4, grants)), grants);
        const first = await bed.start();
        await bed.advance(3000);
        await bed.makeReady();
        await first.kill();
        const { apiVersion, kind, spec } = machineSet(2);
        bed.apply({ apiVersion, kind, metadata: { name: 'general' }, spec });
        const second = await bed.start({ n, when });
        await bed.advance(10_000);
        await second.kill();
        await bed.start();
        await bed.advance(10_000);
        const deletes = bed.writes().filter((what) => /^delete Machine \S+$/.test(what));
        expect([n, when, bed.machines().length, deletes.length]).toEqual([n, when, 2, 2]);
        // oxlint-enable no-await-in-loop
      }
    }
  });
});
