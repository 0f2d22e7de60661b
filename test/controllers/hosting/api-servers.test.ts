/** A control plane with several API servers, by the controller on a driver in memory: created, changed, given another number, its authorities rotated, and killed at any act. */
import { describe, expect, it } from 'vitest';
import { CLUSTERS } from '../../../src/api/generated/resources.ts';
import { createHostingController } from '../../../src/controllers/hosting/controller.ts';
import {
  API_SERVERS,
  isApiServer,
  type PlaneDriver,
} from '../../../src/controllers/hosting/drivers/driver.ts';
import type { Hosted } from '../../../src/controllers/hosting/plan/input.ts';
import { type ControllerBed, createControllerBed } from '../../support/controller/bed.ts';
import { applied, conditionText, found, KINDS } from '../../support/hosting/bed.ts';
import { type MemoryHosting, memoryHosting } from '../../support/hosting/memory/driver.ts';
import { isServing } from '../../support/hosting/memory/servers.ts';
import { HOSTED, OLD_VERSION, VERSION } from '../../support/hosting/objects.ts';
import { memoryGrants } from '../../support/memory-grants.ts';
import { LONG } from '../../support/sweep-size.ts';

const UPGRADE = { ...HOSTED.upgrade, soakSeconds: 5, progressDeadlineSeconds: 60 };
const OLD: Partial<Hosted> = { version: OLD_VERSION, replicas: 2, upgrade: UPGRADE };
const NEW: Partial<Hosted> = { ...OLD, version: VERSION };

interface ServersBed extends ControllerBed {
  readonly hosting: MemoryHosting;
  readonly acts: () => number;
  /** The acts after which no client reached an API server, once the control plane was ready. */
  readonly outages: string[];
}

/** The process of the controller hangs after so many acts. */
function serversBed(hosted: Partial<Hosted>, hangAfter?: number): ServersBed {
  let acts = 0;
  let processes = 0;
  const outages: string[] = [];
  const hosting = memoryHosting(() => bed.clock.now());
  const { driver } = hosting;
  const after = async (work: Promise<void> | undefined): Promise<void> => {
    await work;
    acts += 1;
    if (wasReady(bed) && isAway(hosting)) outages.push(hosting.log.at(-1) ?? '');
    if (processes === 1 && acts === hangAfter) await new Promise(() => undefined);
  };
  const watched: PlaneDriver = {
    ...driver,
    prepare: (...args) => after(driver.prepare(...args)),
    start: (...args) => after(driver.start(...args)),
    stop: (...args) => after(driver.stop(...args)),
    change: (...args) => after(driver.change(...args)),
    settle: (...args) => after(driver.settle(...args)),
    setApiServers: (...args) => after(driver.setApiServers(...args)),
    rotate: async (...args) => await after(driver.rotate?.(...args)),
  };
  const bed = createControllerBed({
    controllers: () => {
      processes += 1;
      const grants = memoryGrants({ now: () => bed.clock.now() });
      const limits = { maxClusters: 20, maxAgeSeconds: 691_200 };
      return [createHostingController({ ...hosting, driver: watched, grants, ...limits })];
    },
    kinds: KINDS,
    objects: [applied({ hosted })],
  });
  return { ...bed, hosting, acts: () => acts, outages };
}

function wasReady(bed: ControllerBed): boolean {
  return found(bed)?.status?.hosted?.readyAt !== undefined;
}

function isAway({ planes }: MemoryHosting): boolean {
  const plane = planes.get('ci');
  return plane !== undefined && !plane.isDestroying && !isServing(plane);
}

async function created(hosted: Partial<Hosted>, hangAfter?: number): Promise<ServersBed> {
  const bed = serversBed(hosted, hangAfter);
  await bed.start();
  await bed.advance(30_000);
  expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
  bed.hosting.log.length = 0;
  return bed;
}

function ofServers({ hosting }: ServersBed): readonly string[] {
  return hosting.log.filter((line) => /apiserver|balancer|servers/.test(line));
}

function componentsOf(bed: ServersBed): readonly string[] {
  const components = found(bed)?.status?.hosted?.components ?? [];
  return components.map(({ name, version, ready, desired }) => `${name} ${version} ${ready}/${desired}`);
}

function serversIn(bed: ServersBed): string | undefined {
  return componentsOf(bed).find((text) => text.startsWith('kube-apiserver '));
}

describe('a control plane with several API servers', () => {
  it('HOS-13 starts each API server and its balancers, counts them in the status, and removes all of them', async () => {
    const bed = serversBed(NEW);
    await bed.start();
    await bed.advance(30_000);
    expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
    expect(ofServers(bed)).toEqual(
      ['kubenode-balancer', 'kubenode-balancer-1', 'kube-apiserver', 'kube-apiserver-1'].map(
        (member) => `start ci ${member}`,
      ),
    );
    expect(componentsOf(bed)).toContain('kubenode-balancer undefined 2/2');
    expect(serversIn(bed)).toBe(`kube-apiserver ${VERSION} 2/2`);
    bed.delete(CLUSTERS, 'ci');
    await bed.advance(30_000);
    expect([found(bed), bed.hosting.planes.size]).toEqual([undefined, 0]);
  });

  it('HOS-13 upgrades one API server after the other, and clients are served at each act', async () => {
    const bed = await created(OLD);
    bed.apply(applied({ hosted: NEW }));
    await bed.advance(120_000);
    const [first, second] = API_SERVERS;
    const round = (run: string): readonly string[] =>
      [first, second].flatMap((member) => [`change ci ${member} to ${run}`, `start ci ${member}`]);
    expect(ofServers(bed)).toEqual([...round(`${VERSION} as 1.35`), ...round(VERSION)]);
    expect(bed.outages).toEqual([]);
    expect(componentsOf(bed)).toContain(`kube-apiserver ${VERSION} 2/2`);
    expect(found(bed)?.status?.hosted?.history).toMatchObject([{ to: VERSION, result: 'Completed' }]);
  });

  it.each(['crashes', 'hangs', 'refuses'] as const)(
    'HOS-16 keeps a version from the second API server that %s on the first, and takes it back by itself',
    async (fault) => {
      const bed = await created(OLD);
      bed.hosting.faults.set(`kube-apiserver ${VERSION}`, fault);
      bed.apply(applied({ hosted: NEW }));
      await bed.advance(400_000);
      expect(bed.hosting.log.filter((line) => line.startsWith('change ci kube-apiserver'))).toEqual([
        `change ci kube-apiserver to ${VERSION} as 1.35`,
        `change ci kube-apiserver to ${OLD_VERSION}`,
      ]);
      expect(bed.outages).toEqual([]);
      expect(conditionText(bed, 'ControlPlaneUpToDate')).toBe('False RolledBack');
      expect(componentsOf(bed)).toContain(`kube-apiserver ${OLD_VERSION} 2/2`);
    },
  );

  it('HOS-16 takes a version back that crashes on the second API server, and that one first', async () => {
    const bed = await created(OLD);
    bed.hosting.faults.set(`kube-apiserver-1 ${VERSION}`, 'crashes');
    bed.apply(applied({ hosted: NEW }));
    await bed.advance(120_000);
    expect(bed.hosting.log.filter((line) => line.startsWith('change ci kube-apiserver'))).toEqual([
      `change ci kube-apiserver to ${VERSION} as 1.35`,
      `change ci kube-apiserver-1 to ${VERSION} as 1.35`,
      `change ci kube-apiserver-1 to ${OLD_VERSION}`,
      `change ci kube-apiserver to ${OLD_VERSION}`,
    ]);
    expect(bed.outages).toEqual([]);
    expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
  });

  it('HOS-13 upgrades without an outage when the controller is killed after any act', async () => {
    let acts = Number.POSITIVE_INFINITY;
    for (let n = 1; n <= acts; n += 3) {
      const begun = (await created(OLD)).acts();
      const bed = serversBed(OLD, begun + n);
      const first = await bed.start();
      await bed.advance(30_000);
      bed.apply(applied({ hosted: NEW }));
      await bed.advance(120_000);
      await first.kill();
      if (bed.acts() < begun + n) acts = n;
      await bed.start();
      await bed.advance(120_000);
      expect([n, bed.outages, conditionText(bed, 'ControlPlaneUpToDate')]).toEqual([n, [], 'True AsWanted']);
      expect([n, serversIn(bed)]).toEqual([n, `kube-apiserver ${VERSION} 2/2`]);
    }
  });

  it('HOS-13 grows from one to three with one short outage, and gets smaller without any', async () => {
    const bed = await created({ ...NEW, replicas: 1 });
    bed.apply(applied({ hosted: { ...NEW, replicas: 3 } }));
    await bed.advance(60_000);
    expect(ofServers(bed)).toEqual([
      'servers ci 3',
      'start ci kube-apiserver-1',
      'start ci kube-apiserver-2',
      'stop ci kube-apiserver',
      'start ci kubenode-balancer',
      'start ci kubenode-balancer-1',
      'start ci kube-apiserver',
    ]);
    expect(bed.outages).toEqual(['stop ci kube-apiserver']);
    expect(serversIn(bed)).toBe(`kube-apiserver ${VERSION} 3/3`);

    bed.hosting.log.length = 0;
    bed.outages.length = 0;
    bed.apply(applied({ hosted: { ...NEW, replicas: 1 } }));
    await bed.advance(60_000);
    expect(ofServers(bed)).toEqual([
      'stop ci kube-apiserver-2',
      'servers ci 2',
      'stop ci kube-apiserver-1',
      'servers ci 1',
    ]);
    expect(bed.outages).toEqual([]);
    expect(serversIn(bed)).toBe(`kube-apiserver ${VERSION} 1/1`);
  });

  it.each([
    [1, 2],
    [1, 3],
    [2, 3],
    [3, 1],
  ])(
    'HOS-13 gets from %d to %d API servers when the controller is killed after any act',
    async (from, to) => {
      const begun = (await created({ ...NEW, replicas: from })).acts();
      let acts = Number.POSITIVE_INFINITY;
      for (let n = 1; n <= acts; n += 1) {
        const bed = serversBed({ ...NEW, replicas: from }, begun + n);
        const first = await bed.start();
        await bed.advance(30_000);
        bed.apply(applied({ hosted: { ...NEW, replicas: to } }));
        await bed.advance(60_000);
        await first.kill();
        if (bed.acts() < begun + n) acts = n;
        await bed.start();
        await bed.advance(60_000);
        const running = [...(bed.hosting.planes.get('ci')?.running.keys() ?? [])].filter(isApiServer);
        expect([n, running.toSorted()]).toEqual([n, API_SERVERS.slice(0, to)]);
        expect([n, conditionText(bed, 'ControlPlaneReady')]).toEqual([n, 'True Ready']);
        expect([n, conditionText(bed, 'ControlPlaneUpToDate')]).toEqual([n, 'True AsWanted']);
      }
    },
  );

  it.each(['kube-apiserver', 'kube-apiserver-1', 'kubenode-balancer', 'kubenode-balancer-1'] as const)(
    'HOS-13 stays ready while %s is away, and starts it again',
    async (member) => {
      const bed = await created(NEW);
      bed.hosting.planes.get('ci')?.running.delete(member);
      await bed.advance(30_000);
      expect(ofServers(bed)).toEqual([`start ci ${member}`]);
      expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
    },
  );
});

type Target = 'Prepare' | 'Complete';

function asked(target?: Target, hosted: Partial<Hosted> = {}): ReturnType<typeof applied> {
  const caRotation = target ? { caRotation: { id: '2026', target } } : {};
  return applied({ hosted: { ...NEW, ...hosted, pki: { ...HOSTED.pki, ...caRotation } } });
}

async function ask(bed: ServersBed, target?: Target, hosted: Partial<Hosted> = {}): Promise<void> {
  bed.apply(asked(target, hosted));
  await bed.advance(60_000);
}

/** A phase in which each API server is started again, and no balancer. */
function phase(name: string, count = 2): readonly string[] {
  const restarts = API_SERVERS.slice(0, count).flatMap((each) => [`stop ci ${each}`, `start ci ${each}`]);
  return [`rotate ci ${name}`, ...restarts];
}

function prepared(count = 2): readonly string[] {
  return [...phase('TrustBoth', count), ...phase('IssueNew', count)];
}

function completed(count = 2): readonly string[] {
  return ['rotate ci ServeNew', ...phase('TrustNew', count), 'rotate ci Completed'];
}

const RETURNED = [...phase('TrustBoth'), ...phase('TrustOld'), 'rotate ci Aborted'];

function rotated({ hosting }: ServersBed): readonly string[] {
  return hosting.log.filter((line) => /apiserver|balancer|servers|rotate/.test(line));
}

function stepOf(bed: ServersBed): string | undefined {
  return found(bed)?.status?.hosted?.caRotation?.step;
}

const LIMIT = 120_000;

describe('a rotation of the authorities of several API servers', () => {
  it.each([2, 3])(
    'HOS-22 starts %d API servers again one at a time, and clients are served at each act',
    {
      timeout: LIMIT,
    },
    async (replicas) => {
      const bed = await created({ ...NEW, replicas });
      await ask(bed, 'Prepare', { replicas });
      expect([rotated(bed), stepOf(bed)]).toEqual([prepared(replicas), 'Prepared']);
      // Five others are those of a control plane with one.
      const total = 4 + replicas;
      expect(found(bed)?.status?.hosted?.caRotation?.clients).toEqual({ total, moved: total });
      await ask(bed, 'Complete', { replicas });
      expect([rotated(bed), stepOf(bed)]).toEqual([
        [...prepared(replicas), ...completed(replicas)],
        'Completed',
      ]);
      expect([bed.outages, conditionText(bed, 'ControlPlaneReady')]).toEqual([[], 'True Ready']);
    },
  );

  it('HOS-22 is taken back with several API servers, one at a time', { timeout: LIMIT }, async () => {
    const bed = await created(NEW);
    const before = bed.hosting.planes.get('ci')?.authority;
    await ask(bed, 'Prepare');
    await ask(bed);
    expect(rotated(bed)).toEqual([...prepared(), ...RETURNED]);
    expect([bed.outages, stepOf(bed), bed.hosting.planes.get('ci')?.authority]).toEqual([
      [],
      undefined,
      before,
    ]);
  });

  it('HOS-22 begins when the API server answers that the same commit adds, and keeps the number then', {
    timeout: LIMIT,
  }, async () => {
    const bed = await created({ ...NEW, replicas: 1 });
    await ask(bed, 'Prepare');
    await bed.advance(60_000);
    const log = rotated(bed);
    expect(log[0]).toBe('servers ci 2');
    expect(log.slice(log.indexOf('rotate ci TrustBoth'))).toEqual(prepared());
    await ask(bed, 'Prepare', { replicas: 3 });
    expect(found(bed)?.status?.hosted?.waiting).toMatchObject({ reason: 'RotationInWork' });
    expect(serversIn(bed)).toBe(`kube-apiserver ${VERSION} 2/2`);
    await ask(bed, 'Complete', { replicas: 3 });
    await bed.advance(60_000);
    expect([stepOf(bed), serversIn(bed)]).toEqual(['Completed', `kube-apiserver ${VERSION} 3/3`]);
  });

  it('HOS-22 waits for an API server that does not start, and is taken back from there without an outage', {
    timeout: LIMIT,
  }, async () => {
    const bed = await created(NEW);
    await ask(bed, 'Prepare');
    const fault = `kube-apiserver ${VERSION}`;
    bed.hosting.faults.set(fault, 'crashes');
    await ask(bed, 'Complete');
    expect(found(bed)?.status?.hosted?.waiting?.reason).toBe('MemberCrashes');
    expect(bed.hosting.planes.get('ci')?.running.has('kube-apiserver-1')).toBe(true);
    bed.hosting.faults.delete(fault);
    await ask(bed);
    await bed.advance(300_000);
    expect([stepOf(bed), serversIn(bed)]).toEqual([undefined, `kube-apiserver ${VERSION} 2/2`]);
    expect(bed.outages).toEqual([]);
  });

  it.each([
    ['taken back', undefined, undefined],
    ['completed', 'Complete', 'Completed'],
  ] as const)(
    'HOS-22 is %s when the API server that never starts again is not asked for any more',
    {
      timeout: LIMIT,
    },
    async (_, target, step) => {
      const bed = await created({ ...NEW, replicas: 3 });
      await ask(bed, 'Prepare', { replicas: 3 });
      bed.hosting.faults.set(`kube-apiserver-2 ${VERSION}`, 'crashes');
      bed.hosting.planes.get('ci')?.running.delete('kube-apiserver-2');
      await bed.advance(60_000);
      await ask(bed, target, { replicas: 3 });
      expect(found(bed)?.status?.hosted?.waiting?.reason).toBe('MemberCrashes');
      await ask(bed, target);
      await bed.advance(300_000);
      expect([stepOf(bed), serversIn(bed)]).toEqual([step, `kube-apiserver ${VERSION} 2/2`]);
      expect(bed.outages).toEqual([]);
    },
  );

  it('HOS-22 rotates without an outage, and does each act once, when the controller is killed after any act', {
    timeout: 4 * LIMIT,
  }, async () => {
    const begun = (await created(NEW)).acts();
    let acts = Number.POSITIVE_INFINITY;
    for (let n = 1; n <= acts; n += LONG ? 1 : 4) {
      const bed = serversBed(NEW, begun + n);
      const first = await bed.start();
      await bed.advance(30_000);
      bed.hosting.log.length = 0;
      await ask(bed, 'Prepare');
      await ask(bed, 'Complete');
      await first.kill();
      if (bed.acts() < begun + n) acts = n;
      await bed.start();
      await bed.advance(120_000);
      expect([n, ...rotated(bed)]).toEqual([n, ...prepared(), ...completed()]);
      expect([n, bed.outages, stepOf(bed)]).toEqual([n, [], 'Completed']);
    }
  });
});
