/** The replacement of machines by the whole controller: what is shown before, which grant covers a deletion, and crashes at any write. */
import { describe, expect, it } from 'vitest';
import { DEFENDER_LEDGERS, MACHINE_SETS, MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine, MachineSet } from '../../../src/api/generated/types.ts';
import type { Grant, GrantAsk } from '../../../src/api/grants.ts';
import { createMachineSetController } from '../../../src/controllers/machineset/controller.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { servedKind } from '../../../src/sim/api-server/kinds.ts';
import { ledgerSpec } from '../../defender/builders.ts';
import { condition, NOW } from '../../support/builders.ts';
import { type ControllerBed, createControllerBed } from '../../support/controller/bed.ts';
import { machineSet, NO_STORM, template } from '../../support/machine-sets.ts';
import { type MemoryGrants, memoryGrants } from '../../support/memory-grants.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const KINDS = [MACHINE_SETS, MACHINES, NODES, DEFENDER_LEDGERS].map((kind) => servedKind(kind));
const READY = ['Ready', 'AgentReady', 'NodeReady'].map((type) => condition(type, 'True'));
const OLD = template({ infra: { provider: 'local', config: { image: 'a' } } });
const NEW = template({ infra: { provider: 'local', config: { image: 'b' } } });
const STRATEGY = { type: 'Replace', maxUnavailable: 0, maxSurge: 1 } as const;

interface ReplacementBed extends ControllerBed {
  readonly grants: MemoryGrants;
  readonly machines: () => readonly Machine[];
  readonly makeReady: () => Promise<void>;
  readonly change: (spec: Partial<MachineSet['spec']>) => void;
  readonly mark: (machine: Machine, grant: Pick<Grant, 'id' | 'fence'>) => void;
}

function bedOf(replicas: number): ReplacementBed {
  const grants = memoryGrants(virtualClock());
  const { metadata, ...set } = machineSet(replicas, {
    spec: { template: OLD, stormGuard: NO_STORM, updateStrategy: STRATEGY },
  });
  const bed = createControllerBed({
    controllers: (client) => [createMachineSetController({ client, grants })],
    kinds: KINDS,
    objects: [{ ...set, metadata: { name: metadata.name } }],
  });
  const machines = (): readonly Machine[] =>
    bed.api.objects.list({ resource: MACHINES }, undefined) as unknown as readonly Machine[];
  return {
    ...bed,
    grants,
    machines,
    makeReady: async () => {
      for (const { apiVersion, kind, metadata: of } of machines()) {
        const status = { conditions: READY, node: { uid: 'n' } };
        bed.apply({ apiVersion, kind, metadata: { name: of.name }, status }, 'status');
      }
      await bed.advance(3000);
    },
    change: (spec) => {
      const { apiVersion, kind } = set;
      bed.apply({ apiVersion, kind, metadata: { name: 'general' }, spec: { ...set.spec, ...spec } });
    },
    mark: ({ apiVersion, kind, metadata: of }, { id, fence }) => {
      const replacement = {
        job: 'job-1',
        grant: id,
        fence,
        replacementFirst: false,
        wasReady: true,
        since: '2030-01-01T00:00:00Z',
      };
      const status = { conditions: READY, node: { uid: 'n' }, replacement };
      bed.apply({ apiVersion, kind, metadata: { name: of.name }, status }, 'status');
    },
  };
}

async function start(replicas: number): Promise<ReplacementBed> {
  const bed = bedOf(replicas);
  await bed.start();
  await bed.advance(3000);
  await bed.makeReady();
  bed.writes();
  return bed;
}

function jobAsk(machine: string, action: GrantAsk['action']): GrantAsk {
  return {
    holder: { kind: 'RemedyOperationJob', name: 'job-1', origin: 'NodeRemedier/dead' },
    machine,
    action,
    risk: 'Machine',
    factsAt: NOW,
    expectedSeconds: 60,
  };
}

async function jobGrant(
  { grants }: ReplacementBed,
  machine: string,
  action: GrantAsk['action'] = 'ReplaceMachine',
): Promise<Grant> {
  const [grant] = await grants.ask([jobAsk(machine, action)]);
  if (!grant?.granted) throw new Error('the grant was denied');
  return grant;
}

function images(bed: ReplacementBed): readonly unknown[] {
  return bed.machines().map(({ spec }) => spec.infra.config['image']);
}

/** All become Ready again and again, as the machine controller would make them. */
async function settle(bed: ReplacementBed, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one round after the other
    await bed.makeReady();
  }
}

describe('the machineset controller, when it replaces machines,', () => {
  it('MAC-32 shows the replacement in a write of the status before the first act', async () => {
    const bed = await start(2);
    bed.change({ template: NEW });
    await bed.advance(3000);
    const acts = bed.api.journal.filter(({ what }) =>
      /MachineSet general status|Machine general-/.test(what),
    );
    const shown = acts.findIndex(({ body }) => JSON.stringify(body ?? {}).includes('"type":"Replace"'));
    const created = acts.findIndex(({ body }) => JSON.stringify(body ?? {}).includes('"image":"b"'));
    expect(shown).toBeGreaterThanOrEqual(0);
    expect(created).toBeGreaterThan(shown);
  });

  it('MAC-40 counts a machine that is deleted until its instance is kept, and no longer', async () => {
    const bed = await start(2);
    const [gone] = bed.machines();
    const { apiVersion = '', kind = '' } = gone ?? {};
    const name = gone?.metadata.name ?? '';
    bed.apply({ apiVersion, kind, metadata: { name, finalizers: ['test/drain'] } });
    bed.delete(MACHINES, name);
    await bed.advance(3000);
    const replicas = (): number | undefined => bed.get<MachineSet>(MACHINE_SETS, 'general')?.status?.replicas;
    expect([bed.machines().length, replicas()]).toEqual([3, 3]);
    const kept = { job: 'job-1', since: '2030-01-01T12:00:00Z', until: '2030-01-02T12:00:00Z', max: 1 };
    const status = { conditions: READY, node: { uid: 'n' }, kept };
    bed.apply({ apiVersion, kind, metadata: { name }, status }, 'status');
    await bed.advance(3000);
    expect([bed.machines().length, replicas()]).toEqual([3, 2]);
  });

  it('MAC-32 replaces all machines, each deletion with a grant of its own', async () => {
    const bed = await start(3);
    bed.change({ template: NEW });
    await settle(bed, 8);
    expect(images(bed)).toEqual(['b', 'b', 'b']);
    expect([...bed.grants.open.values()].map(({ action }) => action)).toEqual([
      'DeleteMachine',
      'DeleteMachine',
      'DeleteMachine',
    ]);
  });

  it('MAC-32 deletes none without a grant, and continues with it', async () => {
    const bed = await start(2);
    bed.grants.deny = () => 'the kill switch is engaged';
    bed.change({ template: NEW });
    await settle(bed, 5);
    expect(images(bed)).toEqual(expect.arrayContaining(['a', 'a', 'b']));
    expect(bed.machines()).toHaveLength(3);
    expect(bed.get<MachineSet>(MACHINE_SETS, 'general')?.status?.waiting?.reason).toBe('GrantDenied');
    bed.grants.deny = () => undefined;
    await bed.advance(31_000);
    await settle(bed, 6);
    expect(images(bed)).toEqual(['b', 'b']);
  });

  it('MAC-32 goes back in the middle, and keeps the machines that match again', async () => {
    const bed = await start(3);
    const before = new Set(bed.machines().map(({ metadata }) => metadata.uid));
    bed.change({ template: NEW });
    await bed.advance(3000);
    await bed.makeReady();
    expect(images(bed)).toContain('b');
    const kept = bed.machines().filter(({ metadata }) => before.has(metadata.uid));
    bed.change({ template: OLD });
    await bed.advance(3000);
    await settle(bed, 8);
    expect(images(bed)).toEqual(['a', 'a', 'a']);
    const after = bed.machines().map(({ metadata }) => metadata.uid);
    expect(kept.every(({ metadata }) => after.includes(metadata.uid))).toBe(true);
  });

  it('MAC-31 deletes what a job marked under the grant of the job, and asks for none', async () => {
    const bed = await start(2);
    const [one] = bed.machines();
    const grant = await jobGrant(bed, one?.metadata.name ?? '');
    if (one) bed.mark(one, grant);
    await bed.advance(3000);
    await bed.makeReady();
    expect(bed.machines().map(({ metadata }) => metadata.uid)).not.toContain(one?.metadata.uid);
    expect([...bed.grants.open.values()]).toMatchObject([{ id: grant.id, state: 'Started' }]);
  });

  it.each<[name: string, change: (bed: ReplacementBed, grant: Grant) => Promise<unknown> | void]>([
    ['that is settled', (bed, { id, fence }) => bed.grants.settle([{ id, fence, outcome: 'Unused' }])],
    [
      'while the Defender denies its renewal',
      (bed) => void (bed.grants.deny = () => 'the kill switch is engaged'),
    ],
  ])('MAC-31 deletes nothing under a grant of a job %s', async (_, change) => {
    const bed = await start(2);
    const [one] = bed.machines();
    const grant = await jobGrant(bed, one?.metadata.name ?? '');
    await change(bed, grant);
    if (one) bed.mark(one, grant);
    await bed.advance(5000);
    expect(bed.machines().map(({ metadata }) => metadata.uid)).toContain(one?.metadata.uid);
    expect(bed.get<MachineSet>(MACHINE_SETS, 'general')?.status?.waiting?.reason).toBe('GrantDenied');
  });

  it.each<[name: string, machine: number, action: GrantAsk['action']]>([
    ['machine', 1, 'ReplaceMachine'],
    ['act', 0, 'Reboot'],
  ])('MAC-31 deletes no machine under a grant that is for another %s', async (_, index, action) => {
    const bed = await start(2);
    const [one] = bed.machines();
    const grant = await jobGrant(bed, bed.machines()[index]?.metadata.name ?? '', action);
    if (one) bed.mark(one, grant);
    await bed.advance(5000);
    expect(bed.machines()).toHaveLength(2);
    expect(bed.get<MachineSet>(MACHINE_SETS, 'general')?.status?.waiting?.message).toMatch(
      /^AskInvalid: grant g-1 is not for the replacement of Machine general-/,
    );
  });

  it('MAC-31 keeps the machine, and the grant of the job, when the mark is withdrawn at the last moment', async () => {
    const bed = await start(2);
    const [one] = bed.machines();
    const grant = await jobGrant(bed, one?.metadata.name ?? '');
    const { renew } = bed.grants;
    Object.assign(bed.grants, {
      renew: async (renewals: Parameters<typeof renew>[0]) => {
        const { apiVersion = '', kind = '', metadata } = one ?? {};
        const status = { conditions: READY, node: { uid: 'n' } };
        bed.apply({ apiVersion, kind, metadata: { name: metadata?.name ?? '' }, status }, 'status');
        return await renew(renewals);
      },
    });
    if (one) bed.mark(one, grant);
    await bed.advance(5000);
    expect(bed.machines().map(({ metadata }) => metadata.uid)).toContain(one?.metadata.uid);
    expect([bed.grants.settled, bed.grants.open.size]).toEqual([[], 1]);
  });

  it('MAC-31 gives a new machine no name that a grant is in work for', async () => {
    const bed = await start(1);
    const [one] = bed.machines();
    const name = one?.metadata.name ?? '';
    const grant = await jobGrant(bed, name);
    const entry = bed.grants.open.get(name);
    const spec = ledgerSpec(entry ? { grants: { [name]: entry } } : {});
    const { apiVersion = '', kind } = { ...one, kind: 'DefenderLedger' };
    bed.apply({ apiVersion, kind, metadata: { name: 'default' }, spec });
    if (one) bed.mark(one, grant);
    await bed.advance(5000);
    expect(bed.machines().map(({ metadata }) => metadata.name)).not.toContain(name);
    expect(bed.machines()).toHaveLength(1);
  });

  it('MAC-06 ends with as many machines when it is killed at any write of a replacement', async () => {
    for (let n = 1; n < 12; n += 1) {
      for (const when of ['before', 'after'] as const) {
        // oxlint-disable no-await-in-loop -- one scenario after the other
        const bed = bedOf(2);
        const first = await bed.start();
        await bed.advance(3000);
        await bed.makeReady();
        await first.kill();
        bed.change({ template: NEW });
        const second = await bed.start({ n, when });
        await settle(bed, 3);
        await second.kill();
        await bed.start();
        await settle(bed, 8);
        expect([n, when, images(bed)]).toEqual([n, when, ['b', 'b']]);
        expect(bed.machines()).toHaveLength(2);
        // oxlint-enable no-await-in-loop
      }
    }
  });
});
