/** Control planes of pods with several API servers: the real controller and the real driver on a hub in memory, also killed at every write. */
import { describe, expect, it } from 'vitest';
import { CLUSTERS } from '../../../../../../src/api/generated/resources.ts';
import { API_SERVERS } from '../../../../../../src/controllers/hosting/drivers/driver.ts';
import {
  planeNamespace,
  RECORD,
  WORKLOAD_MEMBERS,
} from '../../../../../../src/controllers/hosting/drivers/workload/names.ts';
import { DEPLOYMENTS } from '../../../../../../src/controllers/hosting/drivers/workload/objects/workloads.ts';
import type { WorkloadRecord } from '../../../../../../src/controllers/hosting/drivers/workload/record.ts';
import { parseWorkloadRecord } from '../../../../../../src/controllers/hosting/drivers/workload/record-object.ts';
import type { Hosted } from '../../../../../../src/controllers/hosting/plan/input.ts';
import { CONFIG_MAPS } from '../../../../../../src/kube/objects/core-kinds.ts';
import { listAt, textAt } from '../../../../../../src/kube/objects/json.ts';
import { servedKind } from '../../../../../../src/sim/api-server/kinds.ts';
import { applied, conditionText, found } from '../../../../../support/hosting/bed.ts';
import { hubImages, type MemoryHub, memoryHub } from '../../../../../support/hosting/memory-hub.ts';
import { HOSTED, OLD_VERSION, POLICY, VERSION } from '../../../../../support/hosting/objects.ts';
import { LONG, SEED } from '../../../../../support/sweep-size.ts';

/** Each run takes a second; the long tests crash at every write. */
const STRIDE = LONG ? 1 : 11;
const UPGRADE = { ...HOSTED.upgrade, soakSeconds: 5, progressDeadlineSeconds: 30 };
const OLD: Partial<Hosted> = { driver: 'workload', version: OLD_VERSION, replicas: 2, upgrade: UPGRADE };
const NEW: Partial<Hosted> = { ...OLD, version: VERSION };
const ONE: Partial<Hosted> = { ...NEW, replicas: 1 };
const THREE: Partial<Hosted> = { ...NEW, replicas: 3 };
const READY = 'True Ready; True AsWanted';

function verbose(v: string): Partial<Hosted> {
  return { apiServer: { extraArgs: { v } } };
}

async function created(hosted: Partial<Hosted>, ...more: object[]): Promise<MemoryHub> {
  const hub = memoryHub([applied({ hosted }), ...(more as (typeof POLICY)[])], hubImages());
  await hub.start();
  await hub.advance(20_000);
  expect(conditionText(hub, 'ControlPlaneReady')).toBe('True Ready');
  forget(hub);
  return hub;
}

function forget(hub: MemoryHub): void {
  hub.made.length = 0;
  hub.silentSteps = 0;
}

async function set(hub: MemoryHub, hosted: Partial<Hosted>, ms: number): Promise<void> {
  hub.apply(applied({ hosted }));
  await hub.advance(ms);
}

function ofServers({ made }: MemoryHub): readonly string[] {
  return made.filter((line) => line.startsWith('kube-apiserver'));
}

function stateOf(hub: MemoryHub): string {
  return `${conditionText(hub, 'ControlPlaneReady')}; ${conditionText(hub, 'ControlPlaneUpToDate')}`;
}

function counted(hub: MemoryHub): string {
  const all = found(hub)?.status?.hosted?.components ?? [];
  const { version, ready, desired } = all.find(({ name }) => name === 'kube-apiserver') ?? {};
  return `${version} ${ready}/${desired}`;
}

function recordOf({ api }: MemoryHub): WorkloadRecord {
  const place = { name: RECORD, namespace: planeNamespace('ci') };
  return parseWorkloadRecord(api.objects.get(servedKind(CONFIG_MAPS), place));
}

/** Returns the API servers that have a Deployment. */
function deployed({ api }: MemoryHub): readonly string[] {
  const all = api.objects.list(servedKind(DEPLOYMENTS), planeNamespace('ci'));
  const names = all.map(({ metadata }) => metadata.name);
  return names.filter((name) => name.startsWith('kube-apiserver')).toSorted();
}

describe('several API servers as pods', () => {
  it('HOS-13 start beside each other, are counted in the status, and all of them are removed', async () => {
    const hub = await created(NEW);
    expect([deployed(hub), counted(hub)]).toEqual([API_SERVERS.slice(0, 2), `${VERSION} 2/2`]);
    hub.delete(CLUSTERS, 'ci');
    await hub.advance(60_000);
    expect([found(hub), API_SERVERS.flatMap(hub.pods)]).toEqual([undefined, []]);
  });

  it('HOS-05 are eight pods with three members of etcd, which reserve 825 millicores and 2240 MiB', async () => {
    const hub = memoryHub(
      [applied({ hosted: { ...NEW, etcd: { ...HOSTED.etcd, replicas: 3 } } })],
      hubImages(),
    );
    await hub.start();
    await hub.advance(60_000);
    expect(stateOf(hub)).toBe(READY);
    const containers = WORKLOAD_MEMBERS.flatMap(hub.pods).flatMap((pod) => listAt(pod, 'spec', 'containers'));
    const sum = (name: string): number =>
      containers.reduce<number>(
        (total, each) => total + Number.parseInt(textAt(each, 'resources', 'requests', name) ?? '', 10),
        0,
      );
    expect([containers.length, sum('cpu'), sum('memory')]).toEqual([8, 825, 2240]);
  });

  it('HOS-13 get a new version one after the other, and clients are served at each moment', async () => {
    const hub = await created(OLD);
    await set(hub, NEW, 90_000);
    expect(ofServers(hub)).toEqual([
      'kube-apiserver v1.36.3 as 1.35',
      'kube-apiserver-1 v1.36.3 as 1.35',
      'kube-apiserver v1.36.3',
      'kube-apiserver-1 v1.36.3',
    ]);
    expect([hub.silentSteps, stateOf(hub), counted(hub)]).toEqual([0, READY, `${VERSION} 2/2`]);
  });

  it.each(['crashes', 'hangs', 'refuses'] as const)(
    'HOS-16 keep a change from the second one that %s on the first, and it is taken back',
    async (fault) => {
      const hub = await created(OLD);
      hub.faults.set('kube-apiserver v1.36.3', fault);
      await set(hub, NEW, 120_000);
      expect(ofServers(hub)[0]).toBe('kube-apiserver v1.36.3 as 1.35');
      expect(ofServers(hub).filter((line) => line.startsWith('kube-apiserver-1'))).toEqual([]);
      expect([hub.silentSteps, conditionText(hub, 'ControlPlaneUpToDate')]).toEqual([0, 'False RolledBack']);
    },
  );

  it.each([
    ['unreachable', 'kube-apiserver-1: connection refused'],
    ['unaddressed', 'kube-apiserver-1: its pod has no address'],
  ] as const)('HOS-16 do not answer for the second one that is ready and %s', async (fault, message) => {
    const hub = await created(NEW);
    hub.faults.set('kube-apiserver-1 v1.36.3', fault);
    await set(hub, { ...NEW, ...verbose('4') }, 20_000);
    const { reason, message: shown = '' } = hub.status()?.waiting ?? {};
    expect([reason, shown.slice(-message.length)]).toEqual(['CanaryFailed', message]);
  });

  it('HOS-16 take a flag back that crashes on the second one, and that one first', async () => {
    const hub = await created(NEW);
    hub.faults.set('kube-apiserver-1 v1.36.3', 'crashes');
    await set(hub, { ...NEW, ...verbose('4') }, 20_000);
    hub.faults.clear();
    await hub.advance(60_000);
    const made = ofServers(hub);
    expect(made.slice(0, 2)).toEqual(['kube-apiserver v1.36.3', 'kube-apiserver-1 v1.36.3']);
    expect(hub.silentSteps).toBe(0);
    expect(conditionText(hub, 'ControlPlaneUpToDate')).toBe('False RolledBack');
    const flags = API_SERVERS.slice(0, 2).map((member) => recordOf(hub).members[member]?.run?.flags);
    expect(flags.filter((each) => each !== undefined && 'v' in each)).toEqual([]);
  });

  it('HOS-13 ask the Defender of the hub for each that is replaced or stopped', async () => {
    const hub = await created({ ...NEW, ...verbose('2') }, POLICY);
    hub.grants.deny = () => 'a window is closed';
    await set(hub, { ...NEW, ...verbose('4') }, 20_000);
    expect([ofServers(hub), hub.status()?.waiting?.reason]).toEqual([[], 'GrantDenied']);
    await set(hub, { ...ONE, ...verbose('2') }, 20_000);
    expect(deployed(hub)).toHaveLength(2);
    expect(API_SERVERS.flatMap(hub.pods)).toHaveLength(2);
    hub.grants.deny = () => undefined;
    await hub.advance(90_000);
    expect([deployed(hub), stateOf(hub), hub.grants.open.size]).toEqual([['kube-apiserver'], READY, 0]);
  });

  it('HOS-13 grow from one to three and get smaller again, without a moment in which none answers', async () => {
    const hub = await created(ONE);
    await set(hub, { ...NEW, replicas: 3 }, 40_000);
    expect(ofServers(hub)).toEqual(['kube-apiserver-1 v1.36.3', 'kube-apiserver-2 v1.36.3']);
    expect([deployed(hub), counted(hub)]).toEqual([[...API_SERVERS], `${VERSION} 3/3`]);
    expect(recordOf(hub).apiServers).toBe(3);
    await set(hub, ONE, 60_000);
    expect([deployed(hub), counted(hub)]).toEqual([['kube-apiserver'], `${VERSION} 1/1`]);
    expect([hub.silentSteps, stateOf(hub)]).toEqual([0, READY]);
    // As it was before: an earlier hosting reads it.
    const { apiServers, members } = recordOf(hub);
    expect([apiServers, Object.keys(members).filter((name) => /apiserver-/.test(name))]).toEqual([
      undefined,
      [],
    ]);
  });

  it('HOS-13 get smaller and are removed although the kubelet evicted a pod of each, which stays as an object', async () => {
    const hub = await created({ ...NEW, replicas: 3 });
    for (const member of API_SERVERS) {
      hub.evict(member);
      await hub.advance(5000);
    }
    expect([hub.silentSteps, stateOf(hub)]).toEqual([0, READY]);
    await set(hub, ONE, 60_000);
    expect([deployed(hub), counted(hub), stateOf(hub)]).toEqual([
      ['kube-apiserver'],
      `${VERSION} 1/1`,
      READY,
    ]);
    hub.delete(CLUSTERS, 'ci');
    await hub.advance(60_000);
    expect(found(hub)).toBeUndefined();
  });

  it('HOS-13 keep the number until an upgrade is over, and the new one has the version that is settled', async () => {
    const hub = await created(OLD);
    await set(hub, NEW, 4000);
    await set(hub, { ...NEW, replicas: 3 }, 120_000);
    expect(ofServers(hub).filter((line) => line.startsWith('kube-apiserver-2'))).toEqual([
      'kube-apiserver-2 v1.36.3',
    ]);
    expect([stateOf(hub), counted(hub)]).toEqual([READY, `${VERSION} 3/3`]);
  });

  it('HOS-13 wait with the second one while a node has taken the first one away', async () => {
    const hub = await created(NEW);
    hub.faults.set('kube-apiserver v1.36.3', 'hangs');
    hub.edit('kube-apiserver', (spec) => (spec['replicas'] = 0));
    await hub.advance(10_000);
    expect(stateOf(hub)).toBe(READY);
    await set(hub, { ...NEW, ...verbose('4') }, 20_000);
    expect(ofServers(hub)).not.toContain('kube-apiserver-1 v1.36.3');
    expect(hub.silentSteps).toBe(0);
  });

  it('HOS-04 get an edited Deployment back one at a time, and the others serve', async () => {
    const hub = await created(NEW);
    hub.edit('kube-apiserver-1', (spec) => (spec['replicas'] = 2));
    await hub.advance(20_000);
    expect(hub.pods('kube-apiserver-1')).toHaveLength(1);
    expect([hub.silentSteps, stateOf(hub)]).toEqual([0, READY]);
  });

  it.each(['before', 'after'] as const)(
    'HOS-04 reach the version of the spec when hosting is killed %s any write',
    async (when) => {
      await killedAtWrites([OLD, NEW], when, (hub, n) => {
        expect([n, ofServers(hub).length]).toEqual([n, 4]);
        expect([n, counted(hub)]).toEqual([n, `${VERSION} 2/2`]);
      });
    },
  );

  it.each([
    [1, 3, 'before'],
    [1, 3, 'after'],
    [3, 1, 'before'],
    [3, 1, 'after'],
  ] as const)('HOS-04 get from %d to %d when hosting is killed %s any write', async (from, to, when) => {
    const [before, after] = [from, to].map((replicas): Partial<Hosted> => ({ ...NEW, replicas }));
    await killedAtWrites([before ?? {}, after ?? {}], when, (hub, n) => {
      expect([n, deployed(hub)]).toEqual([n, API_SERVERS.slice(0, to)]);
      expect([n, counted(hub)]).toEqual([n, `${VERSION} ${to}/${to}`]);
    });
  });

  it.each(['before', 'after'] as const)(
    'HOS-04 get the next change, all three, when git goes back after hosting was killed %s a write of a stop',
    async (when) => {
      let halfStopped = 0;
      for (let [n, crashed] = [1, true]; crashed; n += 1) {
        const killed = await killedAt([THREE, NEW], { n, when });
        ({ crashed } = killed);
        if (!isHalfStopped(killed.hub)) continue;
        halfStopped += 1;
        await checkReverted(killed.hub, n);
      }
      expect(halfStopped).toBeGreaterThan(0);
    },
  );
});

/** Tells whether the last API server runs although it is recorded as stopped. */
function isHalfStopped(hub: MemoryHub): boolean {
  const isRecorded = recordOf(hub).members['kube-apiserver-2']?.isRunning === true;
  return !isRecorded && hub.pods('kube-apiserver-2').length > 0;
}

async function checkReverted(hub: MemoryHub, n: number): Promise<void> {
  hub.apply(applied({ hosted: THREE }));
  await hub.start();
  await hub.advance(30_000);
  expect([n, counted(hub)]).toEqual([n, `${VERSION} 3/3`]);
  forget(hub);
  await set(hub, { ...THREE, ...verbose('4') }, 90_000);
  expect([n, ofServers(hub)]).toEqual([n, API_SERVERS.map((member) => `${member} ${VERSION}`)]);
  expect([n, hub.silentSteps, stateOf(hub)]).toEqual([n, 0, READY]);
  expect([n, recordOf(hub).members['kube-apiserver-2']?.isRunning]).toEqual([n, true]);
}

/** Kills hosting at a write of the change, and lets the next one go on; at the next write with the next control plane, until there is none left. */
async function killedAtWrites(
  change: HostedChange,
  when: 'before' | 'after',
  check: (hub: MemoryHub, n: number) => void,
): Promise<void> {
  let crashed = true;
  for (let n = 1 + (SEED % STRIDE); crashed; n += STRIDE) {
    const killed = await killedAt(change, { n, when });
    const { hub } = killed;
    ({ crashed } = killed);
    await hub.start();
    await hub.advance(90_000);
    check(hub, n);
    expect([n, hub.silentSteps, stateOf(hub)]).toEqual([n, 0, READY]);
  }
}

type HostedChange = readonly [before: Partial<Hosted>, after: Partial<Hosted>];

/** Kills hosting at the n-th write of a change. */
async function killedAt(
  [before, after]: HostedChange,
  crash: { readonly n: number; readonly when: 'before' | 'after' },
): Promise<{ readonly hub: MemoryHub; readonly crashed: boolean }> {
  const hub = memoryHub([applied({ hosted: before })], hubImages());
  const first = await hub.start();
  await hub.advance(20_000);
  await first.kill();
  forget(hub);
  const dying = await hub.start(crash);
  hub.apply(applied({ hosted: after }));
  for (let seconds = 0; seconds < 60 && !dying.crashed; seconds += 5) await hub.advance(5000);
  const { crashed } = dying;
  await dying.kill();
  return { hub, crashed };
}
