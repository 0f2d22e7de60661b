import { describe, expect, it } from 'vitest';
import { CLUSTERS, DEFENDER_POLICIES } from '../../../src/api/generated/resources.ts';
import { KILL_SWITCH, kubeconfigSecret, LABEL_CLUSTER, NAMESPACE } from '../../../src/api/names.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import { createHostingController } from '../../../src/controllers/hosting/controller.ts';
import type { MemberReport, PlaneDriver } from '../../../src/controllers/hosting/drivers/driver.ts';
import type { Controller } from '../../../src/kube/controller/controller.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { ago, NOW } from '../../support/builders.ts';
import { createControllerBed } from '../../support/controller/bed.ts';
import { applied, conditionText, found, hostingBed, KINDS, secretOf } from '../../support/hosting/bed.ts';
import { memoryHosting } from '../../support/hosting/memory/driver.ts';
import { hostedCluster } from '../../support/hosting/objects.ts';
import { memoryGrants } from '../../support/memory-grants.ts';

const LIMITS = { maxClusters: 20, maxAgeSeconds: 691_200, grants: memoryGrants({ now: () => NOW }) };
const ENGAGED = { engaged: true, scope: 'All', by: 'ann', reason: 'incident' };

function policy(killSwitch: object, name = KILL_SWITCH): KubeObject {
  const spec = { killSwitch: { engaged: false, scope: 'All', ...killSwitch } };
  return { apiVersion: API_VERSION, kind: DEFENDER_POLICIES.kind, metadata: { name }, spec };
}

function foreignSecret(labels: Readonly<Record<string, string>> = {}): KubeObject {
  const metadata = { name: kubeconfigSecret('ci'), namespace: NAMESPACE, labels };
  return { apiVersion: 'v1', kind: 'Secret', metadata, data: { kubeconfig: 'b2Y=' } };
}

async function refuse(): Promise<never> {
  throw new Error('status 403: forbidden');
}

function isRunningScheduler({ member, state }: MemberReport): boolean {
  return member === 'kube-scheduler' && state === 'Ready';
}

/** Returns a driver whose scheduler runs and has not answered for ten minutes. */
function silentScheduler(driver: PlaneDriver): PlaneDriver {
  const unreadySince = new Date(+NOW - 600_000);
  return {
    ...driver,
    observe: async (plane, signal) => {
      const report = await driver.observe(plane, signal);
      const members = report.members.map((each) =>
        isRunningScheduler(each) ? { ...each, state: 'Starting' as const, unreadySince } : each,
      );
      return { ...report, members };
    },
  };
}

/** Creates a control plane, deletes its Cluster, and returns what the destruction waits for. */
async function destroyed(...objects: readonly KubeObject[]): Promise<string | undefined> {
  const bed = hostingBed([applied(), ...objects]);
  await bed.start();
  await bed.advance(10_000);
  bed.delete(CLUSTERS, 'ci');
  await bed.advance(12_000);
  return found(bed)?.status?.hosted?.waiting?.reason;
}

describe('what hosting observes in the hub', () => {
  it.each<readonly [string, KubeObject]>([
    ['engaged', policy(ENGAGED)],
    ['engaged until later', policy({ ...ENGAGED, until: ago(-3600) })],
  ])('holds a destruction by a kill switch that is %s', async (_, object) => {
    expect(await destroyed(object)).toBe('KillSwitch');
  });

  it.each<readonly [string, KubeObject]>([
    ['not engaged', policy({ ...ENGAGED, engaged: false })],
    ['engaged for rollouts only', policy({ ...ENGAGED, scope: 'Rollout' })],
    ['over', policy({ ...ENGAGED, until: NOW.toISOString() })],
    ['of another policy', policy(ENGAGED, 'other')],
  ])('destroys with a kill switch that is %s', async (_, object) => {
    expect(await destroyed(object)).toBeUndefined();
  });

  it('reports why the API server of a cluster does not answer its administrator', async () => {
    const hosting = memoryHosting(() => NOW);
    const silent = { ...hosting, inside: { ...hosting.inside, read: refuse }, ...LIMITS };
    const controllers = (): Controller[] => [createHostingController(silent)];
    const bed = createControllerBed({ controllers, kinds: KINDS, objects: [applied()] });
    await bed.start();
    await bed.advance(10_000);
    const { waiting } = found(bed)?.status?.hosted ?? {};
    expect(waiting?.reason).toBe('ApiNotAnswering');
    expect(waiting?.message).toContain('administrator: status 403: forbidden; read the log');
  });

  it('HOS-51 reports why the add-ons of a control plane that serves cannot be read', async () => {
    const hosting = memoryHosting(() => NOW);
    const unread = { ...hosting, addons: { ...hosting.addons, read: refuse }, ...LIMITS };
    const controllers = (): Controller[] => [createHostingController(unread)];
    const bed = createControllerBed({ controllers, kinds: KINDS, objects: [applied()] });
    await bed.start();
    await bed.advance(10_000);
    const conditions = found(bed)?.status?.conditions ?? [];
    const message = (type: string): string | undefined =>
      conditions.find((each) => each.type === type)?.message;
    expect(conditions.find(({ type }) => type === 'ControlPlaneReady')?.status).toBe('True');
    expect(message('AddonsReady')).toBe('the add-ons could not be read: status 403: forbidden');
  });

  it.each<readonly [string, Readonly<Record<string, string>>]>([
    ['no label', {}],
    ['the label of another Cluster', { [LABEL_CLUSTER]: 'ci-2' }],
  ])('neither writes nor deletes a Secret with %s', async (_, labels) => {
    const bed = hostingBed([applied(), foreignSecret(labels)]);
    await bed.start();
    await bed.advance(10_000);
    expect(conditionText(bed, 'ControlPlaneStalled')).toBe('True SecretNotOurs');
    bed.delete(CLUSTERS, 'ci');
    await bed.advance(12_000);
    expect(found(bed)).toBeUndefined();
    expect(secretOf(bed)?.['data']).toEqual({ kubeconfig: 'b2Y=' });
  });

  it.each([
    ['process', true],
    ['workload', false],
  ] as const)(
    'knows whether hosting stops a member of driver %s that does not answer: %s',
    async (driver, isStopped) => {
      const hosting = memoryHosting(() => NOW);
      const silent = silentScheduler(hosting.driver);
      const ports = { ...hosting, driver: silent, workload: silent, ...LIMITS };
      const controllers = (): Controller[] => [createHostingController(ports)];
      const bed = createControllerBed({
        controllers,
        kinds: KINDS,
        objects: [applied({ hosted: { driver } })],
      });
      await bed.start();
      await bed.advance(10_000);
      expect(hosting.log).toContain('start ci kube-scheduler');
      expect(hosting.log.includes('stop ci kube-scheduler')).toBe(isStopped);
    },
  );

  it('counts only Clusters that are processes of this machine', async () => {
    const { hosted: _, ...spec } = hostedCluster().spec;
    const connected = { ...applied({ name: 'a' }), spec: { ...spec, connection: { inCluster: true } } };
    const workload = applied({ name: 'b', hosted: { driver: 'workload' } });
    const bed = hostingBed([connected, workload, applied({ name: 'c' })], 1);
    await bed.start();
    await bed.advance(10_000);
    expect(conditionText(bed, 'ControlPlaneReady', 'c')).toBe('True Ready');
  });
});
