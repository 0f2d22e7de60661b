import { describe, expect, it } from 'vitest';
import { MACHINE_COMPONENT_SETS, MACHINES } from '../../../src/api/generated/resources.ts';
import type { MachineComponentEntry } from '../../../src/api/generated/types.ts';
import { conditionOf } from '../../../src/kube/objects/conditions.ts';
import { servedKind } from '../../../src/sim/api-server/kinds.ts';
import { ApiRefusal } from '../../../src/sim/api-server/refusal.ts';
import { stride } from '../../support/sweep-size.ts';
import { ROLLOUT } from './component-set.ts';
import { createFleetBed, type FleetBed, type FleetParts } from './fleet-bed.ts';

const API_VERSION = 'kubenode.dev/v1alpha1';

/** All machines run version 1, and a process runs the controller. */
async function atVersion1(parts: FleetParts): Promise<FleetBed> {
  const bed = createFleetBed(parts);
  await bed.run(2);
  bed.version('1');
  await bed.start();
  await bed.run(45);
  expect(bed.summary()).toBe(`${parts.machines} run app-1; grants: 0`);
  bed.writes();
  return bed;
}

function assignments({ log }: FleetBed): readonly string[] {
  return log.lines
    .filter(({ message }) => message === 'machine assigned')
    .map(({ fields }) => `${String(fields['machine'])} ${String(fields['because'])}`);
}

/** What the Defender is asked for, and asked to renew. */
function recordAsks({ grants }: FleetBed): string[] {
  const lines: string[] = [];
  const { ask, renew } = grants;
  const record = (what: string, machine: string, recovery = false): void => {
    lines.push(`${what} ${machine}${recovery ? ' recovery' : ''}`);
  };
  Object.assign(grants, {
    ask: async (asks: Parameters<typeof ask>[0]) => {
      for (const { machine, recovery } of asks) record('ask', machine, recovery);
      return await ask(asks);
    },
    renew: async (renewals: Parameters<typeof renew>[0]) => {
      const machines = new Map([...grants.open].map(([machine, { id }]) => [id, machine]));
      for (const { id, recovery } of renewals) record('renew', machines.get(id) ?? id, recovery);
      return await renew(renewals);
    },
  });
  return lines;
}

/** Of the machines, those that run that version. */
function running({ agents }: FleetBed, version: string): readonly string[] {
  return [...agents.values()].filter(({ runs }) => runs === version).map(({ name }) => name);
}

function entryOf({ machine }: FleetBed, name: string): Partial<MachineComponentEntry> {
  return machine(name)?.spec.components[0] ?? {};
}

/** As `kubectl apply` of a list without them does. */
function dropAssignments({ api, machine }: FleetBed, name: string): void {
  const plain = machine(name)?.spec.components.map(({ assignment: _a, grant: _g, ...entry }) => entry);
  api.objects.merge(
    servedKind(MACHINES),
    { name },
    (live) => ({ ...live, spec: { ...(live['spec'] as object), components: plain } }),
    { manager: 'kubectl-client-side-apply' },
  );
}

/** A second process takes over. Whether the first one crashed. */
async function endAfterCrash(n: number, when: 'before' | 'after'): Promise<boolean> {
  const bed = createFleetBed({
    machines: 2,
    rollout: { gate: { soakSeconds: 1, checks: [], approval: 'None' } },
  });
  await bed.run(1);
  bed.version('1');
  const first = await bed.start({ n, when });
  await bed.run(14);
  const { crashed } = first;
  if (crashed) {
    await first.kill();
    await bed.start();
    await bed.run(12);
  }
  const most = [...bed.agents.values()].map(({ activations }) => activations.get('app-1')).join();
  const result = bed.set()?.status?.history?.[0]?.result;
  const found = `${when} write ${n}: ${bed.summary()}; ${most}; ${result}`;
  expect(found).toBe(`${when} write ${n}: 2 run app-1; grants: 0; 1,1; Completed`);
  return crashed;
}

describe('the componentset controller', () => {
  it('ROL-01 rolls a version out in batches, with a grant for each machine', async () => {
    const bed = await atVersion1({ machines: 4 });
    expect(assignments(bed).map((line) => line.slice(4))).toEqual([
      'batch 1',
      'batch 2',
      'batch 2',
      'batch 3',
    ]);
    expect(bed.grants.settled.map((line) => line.split(': ')[1])).toEqual([
      'Succeeded',
      'Succeeded',
      'Succeeded',
      'Succeeded',
    ]);
    expect(bed.set()?.status).toMatchObject({ history: [{ result: 'Completed' }] });
  });

  it.each(['Completed', 'RolledBack'] as const)(
    'ROL-62 has the start of the whole rollout in its history, also when another process took over: %s',
    async (result) => {
      const bed = createFleetBed({ machines: 4 });
      await bed.run(2);
      bed.version('1');
      const first = await bed.start();
      await bed.run(45);
      bed.behaviorOf = (ref) =>
        result === 'RolledBack' && ref === 'app-2' && running(bed, ref).length > 0 ? 'Fails' : 'Good';
      const startedAt = bed.clock.now();
      bed.version('2');
      await bed.run(5);
      await first.kill();
      await bed.start();
      await bed.run(60);
      const [record] = bed.set()?.status?.history ?? [];
      expect(record).toMatchObject({ components: ['app-2'], result });
      expect(Date.parse(record?.startedAt ?? '') - +startedAt).toBeLessThan(1000);
    },
  );

  it('ROL-40 has proven nothing while its selector matches no machine: they get the version in batches when they are back', async () => {
    const bed = await atVersion1({ machines: 4 });
    bed.version('2', { machineSelector: { all: false, matchLabels: { mistake: 'yes' } } });
    await bed.run(20);
    const { phase, conditions, history } = bed.set()?.status ?? {};
    expect(phase).toBe('Completed');
    expect(conditionOf(conditions, 'Ready')).toMatchObject({ status: 'True', reason: 'NoMachines' });
    expect(history).toMatchObject([{ components: ['app-1'] }]);
    const before = assignments(bed).length;
    bed.edit({ machineSelector: { all: true } });
    await bed.run(60);
    expect(bed.summary()).toBe('4 run app-2; grants: 0');
    expect(
      assignments(bed)
        .slice(before)
        .map((line) => line.slice(4)),
    ).toEqual(['batch 1', 'batch 2', 'batch 2', 'batch 3']);
  });

  it('ROL-64 writes nothing and asks for nothing while nothing changes, whatever the heartbeats', async () => {
    const bed = await atVersion1({ machines: 2 });
    await bed.run(120);
    expect(bed.writes()).toEqual([]);
  });

  it('ROL-32 takes a bad version back in its first batch, and remembers it', async () => {
    const bed = await atVersion1({ machines: 4 });
    bed.behaviorOf = (ref) => (ref === 'app-2' ? 'Fails' : 'Good');
    bed.version('2');
    await bed.run(60);
    expect(bed.summary()).toBe('4 run app-1; grants: 0');
    expect(bed.set()?.status?.history?.[0]).toMatchObject({ result: 'RolledBack', components: ['app-2'] });
    const tried = [...bed.agents.values()].filter(({ activations }) => activations.has('app-2'));
    expect(tried).toHaveLength(1);
    bed.behaviorOf = () => 'Good';
    bed.edit({ retryToken: 'again' });
    await bed.run(60);
    expect(bed.summary()).toBe('4 run app-2; grants: 0');
  });

  it('ROL-33 goes back to a version that completed, when the set asks for it again', async () => {
    const bed = await atVersion1({ machines: 3 });
    bed.version('2');
    await bed.run(45);
    expect(bed.summary()).toBe('3 run app-2; grants: 0');
    bed.version('1');
    await bed.run(30);
    expect(bed.summary()).toBe('3 run app-1; grants: 0');
  });

  it('ROL-60 shows in a dry run what the Defender would deny now, and asks for nothing', async () => {
    const bed = await atVersion1({ machines: 2 });
    bed.edit({ dryRun: true });
    bed.grants.deny = () => 'the fleet is frozen';
    bed.version('2');
    await bed.run(3);
    const blocked = bed.set()?.status?.plan;
    const message = expect.stringContaining('KillSwitch: the fleet is frozen') as unknown;
    expect(blocked).toMatchObject({ grants: 2, wouldBlock: { reason: 'GrantDenied', message } });
    expect(blocked?.estimatedEndAt).toBeUndefined();
    bed.grants.deny = () => undefined;
    await bed.run(40);
    expect(bed.set()?.status?.plan?.wouldBlock).toBeUndefined();
    expect(bed.summary()).toBe('2 run app-1; grants: 0');
  });

  it('ROL-34 starts no machine while it is paused, and goes on later', async () => {
    const bed = await atVersion1({ machines: 4 });
    bed.version('2');
    await bed.run(1);
    bed.edit({ paused: true });
    await bed.run(30);
    expect(bed.summary()).toBe('1 run app-2, 3 run app-1; grants: 0');
    bed.edit({ paused: false });
    await bed.run(45);
    expect(bed.summary()).toBe('4 run app-2; grants: 0');
  });

  it('ROL-34 starts no machine by a cache that has not heard of the pause', async () => {
    const bed = createFleetBed({ machines: 2 });
    await bed.run(2);
    bed.version('1', { paused: true });
    const { views } = await bed.start();
    await bed.run(2);
    const store = views['MachineComponentSet']?.store;
    const paused = store?.get('general');
    // The reflector delivers no more: only a write shows what the server has.
    const stale = { ...paused, spec: { ...bed.set()?.spec, paused: false } };
    Object.assign(store ?? {}, { get: () => stale });
    bed.apply({
      apiVersion: API_VERSION,
      kind: 'MachineComponentSet',
      metadata: { name: 'general', labels: { a: 'b' } },
      spec: bed.set()?.spec,
    });
    await bed.run(40);
    expect(bed.writes()).toContain('apply MachineComponentSet general status -> 409');
    expect(assignments(bed)).toEqual([]);
    expect(bed.grants.open.size).toBe(0);
  });

  it('ROL-12 shows why the Defender denies, and asks again', async () => {
    const bed = await atVersion1({ machines: 2 });
    bed.grants.deny = () => 'the kill switch is engaged';
    bed.version('2');
    await bed.run(10);
    expect(bed.summary()).toBe('2 run app-1; grants: 0');
    bed.grants.deny = () => undefined;
    await bed.run(40);
    expect(bed.summary()).toBe('2 run app-2; grants: 0');
  });

  it('ROL-06 gives a machine its entries again after a plain kubectl apply over the whole list', async () => {
    const bed = await atVersion1({ machines: 2 });
    dropAssignments(bed, 'm-1');
    expect(bed.machine('m-1')?.spec.components[0]?.assignment).toBeUndefined();
    await bed.run(20);
    expect(bed.machine('m-1')?.spec.components[0]?.assignment).toMatchObject({ set: 'general' });
    expect(bed.summary()).toBe('2 run app-1; grants: 0');
    expect([...bed.agents.values()].map(({ activations }) => activations.get('app-1'))).toEqual([1, 1]);
  });

  it('ROL-06 continues the update of a machine in work after a plain kubectl apply, with the grant that it has', async () => {
    const bed = await atVersion1({ machines: 2 });
    bed.behaviorOf = (ref) => (ref === 'app-2' ? 'Hangs' : 'Good');
    bed.version('2');
    await bed.run(10);
    const [name = ''] = bed.grants.open.keys();
    const before = entryOf(bed, name);
    expect(before).toMatchObject({ componentRef: 'app-2', assignment: { batch: 0 } });
    const settled = bed.grants.settled.length;
    dropAssignments(bed, name);
    const dropped = entryOf(bed, name);
    expect([dropped.assignment, dropped.grant]).toEqual([undefined, undefined]);
    await bed.run(10);
    const { assignment, grant } = entryOf(bed, name);
    expect([assignment, grant?.id, grant?.fence]).toEqual([
      before.assignment,
      before.grant?.id,
      before.grant?.fence,
    ]);
    expect(grant?.id).toBe(bed.grants.open.get(name)?.id);
    expect([...bed.grants.open.keys()]).toEqual([name]);
    expect(bed.grants.settled).toHaveLength(settled);
    bed.behaviorOf = () => 'Good';
    await bed.run(45);
    expect(bed.summary()).toBe('2 run app-2; grants: 0');
    expect([...bed.agents.values()].map(({ activations }) => activations.get('app-2'))).toEqual([1, 1]);
  });

  it.each<[what: string, turn: (bed: FleetBed, name: string) => void]>([
    [
      'a rollback',
      (bed, failing) => {
        const { behaviorOf } = bed;
        bed.behaviorOf = (ref, name) =>
          ref === 'app-2' && name === failing ? 'Fails' : behaviorOf(ref, name);
      },
    ],
    ['a revert', (bed) => bed.version('1')],
  ])('ROL-32 ROL-33 asks the Defender for a recovery in %s only', async (_what, turn) => {
    const bed = await atVersion1({
      machines: 3,
      rollout: { failure: { ...ROLLOUT.failure, onFailure: 'RollbackAll' } },
    });
    const lines = recordAsks(bed);
    bed.version('2');
    await bed.run(10);
    const [first = ''] = running(bed, 'app-2');
    const others = running(bed, 'app-1');
    bed.behaviorOf = () => 'Hangs';
    await bed.run(200);
    const forward = [`ask ${first}`, ...others.flatMap((name) => [`ask ${name}`, `renew ${name}`])];
    expect([...new Set(lines.splice(0))].toSorted()).toEqual(forward.toSorted());
    turn(bed, others[0] ?? '');
    await bed.run(200);
    const back = [`ask ${first} recovery`, ...[first, ...others].map((name) => `renew ${name} recovery`)];
    expect([...new Set(lines)].toSorted()).toEqual(back.toSorted());
    bed.behaviorOf = () => 'Good';
    await bed.run(60);
    expect(bed.summary()).toBe('3 run app-1; grants: 0');
  });

  it('ROL-41 leaves the components of its machines when a set is deleted', async () => {
    const bed = await atVersion1({ machines: 2 });
    bed.delete(MACHINE_COMPONENT_SETS, 'general');
    await bed.run(60);
    expect(bed.machine('m-1')?.spec.components).toMatchObject([{ componentRef: 'app-1' }]);
    expect(bed.writes()).toEqual([]);
  });

  it('repeats alone the machine whose grant the server has not heard of, and calls it no failure', async () => {
    const bed = await atVersion1({ machines: 3, rollout: { batches: ['100%'] } });
    const unheard = new ApiRefusal(403, 'Forbidden', "a grant must be the ledger's unsettled entry");
    bed.api.refuse(/^apply Machine m-/, unheard);
    bed.api.refuse(/^apply Machine m-/, unheard);
    bed.version('2');
    await bed.run(1);
    const entries = bed.writes().filter((write) => /^apply Machine m-\d(?! status)/.test(write));
    expect(entries).toHaveLength(5);
    expect(entries.slice(0, 3).filter((write) => write.endsWith('403'))).toHaveLength(2);
    expect(
      assignments(bed)
        .slice(-3)
        .every((line) => line.endsWith('batch 1')),
    ).toBe(true);
    expect(bed.log.lines.filter(({ message }) => message === 'reconcile failed')).toEqual([]);
  });

  it('settles and asks in one write of the ledger, and settles first', async () => {
    const bed = await atVersion1({ machines: 3 });
    const calls: string[] = [];
    const { ask, settle } = bed.grants;
    Object.assign(bed.grants, {
      ask: async (asks: Parameters<typeof ask>[0]) => {
        calls.push('ask');
        return await ask(asks);
      },
      settle: async (settlements: Parameters<typeof settle>[0]) => {
        calls.push('settle');
        await settle(settlements);
        await bed.clock.sleep(100);
        calls.push('settled');
      },
    });
    bed.edit({
      rollout: {
        ...ROLLOUT,
        batches: [1, 2],
        maxUnavailable: '100%',
        gate: { soakSeconds: 0, checks: [], approval: 'None' },
      },
    });
    await bed.run(1);
    calls.length = 0;
    bed.version('2');
    await bed.run(30);
    expect(bed.summary()).toBe('3 run app-2; grants: 0');
    expect(calls.slice(0, 4)).toEqual(['ask', 'settle', 'ask', 'settled']);
  });

  it('goes on with the next batch while the settlement of the last one is written', async () => {
    const bed = await atVersion1({ machines: 3 });
    const settled: string[] = [];
    const { settle } = bed.grants;
    const { promise, resolve } = Promise.withResolvers<void>();
    bed.grants.settle = async (settlements) => {
      settled.push(...settlements.map(({ id }) => id));
      await promise;
      await settle(settlements);
    };
    bed.version('2');
    await bed.run(60);
    expect(new Set(settled).size).toBe(3);
    expect(settled).toHaveLength(3);
    resolve();
    await bed.run(1);
    expect(bed.summary()).toBe('3 run app-2; grants: 0');
  });

  it('settles again when the ledger was not written, and waits longer each time', async () => {
    const bed = await atVersion1({ machines: 2 });
    const { settle } = bed.grants;
    let refusals = 4;
    bed.grants.settle = async (settlements) => {
      refusals -= 1;
      if (refusals >= 0) throw new Error('the ledger was not written');
      await settle(settlements);
    };
    bed.version('2');
    await bed.run(60);
    expect(bed.summary()).toBe('2 run app-2; grants: 0');
    const failed = bed.log.lines.filter(({ message }) => message === 'reconcile failed');
    expect(failed.map(({ fields }) => fields['failures'])).toEqual([1, 2, 3]);
  });

  it('settles the machines of a batch together when their ends are reported within a moment', async () => {
    const bed = await atVersion1({ machines: 3 });
    const settled: number[] = [];
    const { settle } = bed.grants;
    bed.grants.settle = async (settlements) => {
      settled.push(settlements.length);
      await settle(settlements);
    };
    bed.version('2');
    while (bed.grants.open.size < 2) {
      // oxlint-disable-next-line no-await-in-loop -- until the second batch has begun
      await bed.run(1);
    }
    // Their agents take the update, and report it only at its end.
    await bed.run(1);
    const agents = [...bed.grants.open.keys()].map((name) => bed.agents.get(name)).filter((each) => !!each);
    for (let tick = 0; tick < 3; tick += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one second after the other
      await bed.clock.advance(1000);
      for (const agent of agents) agent.tick(bed.clock.now(), () => 'Good');
    }
    settled.length = 0;
    for (const agent of agents) {
      const { name } = agent;
      const { status } = agent.machine();
      bed.apply({ apiVersion: API_VERSION, kind: 'Machine', metadata: { name }, status }, 'status');
      // oxlint-disable-next-line no-await-in-loop -- one report after the other
      await bed.clock.advance(60);
    }
    await bed.clock.advance(1000);
    expect(settled).toEqual([2]);
  });

  it('goes on with the other machines when one cannot be written, and tries it again', async () => {
    const bed = await atVersion1({ machines: 3 });
    bed.api.refuse(/^apply Machine m-/, new ApiRefusal(409, 'Conflict', 'changed meanwhile'));
    bed.api.refuse(/^apply Machine m-/, new ApiRefusal(422, 'Invalid', 'the grant is not in the ledger'));
    bed.version('2');
    await bed.run(60);
    expect(bed.summary()).toBe('3 run app-2; grants: 0');
    expect([...bed.agents.values()].map(({ activations }) => activations.get('app-2'))).toEqual([1, 1, 1]);
  });

  it('ROL-10 ends the same when it is killed at any write, before or after it', async () => {
    const { first, step } = stride(3);
    let write = first;
    // oxlint-disable-next-line no-await-in-loop -- one scenario after the other
    for (; await endAfterCrash(write, 'before'); write += step) await endAfterCrash(write, 'after');
    expect(write).toBeGreaterThan(8);
  });

  it('ROL-10 starts each machine once when three replicas run and the leader is killed', async () => {
    const bed = createFleetBed({ machines: 4, lease: true });
    await bed.run(2);
    bed.version('1');
    const [leader] = [await bed.start(), await bed.start(), await bed.start()];
    await bed.run(12);
    await leader?.kill();
    await bed.run(90);
    expect(bed.summary()).toBe('4 run app-1; grants: 0');
    expect([...bed.agents.values()].map(({ activations }) => activations.get('app-1'))).toEqual([1, 1, 1, 1]);
    expect(assignments(bed)).toHaveLength(4);
  });

  it.each([false, true])(
    'ROL-35 ends what is in work when the set is deleted, and uninstalls nothing; by another process: %s',
    async (isKilled) => {
      const bed = createFleetBed({ machines: 3 });
      await bed.run(2);
      bed.version('1');
      const first = await bed.start();
      await bed.run(45);
      bed.version('2');
      await bed.run(1);
      expect(bed.grants.open.size).toBe(1);
      if (isKilled) await first.kill();
      bed.delete(MACHINE_COMPONENT_SETS, 'general');
      if (isKilled) await bed.start();
      await bed.run(60);
      expect(bed.summary()).toBe('1 run app-2, 2 run app-1; grants: 0');
      expect(bed.machine('m-1')?.spec.components).toHaveLength(1);
    },
  );
});
