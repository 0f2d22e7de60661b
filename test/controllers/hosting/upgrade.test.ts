/** Whole changes of version and flags, by the controller on a driver in memory: forward, back, failed, and killed after every act. */
import { describe, expect, it } from 'vitest';
import type { ClusterHostedStatus } from '../../../src/api/generated/types.ts';
import { createHostingController } from '../../../src/controllers/hosting/controller.ts';
import type { PlaneMember } from '../../../src/controllers/hosting/drivers/driver.ts';
import type { Hosted } from '../../../src/controllers/hosting/plan/input.ts';
import { NOW } from '../../support/builders.ts';
import { type ControllerBed, createControllerBed } from '../../support/controller/bed.ts';
import {
  applied,
  conditionText,
  found,
  type HostingBed,
  hostingBed,
  KINDS,
} from '../../support/hosting/bed.ts';
import { type MemoryHosting, memoryHosting } from '../../support/hosting/memory/driver.ts';
import { OLD_VERSION, POLICY, VERSION } from '../../support/hosting/objects.ts';
import { memoryGrants } from '../../support/memory-grants.ts';
import { LONG, SEED } from '../../support/sweep-size.ts';

/** Each run takes a second; the long tests crash at every write. */
const STRIDE = LONG ? 1 : 9;
const SOAK = { soakSeconds: 5, progressDeadlineSeconds: 30 };
const OLD = {
  version: OLD_VERSION,
  upgrade: { ...SOAK, onFailure: 'Rollback', allowEtcdUpgrade: false, windows: [], freezes: [] },
} as const;
const NEW = { ...OLD, version: VERSION };

function change(member: PlaneMember, to: string): readonly string[] {
  return [`change ci ${member} to ${to}`, `start ci ${member}`];
}

const TRIAL = [
  'snapshot ci',
  ...change('etcd', 'v3.6.8'),
  ...change('kube-apiserver', 'v1.36.3 as 1.35'),
  ...change('kube-controller-manager', 'v1.36.3 as 1.35'),
  ...change('kube-scheduler', 'v1.36.3 as 1.35'),
];
const RAISE = [
  'settle ci v1.36.3',
  ...change('kube-apiserver', 'v1.36.3'),
  ...change('kube-controller-manager', 'v1.36.3'),
  ...change('kube-scheduler', 'v1.36.3'),
];
const BACK = [
  ...change('kube-scheduler', 'v1.35.4'),
  ...change('kube-controller-manager', 'v1.35.4'),
  ...change('kube-apiserver', 'v1.35.4'),
  ...change('etcd', 'v3.6.5'),
];

async function created(hosted: Partial<Hosted> = OLD): Promise<HostingBed> {
  const bed = hostingBed([applied({ hosted })]);
  await bed.start();
  await bed.advance(10_000);
  expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
  bed.hosting().log.length = 0;
  return bed;
}

function status(bed: ControllerBed): ClusterHostedStatus | undefined {
  return found(bed)?.status?.hosted;
}

async function set(bed: HostingBed, hosted: Partial<Hosted>, ms: number): Promise<void> {
  bed.apply(applied({ hosted }));
  await bed.advance(ms);
}

describe('a change of version of a hosted control plane', () => {
  it('HOS-10 changes etcd, API server and managers in order, and ends with the new version', async () => {
    const bed = await created();
    await set(bed, NEW, 60_000);
    expect(bed.hosting().log).toEqual([...TRIAL, ...RAISE]);
    expect(status(bed)).toMatchObject({
      rollbackPossible: false,
      history: [{ from: OLD_VERSION, to: VERSION, result: 'Completed' }],
    });
    expect(status(bed)?.upgrade).toBeUndefined();
    expect(conditionText(bed, 'ControlPlaneUpToDate')).toBe('True AsWanted');
    expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
  });

  it('HOS-11 takes it back during the soak, and goes forward again', async () => {
    const bed = await created({ ...OLD, upgrade: { ...OLD.upgrade, soakSeconds: 600 } });
    await set(bed, { ...NEW, upgrade: { ...OLD.upgrade, soakSeconds: 600 } }, 30_000);
    expect(bed.hosting().log).toEqual(TRIAL);
    expect(status(bed)).toMatchObject({
      upgrade: { from: OLD_VERSION, to: VERSION, step: 'Soak' },
      rollbackPossible: true,
      rollbackVersion: OLD_VERSION,
    });
    expect(conditionText(bed, 'ControlPlaneUpToDate')).toBe('False Upgrading');
    bed.hosting().log.length = 0;
    await set(bed, OLD, 30_000);
    expect(bed.hosting().log).toEqual(BACK);
    expect(status(bed)?.history).toMatchObject([{ from: OLD_VERSION, to: VERSION, result: 'RolledBack' }]);
    expect(conditionText(bed, 'ControlPlaneStalled')).toBe('False NotStalled');
    bed.hosting().log.length = 0;
    await set(bed, NEW, 60_000);
    expect(bed.hosting().log).toEqual([...TRIAL, ...RAISE]);
    expect(status(bed)?.history).toHaveLength(2);
  });

  it('HOS-11 refuses the former version after the point of no return, and changes nothing', async () => {
    const bed = await created();
    await set(bed, NEW, 60_000);
    bed.hosting().log.length = 0;
    await set(bed, OLD, 60_000);
    expect(bed.hosting().log).toEqual([]);
    expect(conditionText(bed, 'ControlPlaneUpToDate')).toBe('False RollbackImpossible');
    await set(bed, NEW, 20_000);
    expect(conditionText(bed, 'ControlPlaneUpToDate')).toBe('True AsWanted');
  });

  it.each(['crashes', 'hangs'] as const)(
    'HOS-12 takes a version back whose API server %s, and tries it again only with another token',
    async (fault) => {
      const bed = await created();
      bed.hosting().faults.set('kube-apiserver v1.36.3', fault);
      await set(bed, NEW, 120_000);
      expect(bed.hosting().planes.get('ci')?.settled.version).toBe(OLD_VERSION);
      expect(conditionText(bed, 'ControlPlaneStalled')).toBe('True RolledBack');
      expect(conditionText(bed, 'ControlPlaneUpToDate')).toBe('False RolledBack');
      expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
      expect(status(bed)).toMatchObject({
        rolledBack: { version: VERSION },
        history: [{ result: 'RolledBack' }],
      });
      bed.hosting().log.length = 0;
      bed.hosting().faults.clear();
      await bed.advance(600_000);
      expect(bed.hosting().log).toEqual([]);
      await set(bed, { ...NEW, retryToken: 'fixed' }, 60_000);
      expect(bed.hosting().log).toEqual([...TRIAL, ...RAISE]);
      expect(conditionText(bed, 'ControlPlaneStalled')).toBe('False NotStalled');
    },
  );

  it('HOS-16 changes a flag by the same steps, and takes one back that does not work', async () => {
    const bed = await created(NEW);
    await set(bed, { ...NEW, apiServer: { extraArgs: { 'goaway-chance': '0.001' } } }, 60_000);
    const changed = ['change ci kube-apiserver to v1.36.3', 'start ci kube-apiserver', 'settle ci v1.36.3'];
    expect(bed.hosting().log).toEqual(changed);
    expect(status(bed)?.history).toMatchObject([{ from: VERSION, to: VERSION, result: 'Completed' }]);
    expect(conditionText(bed, 'ControlPlaneUpToDate')).toBe('True AsWanted');
  });

  it('HOS-10 asks the Defender for each member that it stops, and gives each grant back', async () => {
    const bed = hostingBed([applied({ hosted: OLD }), POLICY]);
    await bed.start();
    await bed.advance(10_000);
    bed.hosting().log.length = 0;
    bed.grants.deny = () => 'a window is closed';
    await set(bed, NEW, 60_000);
    expect(bed.hosting().log).toEqual(['snapshot ci']);
    expect(status(bed)?.waiting?.reason).toBe('GrantDenied');
    bed.grants.deny = () => undefined;
    await bed.advance(90_000);
    expect(bed.hosting().log).toEqual([...TRIAL, ...RAISE]);
    // One grant for each step before the point of no return, and one after it.
    expect(bed.grants.settled).toHaveLength(4);
    expect(bed.grants.open.size).toBe(0);
  });

  it('HOS-04 reaches the same end when it is killed after any act of an upgrade', async () => {
    let acts = Number.POSITIVE_INFINITY;
    for (let n = 1; n <= acts; n += 1) {
      const bed = await dyingBed(n);
      const dying = await bed.start();
      bed.apply(applied({ hosted: NEW }));
      await bed.advance(60_000);
      await dying.kill();
      if (bed.count() < n) acts = bed.count();
      await bed.start();
      await bed.advance(80_000);
      expectDone(bed, `act ${n}`);
    }
    expect(acts).toBe(16);
  });

  it.each(['before', 'after'] as const)(
    'HOS-04 reaches the same end when it is killed %s any write of an upgrade',
    async (when) => {
      let crashed = true;
      for (let n = 1 + (SEED % STRIDE); crashed; n += STRIDE) {
        const bed = await dyingBed(Number.POSITIVE_INFINITY);
        const dying = await bed.start({ n, when });
        bed.apply(applied({ hosted: NEW }));
        await bed.advance(60_000);
        ({ crashed } = dying);
        await dying.kill();
        await bed.start();
        await bed.advance(80_000);
        expectDone(bed, `write ${n}`);
        expect(bed.hosting.authorities()).toBe(1);
      }
    },
  );
});

type DyingBed = ControllerBed & { readonly hosting: MemoryHosting; readonly count: () => number };

/** Every act may be repeated, and none may be done that is not needed: each change starts its member once. */
function expectDone(bed: DyingBed, at: string): void {
  const { log } = bed.hosting;
  expect([at, conditionText(bed, 'ControlPlaneUpToDate')]).toEqual([at, 'True AsWanted']);
  expect([at, ...new Set(log)]).toEqual([at, ...new Set([...TRIAL, ...RAISE])]);
  expect([at, log.filter((line) => line.startsWith('start'))]).toEqual([
    at,
    [...TRIAL, ...RAISE].filter((line) => line.startsWith('start')),
  ]);
  expect([at, status(bed)?.history?.map(({ result }) => result)]).toEqual([at, ['Completed']]);
}

/** A control plane of the old version, whose next controller hangs after its n-th act. */
async function dyingBed(n: number): Promise<DyingBed> {
  let processes = 0;
  let acts = 0;
  const hang = async (act: Promise<void>): Promise<void> => {
    await act;
    if (processes !== 2) return;
    acts += 1;
    if (acts === n) await new Promise(() => undefined);
  };
  const hosting = memoryHosting(() => bed.clock.now());
  const { driver } = hosting;
  const dying = {
    ...hosting,
    driver: {
      ...driver,
      start: (...args: Parameters<typeof driver.start>) => hang(driver.start(...args)),
      change: (...args: Parameters<typeof driver.change>) => hang(driver.change(...args)),
      snapshot: (...args: Parameters<typeof driver.snapshot>) => hang(driver.snapshot(...args)),
      settle: (...args: Parameters<typeof driver.settle>) => hang(driver.settle(...args)),
    },
  };
  const grants = memoryGrants({ now: () => NOW });
  const bed: ControllerBed = createControllerBed({
    controllers: () => {
      processes += 1;
      return [createHostingController({ ...dying, grants, maxClusters: 20, maxAgeSeconds: 691_200 })];
    },
    kinds: KINDS,
    objects: [applied({ hosted: OLD })],
  });
  const first = await bed.start();
  await bed.advance(10_000);
  expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
  await first.kill();
  hosting.log.length = 0;
  return { ...bed, hosting, count: () => acts };
}
