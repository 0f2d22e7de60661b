/** A control plane with three members of etcd, by the controller on a driver in memory: created, changed, repaired, and killed at any act. */
import { describe, expect, it } from 'vitest';
import { CLUSTERS } from '../../../src/api/generated/resources.ts';
import { createHostingController } from '../../../src/controllers/hosting/controller.ts';
import {
  ETCD_MEMBERS,
  type EtcdMember,
  isEtcdMember,
  type PlaneDriver,
  type PlaneMember,
} from '../../../src/controllers/hosting/drivers/driver.ts';
import type { Hosted } from '../../../src/controllers/hosting/plan/input.ts';
import { type ControllerBed, createControllerBed } from '../../support/controller/bed.ts';
import { applied, conditionText, found, KINDS } from '../../support/hosting/bed.ts';
import { type MemoryHosting, memoryHosting } from '../../support/hosting/memory/driver.ts';
import { etcdMember, listOf } from '../../support/hosting/memory/etcd.ts';
import { HOSTED, OLD_VERSION, planeSpec, VERSION } from '../../support/hosting/objects.ts';
import { memoryGrants } from '../../support/memory-grants.ts';
import { LONG, SEED } from '../../support/sweep-size.ts';

const STRIDE = LONG ? 1 : 5;
const MEMBERS = ETCD_MEMBERS.slice(0, 3);
const OLD: Partial<Hosted> = {
  version: OLD_VERSION,
  etcd: { ...HOSTED.etcd, replicas: 3 },
  upgrade: { ...HOSTED.upgrade, soakSeconds: 5, progressDeadlineSeconds: 60, allowEtcdUpgrade: false },
};
const NEW = { ...OLD, version: VERSION };
const JOINED = ['etcd-1', 'etcd-2'].flatMap((member) => [
  `add ci ${member}`,
  `start ci ${member}`,
  `promote ci ${member}`,
]);
const { signal } = new AbortController();

interface MembersBed extends ControllerBed {
  readonly hosting: MemoryHosting;
  readonly acts: () => number;
  /** What was done to a member of etcd although another one was down, empty or learning. */
  readonly risks: readonly string[];
}

interface BedParts {
  /** The process of the controller hangs after so many acts. */
  readonly hangAfter?: number;
  readonly hosted?: Partial<Hosted>;
  /** Runs after each act, by its number. */
  readonly afterAct?: (act: number, hosting: MemoryHosting) => void;
}

function membersBed({ hangAfter, afterAct, hosted = OLD }: BedParts = {}): MembersBed {
  let acts = 0;
  let processes = 0;
  const risks: string[] = [];
  const hosting = memoryHosting(() => bed.clock.now());
  const { driver } = hosting;
  const { backups } = driver;
  const after = async (work: Promise<void>): Promise<void> => {
    await work;
    acts += 1;
    afterAct?.(acts, hosting);
    if (processes === 1 && acts === hangAfter) await new Promise(() => undefined);
  };
  const taken = async (member: PlaneMember, work: () => Promise<void>): Promise<void> => {
    const isGuarded = isEtcdMember(member) && !hosting.planes.get('ci')?.isDestroying;
    risks.push(...(isGuarded ? riskOf(hosting, member) : []));
    await after(work());
  };
  const watched: PlaneDriver = {
    ...driver,
    prepare: (...args) => after(driver.prepare(...args)),
    start: (...args) => after(driver.start(...args)),
    settle: (...args) => after(driver.settle(...args)),
    addEtcdMember: (...args) => after(driver.addEtcdMember(...args)),
    promoteEtcdMember: (...args) => after(driver.promoteEtcdMember(...args)),
    ...(backups && { backups: { ...backups, restore: (...args) => after(backups.restore(...args)) } }),
    stop: (owner, member) => taken(member, () => driver.stop(owner, member)),
    change: (owner, member, run) => taken(member, () => driver.change(owner, member, run)),
    removeEtcdMember: (owner, member) => taken(member, () => driver.removeEtcdMember(owner, member)),
  };
  const bed = createControllerBed({
    controllers: () => {
      processes += 1;
      const grants = memoryGrants({ now: () => bed.clock.now() });
      return [
        createHostingController({
          ...hosting,
          driver: watched,
          grants,
          maxClusters: 20,
          maxAgeSeconds: 691_200,
        }),
      ];
    },
    kinds: KINDS,
    objects: [applied({ hosted })],
  });
  return { ...bed, hosting, acts: () => acts, risks };
}

function riskOf({ planes }: MemoryHosting, member: EtcdMember): readonly string[] {
  const plane = planes.get('ci');
  const list = plane && listOf(plane);
  const others = MEMBERS.filter((each) => each !== member);
  return others
    .filter((other) => {
      const voter = list?.some((each) => each.member === other && !each.isLearner) === true;
      return !voter || !plane?.running.has(other) || etcdMember(plane, other).data !== 'Own';
    })
    .map((other) => `${member} while ${other} is not healthy`);
}

async function created(parts: BedParts = {}): Promise<MembersBed> {
  const bed = membersBed(parts);
  await bed.start();
  await bed.advance(30_000);
  expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
  expect(conditionText(bed, 'EtcdReady')).toBe('True Ready');
  return bed;
}

function lose({ planes }: MemoryHosting, member: EtcdMember, isWiped: boolean): void {
  const plane = planes.get('ci');
  plane?.running.delete(member);
  if (plane && isWiped) etcdMember(plane, member).data = 'Empty';
}

function expectHealthy(bed: MembersBed, at: string): void {
  const plane = bed.hosting.planes.get('ci');
  expect([at, bed.risks]).toEqual([at, []]);
  expect([at, plane && listOf(plane)?.map(({ member, isLearner }) => `${member} ${isLearner}`)]).toEqual([
    at,
    MEMBERS.map((member) => `${member} false`),
  ]);
  expect([at, conditionText(bed, 'EtcdReady')]).toEqual([at, 'True Ready']);
  expect([at, conditionText(bed, 'ControlPlaneReady')]).toEqual([at, 'True Ready']);
}

describe('a control plane with three members of etcd', () => {
  it('HOS-30 joins one member after the other, counts them in the status, and ends with all of them', async () => {
    const bed = await created();
    const etcd = bed.hosting.log.filter((line) => / etcd/.test(line));
    expect(etcd).toEqual(['start ci etcd', ...JOINED]);
    expect(found(bed)?.status?.hosted).toMatchObject({ etcd: { members: 3, ready: 3 } });
    bed.delete(CLUSTERS, 'ci');
    await bed.advance(30_000);
    expect([found(bed), bed.hosting.planes.size]).toEqual([undefined, 0]);
  });

  it('HOS-04 ends with the same members when the controller is killed after any act of the creation', async () => {
    let acts = Number.POSITIVE_INFINITY;
    for (let n = 1; n <= acts; n += 1) {
      const bed = membersBed({ hangAfter: n });
      const first = await bed.start();
      await bed.advance(30_000);
      await first.kill();
      if (bed.acts() < n) acts = bed.acts();
      await bed.start();
      await bed.advance(40_000);
      expectHealthy(bed, `act ${n}`);
      expect(new Set(bed.hosting.log).size).toBe(bed.hosting.log.length);
    }
    expect(acts).toBe(12);
  });

  it('HOS-32 start from one backup, also when the controller is killed after any act', async () => {
    const hosted = { ...OLD, etcd: { ...HOSTED.etcd, replicas: 3, restoreFrom: 'latest' } } as const;
    for (let n = 1; n <= 12; n += 1) {
      const bed = membersBed({ hangAfter: n, hosted });
      bed.hosting.backups.stored.set('ci', [{ name: '000007-20200101T000000Z', takenAt: new Date(0) }]);
      const first = await bed.start();
      await bed.advance(30_000);
      await first.kill();
      await bed.start();
      await bed.advance(40_000);
      expectHealthy(bed, `act ${n}`);
      expect(bed.hosting.log.filter((line) => / etcd|restore/.test(line))).toEqual([
        'restore ci 000007-20200101T000000Z',
        'start ci etcd',
        ...JOINED,
      ]);
      expect(found(bed)?.status?.hosted?.etcd?.restoredFrom).toBe('000007-20200101T000000Z');
    }
  });

  it('HOS-30 changes the members of etcd one by one, each after the one before it answers', async () => {
    const bed = await created();
    bed.hosting.log.length = 0;
    bed.apply(applied({ hosted: NEW }));
    await bed.advance(120_000);
    expectHealthy(bed, 'the end');
    expect(bed.hosting.log.filter((line) => / etcd/.test(line))).toEqual(
      MEMBERS.flatMap((member) => [`change ci ${member} to v3.6.8`, `start ci ${member}`]),
    );
    expect(found(bed)?.status?.hosted?.history).toMatchObject([{ to: VERSION, result: 'Completed' }]);
  });

  it.each(MEMBERS.flatMap((member) => [false, true].map((isWiped) => [member, isWiped] as const)))(
    'HOS-30 touches no second member when %s ends at any act of an upgrade, wiped: %s',
    async (member, isWiped) => {
      let acts = Number.POSITIVE_INFINITY;
      for (let n = 1 + (SEED % STRIDE); n <= acts; n += STRIDE) {
        let begun = Number.POSITIVE_INFINITY;
        const bed = await created({
          afterAct: (act, hosting) => {
            if (act === begun + n) lose(hosting, member, isWiped);
          },
        });
        begun = bed.acts();
        bed.apply(applied({ hosted: NEW }));
        await bed.advance(150_000);
        acts = bed.acts() - begun;
        expectHealthy(bed, `${member} after act ${n}`);
        expect(conditionText(bed, 'ControlPlaneUpToDate')).toBe('True AsWanted');
      }
    },
  );

  it.each(MEMBERS)(
    'HOS-33 replaces %s that lost its data, with the controller killed after any act',
    async (member) => {
      for (let n = 1; n <= 4; n += 1) {
        const bed = membersBed({ hangAfter: 12 + n });
        const first = await bed.start();
        await bed.advance(30_000);
        bed.hosting.log.length = 0;
        lose(bed.hosting, member, true);
        await bed.advance(30_000);
        await first.kill();
        await bed.start();
        await bed.advance(40_000);
        expectHealthy(bed, `act ${n}`);
        expect([n, ...bed.hosting.log]).toEqual([
          n,
          `remove-member ci ${member}`,
          `add ci ${member}`,
          `start ci ${member}`,
          `promote ci ${member}`,
        ]);
      }
    },
  );

  it('HOS-33 stays ready while one member is down, and touches nothing when a majority has lost its data', async () => {
    const bed = await created();
    bed.hosting.log.length = 0;
    lose(bed.hosting, 'etcd-1', true);
    lose(bed.hosting, 'etcd-2', true);
    await bed.advance(60_000);
    expect(bed.hosting.log).toEqual([]);
    expect(conditionText(bed, 'ControlPlaneStalled')).toBe('True DataMissing');
    expect(conditionText(bed, 'EtcdReady')).toBe('False NotReady');
    expect(found(bed)?.status?.hosted?.waiting?.message).toContain('1 of 3 members have them now');
  });

  it.each(['has ended', 'still runs'] as const)(
    'HOS-33 replaces two of five members that lost their data, also when their process %s',
    async (process) => {
      const bed = await created({ hosted: { ...OLD, etcd: { ...HOSTED.etcd, replicas: 5 } } });
      bed.hosting.log.length = 0;
      const plane = bed.hosting.planes.get('ci');
      for (const member of ['etcd-1', 'etcd-3'] as const) {
        if (process === 'has ended') lose(bed.hosting, member, true);
        else if (plane) etcdMember(plane, member).data = 'Empty';
      }
      await bed.advance(90_000);
      const removed = bed.hosting.log.filter((line) => line.startsWith('remove-member'));
      expect(removed).toEqual(['remove-member ci etcd-1', 'remove-member ci etcd-3']);
      const list = plane && listOf(plane)?.map(({ member, isLearner }) => `${member} ${isLearner}`);
      expect(list?.toSorted()).toEqual(ETCD_MEMBERS.map((member) => `${member} false`));
      expect(conditionText(bed, 'EtcdReady')).toBe('True Ready');
    },
  );

  it('HOS-30 takes a version of etcd back by itself that crashes on one member, and that member first', async () => {
    const bed = await created();
    bed.hosting.log.length = 0;
    bed.hosting.faults.set('etcd-1 v3.6.8', 'crashes');
    bed.apply(applied({ hosted: NEW }));
    await bed.advance(120_000);
    expectHealthy(bed, 'the end');
    const changes = bed.hosting.log.filter((line) => line.startsWith('change ci etcd'));
    expect(changes).toEqual([
      'change ci etcd to v3.6.8',
      'change ci etcd-1 to v3.6.8',
      'change ci etcd-1 to v3.6.5',
      'change ci etcd to v3.6.5',
    ]);
    expect(conditionText(bed, 'ControlPlaneUpToDate')).toBe('False RolledBack');
  });

  it('HOS-30 refuses another number of members, and changes nothing', async () => {
    const bed = await created();
    bed.hosting.log.length = 0;
    bed.apply(applied({ hosted: { ...OLD, etcd: { ...HOSTED.etcd, replicas: 5 } } }));
    await bed.advance(30_000);
    expect(bed.hosting.log).toEqual([]);
    expect(conditionText(bed, 'ControlPlaneUpToDate')).toBe('False ReplicasFixed');
    const { members } = await bed.hosting.driver.observe(planeSpec('ci', found(bed)?.metadata.uid), signal);
    expect(members.filter(({ member }) => isEtcdMember(member))).toHaveLength(3);
  });
});
