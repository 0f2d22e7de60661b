import { describe, expect, it } from 'vitest';
import { hostedChangeNotes } from '../../../src/cli/plan/hosted-changes.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { HUB_TARGET, type Rendered } from '../../../src/sync/rendered.ts';
import { NOW } from '../../support/builders.ts';
import { freeze } from '../../support/hosting/objects.ts';

const OLD = 'v1.35.4';
const NEW = 'v1.36.3';

function cluster(hosted: object, status?: object): KubeObject {
  const spec = { environment: 'test', hosted: { driver: 'process', version: OLD, ...hosted } };
  const found = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Cluster', metadata: { name: 'ci' }, spec };
  return status ? { ...found, status: { hosted: status } } : found;
}

function inProd(etcd: object): KubeObject {
  const found = cluster({ etcd });
  return { ...found, spec: { ...(found['spec'] as object), environment: 'prod', deletion: {} } };
}

function rendered(...objects: readonly KubeObject[]): Rendered {
  const withSource = objects.map((object) => ({ object, source: {} }));
  const units = [{ unit: 'clusters', objects: withSource, digest: '' }];
  return { commit: '0'.repeat(40), targets: [{ target: HUB_TARGET, units, digest: '' }] };
}

function notes(before: KubeObject, after: KubeObject): readonly string[] {
  return hostedChangeNotes([before], rendered(after), NOW);
}

const USED = [
  { api: 'flowcontrol.apiserver.k8s.io/v1beta3 flowschemas', removedIn: '1.36' },
  { api: 'a.k8s.io/v1alpha1 later', removedIn: '1.37' },
];

const OUTAGE = { at: '2030-01-01T11:59:00Z', milliseconds: 4260, cause: 'Change' };

describe('what plan shows of a hosted control plane that changes', () => {
  it('HOS-15 a new minor version: steps, outage, rollback, and APIs in use that it removes', () => {
    expect(
      notes(cluster({}, { deprecatedApis: USED, lastOutage: OUTAGE }), cluster({ version: NEW })),
    ).toEqual([
      'Cluster ci: its control plane changes (v1.35.4 to v1.36.3): Preflight, Snapshot, Etcd, APIServers, Managers, Soak, PointOfNoReturn; the soak takes 60 s',
      'Cluster ci: its one API server is started again twice: its last change took 4.3 s without an answer, as measured at 2030-01-01T11:59:00Z',
      'Cluster ci: until PointOfNoReturn a commit with v1.35.4 takes it back, and a failure does so by itself; after it only a snapshot of etcd has the former state',
      'Cluster ci: flowcontrol.apiserver.k8s.io/v1beta3 flowschemas is in use, and is not served from 1.36 on: change its clients first',
    ]);
  });

  it('HOS-15 a change that the driver of pods refuses: size of the volume and address', () => {
    const pods = { driver: 'workload', version: NEW };
    const after = cluster({ ...pods, etcd: { storageGiB: 20 }, exposure: { type: 'LoadBalancer' } });
    expect(notes(cluster({ ...pods, version: OLD }), after)).toEqual([
      'Cluster ci: driver workload does not change this of a control plane that exists (exposure.type, etcd.storageGiB): hosting refuses it as ChangeNotSupported',
    ]);
  });

  it('HOS-15 a new minor version of pods: steps, and who does not answer meanwhile', () => {
    const pods = { driver: 'workload' };
    expect(notes(cluster(pods, {}), cluster({ ...pods, version: NEW }))).toEqual([
      'Cluster ci: its control plane changes (v1.35.4 to v1.36.3): Preflight, Snapshot, Etcd, APIServers, Managers, Soak, PointOfNoReturn; the soak takes 60 s',
      'Cluster ci: its next API server answers before the former one ends; etcd has one member, and nothing is served while that is replaced because its own version or quota changes; pods of the cluster that connect by the Service kubernetes may be refused for up to ten seconds each time',
      'Cluster ci: until PointOfNoReturn a commit with v1.35.4 takes it back, and a failure does so by itself; after it only a snapshot of etcd has the former state',
      'Cluster ci: clients use no API that 1.36 removes, since its API server was started',
    ]);
  });

  it('HOS-15 flags and requests of pods, which cause no outage', () => {
    const pods = { driver: 'workload' };
    const after = cluster({ ...pods, apiServer: { extraArgs: { v: '4' }, memoryMiB: 1024 } });
    expect(notes(cluster(pods, {}), after)).toEqual([
      'Cluster ci: its control plane changes (apiServer.extraArgs, apiServer.memoryMiB): Preflight, Etcd, APIServers, Managers, Soak, PointOfNoReturn; the soak takes 60 s',
      'Cluster ci: its next API server answers before the former one ends: no outage is expected; pods of the cluster that connect by the Service kubernetes may be refused for up to ten seconds each time',
      'Cluster ci: a later commit with the former values takes it back at any time',
    ]);
  });

  it('HOS-15 flags, without a snapshot, and until when a freeze holds them', () => {
    const before = cluster({ upgrade: { freezes: [freeze()] } });
    const after = cluster({ apiServer: { extraArgs: { v: '4' } }, upgrade: { soakSeconds: 5 } });
    expect(notes(before, after)).toEqual([
      'Cluster ci: its control plane changes (apiServer.extraArgs): Preflight, Etcd, APIServers, Managers, Soak, PointOfNoReturn; the soak takes 5 s',
      'Cluster ci: its one API server is started again once: how long it does not answer each time was not read: run the plan with the hub',
      'Cluster ci: a later commit with the former values takes it back at any time',
      'Cluster ci: the change is held: freeze sale until 2030-01-02T12:00:00.000Z: sale',
    ]);
  });

  it('HOS-15 a freeze that an earlier commit dropped, and that still holds', () => {
    const flags = { apiServer: { extraArgs: { v: '4' } } };
    const closedTimes = { target: 'x', windows: [], freezes: [freeze()] };
    expect(notes(cluster({}, { closedTimes }), cluster(flags)).at(-1)).toBe(
      'Cluster ci: the change is held: freeze sale until 2030-01-02T12:00:00.000Z: sale',
    );
  });

  it.each<readonly [name: string, before: KubeObject, after: KubeObject, expected: string]>([
    [
      'two minor versions',
      cluster({}),
      cluster({ version: 'v1.37.0' }),
      'v1.37.0 is 2 minor versions after v1.35.4: change one minor version at a time',
    ],
    [
      'a former minor version',
      cluster({ version: NEW }, {}),
      cluster({}),
      'v1.35.4 is older than v1.36.3, which passed its point of no return: hosting refuses it as RollbackImpossible',
    ],
    [
      'a control plane of which only a start was measured',
      cluster({}, { lastOutage: { ...OUTAGE, cause: 'Start' } }),
      cluster({ version: 'v1.35.5' }),
      'its one API server is started again once: its last start took 4.3 s, as measured at 2030-01-01T11:59:00Z, and the end of the former process comes on top',
    ],
    [
      'a control plane that was not measured',
      cluster({}, {}),
      cluster({ version: 'v1.35.5' }),
      'its one API server is started again once: how long it does not answer each time was not measured yet',
    ],
    [
      'a rollback',
      cluster({ version: NEW }, { rollbackPossible: true, rollbackVersion: OLD }),
      cluster({}),
      'it is a rollback to v1.35.4, which is possible now',
    ],
    [
      'two API servers',
      cluster({}, {}),
      cluster({ version: NEW, replicas: 2, etcd: { replicas: 3 } }),
      'its 2 API servers are started one after the other: no outage is expected',
    ],
    [
      'two API servers and one member of etcd',
      cluster({}, {}),
      cluster({ version: NEW, replicas: 2 }),
      'its 2 API servers are started one after the other; etcd has one member, and nothing is served while that is replaced because its own version or quota changes',
    ],
    [
      'a second API server as a pod',
      cluster({ driver: 'workload' }),
      cluster({ driver: 'workload', replicas: 2 }),
      'its API servers change from 1 to 2, one at a time: no outage is expected',
    ],
    [
      'a second API server',
      cluster({}),
      cluster({ replicas: 2 }),
      'its API servers change from 1 to 2, one at a time: balancers take the port of the only one, which does not answer for 1 to 5 s meanwhile',
    ],
    [
      'a second API server where there were several',
      cluster({}, { components: [{ name: 'kubenode-balancer' }] }),
      cluster({ replicas: 2 }),
      'its API servers change from 1 to 2, one at a time: no outage is expected',
    ],
    [
      'one API server less',
      cluster({ replicas: 3 }),
      cluster({ replicas: 2 }),
      'its API servers change from 3 to 2, one at a time: no outage is expected',
    ],
    [
      'two API servers as pods',
      cluster({ driver: 'workload', replicas: 2, etcd: { replicas: 3 } }),
      cluster({ driver: 'workload', version: NEW, replicas: 2, etcd: { replicas: 3 } }),
      'its 2 API servers are started one after the other: no outage is expected; pods of the cluster that connect by the Service kubernetes may be refused for up to ten seconds each time',
    ],
    [
      'one API server less as a pod',
      cluster({ driver: 'workload', replicas: 3 }),
      cluster({ driver: 'workload', replicas: 2 }),
      'its API servers change from 3 to 2, one at a time: no outage is expected; pods of the cluster that connect by the Service kubernetes may be refused for up to ten seconds each time',
    ],
    [
      'a flag of the scheduler with two API servers',
      cluster({ replicas: 2 }),
      cluster({ replicas: 2, scheduler: { extraArgs: { v: '4' } } }),
      'its API servers are not started again: no outage is expected',
    ],
    [
      'a flag of the controller manager of pods',
      cluster({ driver: 'workload', replicas: 2 }),
      cluster({ driver: 'workload', replicas: 2, controllerManager: { extraArgs: { v: '4' } } }),
      'its API servers are not started again: no outage is expected',
    ],
    [
      'a flag of the scheduler',
      cluster({}),
      cluster({ scheduler: { extraArgs: { v: '4' } } }),
      'its API server is not started again: no outage is expected',
    ],
    [
      'no API in use',
      cluster({}, { deprecatedApis: [USED[1]] }),
      cluster({ version: NEW }),
      'clients use no API that 1.36 removes, since its API server was started',
    ],
    [
      'no hub',
      cluster({}),
      cluster({ version: NEW }),
      'which APIs 1.36 removes while clients use them was not read: run the plan with the hub',
    ],
  ])('HOS-15 the plan shows what follows from %s', (_, before, after, expected) => {
    expect(notes(before, after)).toContain(`Cluster ci: ${expected}`);
  });

  it('HOS-30 a new cluster in prod whose etcd has one member, which cannot be changed later', () => {
    const shown = (etcd: object, before: readonly KubeObject[] = []): readonly string[] =>
      hostedChangeNotes(before, rendered(inProd(etcd)), NOW);
    expect(shown({})).toEqual([
      'Cluster ci: its etcd has one member, and its environment is prod: when that member loses its data, only a backup has it. spec.hosted.etcd.replicas: 3 is possible at creation only',
    ]);
    expect([shown({ replicas: 3 }), shown({}, [inProd({})])]).toEqual([[], []]);
  });

  it.each<readonly [name: string, before: readonly KubeObject[], after: KubeObject]>([
    ['nothing that starts a member again', [cluster({}, {})], cluster({ pki: { renewAtPercent: 50 } })],
    [
      'the default that it had',
      [cluster({})],
      cluster({ etcd: { quotaMiB: 2048 }, scheduler: { extraArgs: {} } }),
    ],
    ['a new cluster', [], cluster({ version: NEW })],
    ['a cluster of somebody else', [cluster({})], { ...cluster({}), spec: { connection: {} } }],
    ['an object that the schema refuses', [cluster({})], cluster({ version: 'latest' })],
    ['an object of another kind', [cluster({})], { ...cluster({ version: NEW }), kind: 'Machine' }],
  ])('HOS-15 nothing is shown of %s', (_, before, after) => {
    expect(hostedChangeNotes(before, rendered(after), NOW)).toEqual([]);
  });
});
