import { describe, expect, it } from 'vitest';
import { CLUSTERS } from '../../../src/api/generated/resources.ts';
import { kubeconfigSecret, LABEL_CLUSTER, NAMESPACE } from '../../../src/api/names.ts';
import { createHostingController } from '../../../src/controllers/hosting/controller.ts';
import { MEMBERS } from '../../../src/controllers/hosting/drivers/driver.ts';
import { HostingError } from '../../../src/controllers/hosting/errors.ts';
import { SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import { servedKind } from '../../../src/sim/api-server/kinds.ts';
import { NOW } from '../../support/builders.ts';
import { type ControllerBed, createControllerBed, sweepCrashes } from '../../support/controller/bed.ts';
import { applied, conditionText, found, hostingBed, KINDS, secretOf } from '../../support/hosting/bed.ts';
import { type MemoryHosting, memoryHosting } from '../../support/hosting/memory/driver.ts';
import { hostedCluster } from '../../support/hosting/objects.ts';
import { memoryGrants } from '../../support/memory-grants.ts';

const CREATED = [
  'prepare ci',
  ...MEMBERS.slice(0, 4).map((member) => `start ci ${member}`),
  'install ci',
  'start ci kubenode-controllers',
];
const LIMITS = { maxClusters: 20, maxAgeSeconds: 691_200, grants: memoryGrants({ now: () => NOW }) };
const DESTROYED = [...MEMBERS.toReversed().map((member) => `stop ci ${member}`), 'remove ci'];

describe('the controller of hosted control planes', () => {
  it('creates a control plane in order, hands it to sync, and destroys it in the reverse order', async () => {
    const bed = hostingBed([applied()]);
    await bed.start();
    await bed.advance(10_000);
    expect(bed.hosting().log).toEqual(CREATED);
    expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
    expect(secretOf(bed)?.metadata).toMatchObject({
      namespace: NAMESPACE,
      labels: { [LABEL_CLUSTER]: 'ci' },
      annotations: { 'kubenode.dev/secret-use': 'kubeconfig' },
    });
    bed.delete(CLUSTERS, 'ci');
    await bed.advance(10_000);
    expect(bed.hosting().log).toEqual([...CREATED, ...DESTROYED]);
    expect([found(bed), secretOf(bed), bed.hosting().planes.size]).toEqual([undefined, undefined, 0]);
  });

  it('writes nothing more once the control plane is ready', async () => {
    const bed = hostingBed([applied()]);
    await bed.start();
    await bed.advance(10_000);
    bed.writes();
    await bed.advance(120_000);
    expect(bed.writes()).toEqual([]);
  });

  it('HOS-04 makes one authority and reaches the same end after a crash at any write', async () => {
    const hosting = { current: memoryHosting(() => NOW) };
    const writes = await sweepCrashes(
      {
        controllers: () => {
          return [createHostingController({ ...hosting.current, ...LIMITS })];
        },
        kinds: KINDS,
        objects: [applied()],
      },
      (bed, crash) => {
        expect([crash, conditionText(bed, 'ControlPlaneReady')]).toEqual([crash, 'True Ready']);
        expect([crash, hosting.current.authorities()]).toEqual([crash, 1]);
        expect(hosting.current.log).toEqual(CREATED);
        hosting.current = memoryHosting(() => NOW);
      },
    );
    expect(writes).toBeGreaterThan(5);
  });

  it('HOS-04 reaches the same end when it is killed after any act, in create and in destroy', async () => {
    let acts = Number.POSITIVE_INFINITY;
    for (let n = 1; n <= acts; n += 1) {
      const bed = dyingBed(n);
      const first = await bed.start();
      await bed.advance(5000);
      if (bed.count() < n) bed.delete(CLUSTERS, 'ci');
      await bed.advance(5000);
      await first.kill();
      if (bed.count() < n) acts = bed.count();
      await bed.start();
      await bed.advance(5000);
      if (!found(bed)?.metadata.deletionTimestamp && found(bed)) bed.delete(CLUSTERS, 'ci');
      await bed.advance(12_000);
      expect([n, ...bed.hosting.log]).toEqual([n, ...CREATED, ...DESTROYED]);
      expect([found(bed), secretOf(bed), bed.hosting.authorities()]).toEqual([undefined, undefined, 1]);
    }
    // With the removal of an empty folder, before the finalizer goes.
    expect(acts).toBe(15);
  });

  it('starts a member again that ended', async () => {
    const bed = hostingBed([applied()]);
    await bed.start();
    await bed.advance(10_000);
    bed.hosting().planes.get('ci')?.running.delete('kube-scheduler');
    await bed.advance(12_000);
    expect(bed.hosting().log.slice(CREATED.length)).toEqual(['start ci kube-scheduler']);
    expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
  });

  it('writes the Secret again that a person deleted', async () => {
    const bed = hostingBed([applied()]);
    await bed.start();
    await bed.advance(10_000);
    bed.api.objects.delete(servedKind(SECRETS), { name: kubeconfigSecret('ci'), namespace: NAMESPACE }, {});
    await bed.advance(12_000);
    expect(secretOf(bed)).toBeDefined();
  });

  it('deletes a throw-away cluster when its time is over', async () => {
    const bed = hostingBed([applied({ hosted: { ttlSecondsAfterReady: 60 } })]);
    await bed.start();
    await bed.advance(50_000);
    expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
    await bed.advance(40_000);
    expect([found(bed), bed.hosting().planes.size]).toEqual([undefined, 0]);
  });

  it('creates no more control planes than allowed, and keeps those that exist', async () => {
    const bed = hostingBed([applied({ name: 'a' }), applied({ name: 'b' })], 1);
    await bed.start();
    await bed.advance(10_000);
    expect([...bed.hosting().planes.keys()]).toEqual(['a']);
    expect(conditionText(bed, 'ControlPlaneStalled', 'b')).toBe('True LimitReached');
  });

  it('keeps a control plane of another Cluster that had the same name', async () => {
    const bed = hostingBed([applied()]);
    await bed.hosting().driver.prepare({ ...specOf(), uid: 'another' });
    await bed.start();
    await bed.advance(5000);
    expect(conditionText(bed, 'ControlPlaneStalled')).toBe('True FolderNotOurs');
    bed.delete(CLUSTERS, 'ci');
    await bed.advance(12_000);
    expect([found(bed), bed.hosting().planes.get('ci')?.spec.uid]).toEqual([undefined, 'another']);
  });

  it('leaves a control plane alone that another hosting of the same hub created', async () => {
    let hosting = memoryHosting(() => NOW, 'first');
    const bed = createControllerBed({
      controllers: () => [createHostingController({ ...hosting, ...LIMITS })],
      kinds: KINDS,
      objects: [applied()],
    });
    const first = await bed.start();
    await bed.advance(10_000);
    const kubeconfig = secretOf(bed)?.['data'];
    expect(kubeconfig).toBeDefined();
    await first.kill();
    hosting = memoryHosting(() => NOW, 'second');
    await bed.start();
    await bed.advance(12_000);
    expect(conditionText(bed, 'ControlPlaneStalled')).toBe('True HostedElsewhere');
    bed.delete(CLUSTERS, 'ci');
    await bed.advance(12_000);
    expect(found(bed)?.status?.hosted?.waiting?.message).toContain('its control plane is at first:ci');
    expect([hosting.log, secretOf(bed)?.['data']]).toEqual([[], kubeconfig]);
  });

  it('reports a control plane that cannot be observed, and goes on when it can', async () => {
    const bed = hostingBed([applied()]);
    const { driver } = bed.hosting();
    const working = { ...driver };
    await bed.start();
    await bed.advance(10_000);
    const hint = 'restore it';
    Object.assign(driver, {
      observe: async () => {
        throw new HostingError('CorruptRecord', 'plane.json is damaged', { where: 'plane.json', hint });
      },
    });
    await bed.advance(12_000);
    expect(conditionText(bed, 'ControlPlaneReady')).toBe('Unknown CorruptRecord');
    expect(conditionText(bed, 'ControlPlaneStalled')).toBe('True CorruptRecord');
    expect(found(bed)?.status?.hosted?.waiting?.message).toBe('plane.json is damaged: restore it');
    expect(found(bed)?.status?.hosted?.components).toHaveLength(5);
    Object.assign(driver, working);
    await bed.advance(12_000);
    expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
    expect(bed.hosting().log).toEqual(CREATED);
  });

  it('releases machines before the control plane that they belong to', async () => {
    const bed = hostingBed([applied()]);
    await bed.start();
    await bed.advance(10_000);
    const plane = bed.hosting().planes.get('ci');
    Object.assign(plane ?? {}, { machines: ['of-set-1', 'imported'], machineSets: ['web'] });
    bed.delete(CLUSTERS, 'ci');
    await bed.advance(15_000);
    expect(bed.hosting().log.slice(CREATED.length)).toEqual(['scale ci web']);
    expect(found(bed)?.status?.hosted?.waiting).toMatchObject({
      reason: 'MachinesLeft',
      blocker: { kind: 'Machine', name: 'imported' },
    });
    Object.assign(plane ?? {}, { machines: [] });
    await bed.advance(15_000);
    expect([found(bed), bed.hosting().log.at(-1)]).toEqual([undefined, 'remove ci']);
  });

  it('leaves a Cluster alone that is not hosted', async () => {
    const { hosted: _, ...spec } = hostedCluster().spec;
    const bed = hostingBed([{ ...applied(), spec: { ...spec, connection: { inCluster: true } } }]);
    await bed.start();
    await bed.advance(10_000);
    expect([bed.writes(), bed.hosting().planes.size]).toEqual([[], 0]);
  });
});

/** The first process hangs for ever when its n-th act on the control plane is done: then it is killed. */
function dyingBed(
  n: number,
): ControllerBed & { readonly hosting: MemoryHosting; readonly count: () => number } {
  let processes = 0;
  let acts = 0;
  const hosting = memoryHosting(() => NOW);
  const hang = async (act: Promise<void>): Promise<void> => {
    await act;
    acts += 1;
    if (processes === 1 && acts === n) await new Promise(() => undefined);
  };
  const { driver, inside } = hosting;
  const dying = {
    ...hosting,
    driver: {
      ...driver,
      prepare: (...args: Parameters<typeof driver.prepare>) => hang(driver.prepare(...args)),
      start: (...args: Parameters<typeof driver.start>) => hang(driver.start(...args)),
      stop: (...args: Parameters<typeof driver.stop>) => hang(driver.stop(...args)),
      beginDestroy: (...args: Parameters<typeof driver.beginDestroy>) => hang(driver.beginDestroy(...args)),
      remove: (...args: Parameters<typeof driver.remove>) => hang(driver.remove(...args)),
    },
    inside: {
      ...inside,
      install: (...args: Parameters<typeof inside.install>) => hang(inside.install(...args)),
    },
  };
  const bed = createControllerBed({
    controllers: () => {
      processes += 1;
      return [createHostingController({ ...dying, ...LIMITS })];
    },
    kinds: KINDS,
    objects: [applied()],
  });
  return { ...bed, hosting, count: () => acts };
}

function specOf(): Parameters<MemoryHosting['driver']['prepare']>[0] {
  const { name, ...rest } = { name: 'ci', uid: '', version: 'v1.36.3' };
  const settings = {
    podCIDR: '10.244.0.0/16',
    serviceCIDR: '10.96.0.0/16',
    serviceDomain: 'cluster.local',
    quotaMiB: 2048,
    renewAtPercent: 70,
    apiServer: {},
    controllerManager: {},
    scheduler: {},
  };
  return { name, ...rest, apiServers: 1, settings };
}
