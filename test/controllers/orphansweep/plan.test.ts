import { describe, expect, it } from 'vitest';
import { planSweep, type SweepInput } from '../../../src/controllers/orphansweep/plan.ts';
import type { Instance } from '../../../src/providers/contract.ts';
import { machine, NOW, node } from '../../support/builders.ts';

const MINUTE = 60_000;
const AT = 100 * MINUTE;

function uidOf(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
}

function instance(number: number, changes: Partial<Instance> = {}): Instance {
  return {
    id: `aws:///zone/i-${number}`,
    machine: `m-${number}`,
    tags: { clusterUid: 'c', machineUid: uidOf(number), set: 'web' },
    state: 'Running',
    addresses: [],
    createdAt: new Date(NOW.getTime() + number),
    ...changes,
  };
}

const MEMBERS = Array.from({ length: 20 }, (_, index) => index);

/** Twenty instances with their Machines, and orphans from 100 on that were listed ten minutes ago. */
function input(orphans: readonly Instance[], changes: Partial<SweepInput> = {}): SweepInput {
  return {
    instances: [...MEMBERS.map((number) => instance(number)), ...orphans],
    machines: MEMBERS.map((number) => machine(`m-${number}`, { metadata: { uid: uidOf(number) } })),
    nodes: [],
    storms: new Set(),
    sightings: new Map(orphans.map(({ id }) => [id, AT - 10 * MINUTE])),
    attempts: new Map(),
    begun: new Set(),
    nowMs: AT,
    ...changes,
  };
}

function explain(scene: SweepInput): readonly string[] {
  return planSweep(scene).orphans.map(({ instance: { id }, wait = 'Delete' }) => `${id} ${wait}`);
}

function createdAt(time: string | undefined): { readonly creationTimestamp?: string } {
  return time === undefined ? {} : { creationTimestamp: `2026-11-20T${time}:00Z` };
}

const LEAKED = instance(100);

describe('planSweep', () => {
  it('MAC-36 deletes an instance whose Machine does not exist after two sightings', () => {
    expect(planSweep(input([LEAKED])).orphans).toEqual([
      { instance: LEAKED, because: 'the Machine with its UID does not exist' },
    ]);
  });

  it('MAC-36 waits for the second sighting, ten minutes after the first, and remembers the first', () => {
    const first = planSweep(input([LEAKED], { sightings: new Map() }));
    expect(first.orphans).toMatchObject([{ wait: 'ListedOnce' }]);
    expect(first.sightings).toEqual(new Map([[LEAKED.id, AT]]));
    const next = { sightings: first.sightings, nowMs: AT + 10 * MINUTE - 1 };
    expect(explain(input([LEAKED], next))).toEqual([`${LEAKED.id} ListedOnce`]);
    expect(explain(input([LEAKED], { ...next, nowMs: AT + 10 * MINUTE }))).toEqual([`${LEAKED.id} Delete`]);
  });

  it('MAC-36 forgets a sighting when the instance was not listed in between', () => {
    const between = planSweep(input([], { sightings: new Map([[LEAKED.id, AT]]) }));
    expect([...between.sightings.keys()]).toEqual([]);
  });

  it.each<[string, Partial<Instance>, Partial<SweepInput>]>([
    ['the Machine with its UID exists', { tags: { clusterUid: 'c', machineUid: uidOf(3) } }, {}],
    ['it is a host that was imported', { import: {} as never }, {}],
    [
      'a Machine has recorded it, whatever its tag is',
      {},
      {
        machines: [
          machine('other', { status: { infra: { providerID: LEAKED.id, state: 'Running', addresses: [] } } }),
        ],
      },
    ],
  ])('MAC-36 is not about an instance when %s', (_, changes, scene) => {
    expect(explain(input([instance(100, changes)], scene))).not.toContainEqual(
      expect.stringContaining(LEAKED.id),
    );
  });

  it.each<[what: string, created: string | undefined, registered: string | undefined, expected: string]>([
    ['deletes the instance of an earlier Machine whose successor has a Node', '10:00', '10:02', 'Delete'],
    ['keeps an instance whose Node is older than the Machine of that name', '10:00', '09:59', 'NodeExists'],
    ['keeps an instance whose Node has an unknown age', '10:00', undefined, 'NodeExists'],
    ['keeps an instance whose Machine of that name has an unknown age', undefined, '10:02', 'NodeExists'],
  ])('MAC-36 beside a Machine of that name %s', (_, created, registered, expected) => {
    const later = machine('m-100', { metadata: { uid: uidOf(999), ...createdAt(created) } });
    const scene = input([LEAKED]);
    const nodes = [node('m-100', 'True', createdAt(registered))];
    expect(explain({ ...scene, machines: [...scene.machines, later], nodes })).toEqual([
      `${LEAKED.id} ${expected}`,
    ]);
  });

  it.each<[string, object]>([
    ['has its name, and no Machine has that', { metadata: { name: 'm-100' } }],
    ['has its provider ID', { metadata: { name: 'x' }, spec: { providerID: LEAKED.id } }],
  ])('MAC-36 keeps an instance while a Node %s', (_, fields) => {
    const scene = input([LEAKED], { nodes: [{ apiVersion: 'v1', kind: 'Node', ...fields } as never] });
    const [orphan] = planSweep(scene).orphans;
    expect(orphan?.wait).toBe('NodeExists');
    expect(orphan?.because).toMatch(/^Node \S+ is on it\. Delete that Node/);
  });

  it.each(['../x', '..', `${uidOf(100).slice(0, -4)}ABCD`, `${uidOf(100)} `])(
    'MAC-36 keeps an instance whose tag is %j, which no grant can name',
    (machineUid) => {
      const odd = instance(100, { tags: { clusterUid: 'c', machineUid } });
      expect(explain(input([odd]))).toEqual([`${odd.id} InvalidTag`]);
    },
  );

  it('MAC-36 keeps the instances of a MachineSet whose storm guard is active, and no others', () => {
    const other = instance(101, { tags: { clusterUid: 'c', machineUid: uidOf(101), set: 'db' } });
    expect(explain(input([LEAKED, other], { storms: new Set(['web']) }))).toEqual([
      `${LEAKED.id} StormGuardActive`,
      `${other.id} Delete`,
    ]);
  });

  it('MAC-36 deletes nothing when all Machines are missing, as after the restore of a backup', () => {
    const scene = input([]);
    const sightings = new Map(scene.instances.map(({ id }) => [id, 0]));
    const waits = planSweep({ ...scene, machines: [], sightings }).orphans.map(({ wait }) => wait);
    expect(waits).toEqual(MEMBERS.map(() => 'NoMachines'));
  });

  it('MAC-36 deletes nothing when more than a tenth of the instances are orphans, also new ones', () => {
    const two = [LEAKED, instance(101)];
    const three = [...two, instance(102)];
    expect(explain(input(two))).toEqual(two.map(({ id }) => `${id} Delete`));
    const sightings = input(two).sightings;
    expect(explain(input(three, { sightings }))).toEqual([
      `${LEAKED.id} TooManyOrphans`,
      'aws:///zone/i-101 TooManyOrphans',
      'aws:///zone/i-102 ListedOnce',
    ]);
  });

  it('MAC-36 deletes one orphan beside a single Machine, and not two', () => {
    const scene = input([LEAKED]);
    const small = { ...scene, instances: [instance(0), LEAKED], machines: scene.machines.slice(0, 1) };
    expect(explain(small)).toEqual([`${LEAKED.id} Delete`]);
    const sightings = new Map([LEAKED, instance(101)].map(({ id }) => [id, 0]));
    const more = { ...small, instances: [...small.instances, instance(101)], sightings };
    expect(explain(more).map((line) => line.split(' ')[1])).toEqual(['TooManyOrphans', 'TooManyOrphans']);
  });

  it('MAC-36 deletes at most five instances in one sweep, the oldest first, in any order of the list', () => {
    const { scene, orphans } = manyOrphans();
    expect(explain(scene)).toEqual(
      orphans.map(({ id }, index) => `${id} ${index < 5 ? 'Delete' : 'Queued'}`),
    );
  });

  it('MAC-36 deletes in turn where the deletion of five fails each time', () => {
    const { scene, orphans } = manyOrphans();
    const first = planSweep(scene);
    const next = { ...scene, attempts: first.attempts, nowMs: AT + 10 * MINUTE };
    const waits = ['Delete', 'Delete', 'Delete', 'Queued', 'Queued', 'Delete', 'Delete'];
    expect(explain(next)).toEqual(orphans.map(({ id }, index) => `${id} ${waits[index]}`));
    const third = planSweep({ ...next, attempts: planSweep(next).attempts, nowMs: AT + 20 * MINUTE });
    expect(third.orphans.slice(3, 5).map(({ wait }) => wait)).toEqual([undefined, undefined]);
  });

  it('MAC-36 continues deletions that were begun beside the five of a sweep', () => {
    const { scene, orphans } = manyOrphans();
    const begun = new Set(orphans.slice(0, 1).map(({ id }) => id));
    const waits = ['Delete', 'Delete', 'Delete', 'Delete', 'Delete', 'Delete', 'Queued'];
    expect(explain({ ...scene, begun })).toEqual(orphans.map(({ id }, index) => `${id} ${waits[index]}`));
  });

  it('MAC-36 forgets the attempts of an instance that is not an orphan any more', () => {
    const attempts = new Map([[LEAKED.id, AT]]);
    expect([...planSweep(input([], { attempts })).attempts.keys()]).toEqual([]);
  });
});

/** Seven orphans beside 90 instances with their Machines. */
function manyOrphans(): { readonly scene: SweepInput; readonly orphans: readonly Instance[] } {
  const members = Array.from({ length: 90 }, (_, index) => index);
  const orphans = Array.from({ length: 7 }, (_, index) => instance(100 + index));
  const scene = input(orphans, {
    instances: [...orphans, ...members.map((number) => instance(number))].toReversed(),
    machines: members.map((number) => machine(`m-${number}`, { metadata: { uid: uidOf(number) } })),
  });
  return { scene, orphans };
}
