/** A control plane of pods with three members of etcd: the real controller and driver on a hub in memory, created, changed, repaired, and killed. */
import { describe, expect, it } from 'vitest';
import { ETCD_MEMBERS, type EtcdMember } from '../../../../../../src/controllers/hosting/drivers/driver.ts';
import { planeNamespace } from '../../../../../../src/controllers/hosting/drivers/workload/names.ts';
import { VOLUME_CLAIMS } from '../../../../../../src/controllers/hosting/drivers/workload/objects/namespace.ts';
import type { Hosted } from '../../../../../../src/controllers/hosting/plan/input.ts';
import { PODS } from '../../../../../../src/kube/objects/core-kinds.ts';
import { listAt, textAt } from '../../../../../../src/kube/objects/json.ts';
import { servedKind } from '../../../../../../src/sim/api-server/kinds.ts';
import { applied, conditionText, found } from '../../../../../support/hosting/bed.ts';
import { hubImages, type MemoryHub, memoryHub } from '../../../../../support/hosting/memory-hub.ts';
import { HOSTED, OLD_VERSION, VERSION } from '../../../../../support/hosting/objects.ts';
import { LONG, SEED } from '../../../../../support/sweep-size.ts';

/** Each run takes two seconds; the long tests crash at every write. */
const STRIDE = LONG ? 1 : 19;
const MEMBERS = ETCD_MEMBERS.slice(0, 3);
const NAMESPACE = planeNamespace('ci');
const OLD: Partial<Hosted> = {
  driver: 'workload',
  version: OLD_VERSION,
  etcd: { ...HOSTED.etcd, replicas: 3 },
  upgrade: { ...HOSTED.upgrade, soakSeconds: 5, progressDeadlineSeconds: 60, allowEtcdUpgrade: false },
};
const NEW: Partial<Hosted> = { ...OLD, version: VERSION };
/** The first member is started again when another one gets its data, and each other one before it counts. */
const CREATED = [
  'etcd v3.6.5',
  'etcd v3.6.5',
  ...['etcd-1', 'etcd-2'].flatMap((member) => [
    `add ${member}`,
    `${member} v3.6.5`,
    `${member} v3.6.5`,
    `promote ${member}`,
  ]),
];

async function created(hosted: Partial<Hosted> = OLD): Promise<MemoryHub> {
  const hub = memoryHub([applied({ hosted })], hubImages());
  await hub.start();
  await hub.advance(60_000);
  expectHealthy(hub, 'created');
  return hub;
}

function forget(hub: MemoryHub): void {
  hub.made.length = 0;
  hub.silentSteps = 0;
  hub.etcdSilentSteps = 0;
}

function expectHealthy(hub: MemoryHub, at: string | number): void {
  const listed = [...hub.etcd.list].map(([member, { isLearner }]) => `${member} ${isLearner}`).toSorted();
  expect([at, listed]).toEqual([at, MEMBERS.map((member) => `${member} false`)]);
  expect([at, conditionText(hub, 'EtcdReady')]).toEqual([at, 'True Ready']);
  expect([at, conditionText(hub, 'ControlPlaneReady')]).toEqual([at, 'True Ready']);
  // Without its data no member begins or joins an etcd.
  for (const member of MEMBERS) {
    const args = listAt(hub.pods(member)[0], 'spec', 'containers', 0, 'args').map(String);
    const own = args.find((arg) => arg.startsWith('--initial-cluster='));
    expect([at, member, args.includes('--initial-cluster-state=existing'), own?.includes(',')]).toEqual([
      at,
      member,
      true,
      false,
    ]);
  }
}

/** Empties the volume of a member, which ends. */
function wipe(hub: MemoryHub, member: EtcdMember): void {
  const { objects } = hub.api;
  const claims = objects.list(servedKind(VOLUME_CLAIMS), NAMESPACE);
  const claim = claims.find(({ metadata }) => metadata.name === member);
  hub.etcd.withData.delete(claim?.metadata.uid ?? '');
  end(hub, member);
}

/** A node that is away for good: a person deletes the claim and the pod, as the guide describes. */
function loseNode(hub: MemoryHub, member: EtcdMember): void {
  hub.api.objects.delete(servedKind(VOLUME_CLAIMS), { name: member, namespace: NAMESPACE });
  end(hub, member);
}

function end(hub: MemoryHub, member: EtcdMember): void {
  for (const { metadata } of hub.pods(member)) {
    hub.api.objects.delete(servedKind(PODS), { name: metadata.name, namespace: NAMESPACE });
  }
}

function etcdActs(hub: MemoryHub): readonly string[] {
  return hub.made.filter((line) => /etcd/.test(line) && !line.startsWith('etcd-snapshot'));
}

describe('a control plane of pods with three members of etcd', () => {
  it('HOS-30 joins one member after the other, and reports all of them', async () => {
    const hub = await created();
    expect(etcdActs(hub)).toEqual(CREATED);
    expect(hub.status()).toMatchObject({ etcd: { members: 3, ready: 3 } });
    const [api] = hub.pods('kube-apiserver');
    expect(listAt(api, 'spec', 'containers', 0, 'args')).toContain(
      '--etcd-servers=https://10.0.0.2:2379,https://10.0.0.4:2379,https://10.0.0.5:2379',
    );
  });

  it.each(['before', 'after'] as const)(
    'HOS-04 ends with three members when hosting is killed %s any write of the creation',
    async (when) => {
      for (let n = 1 + (SEED % STRIDE), crashed = true; crashed; n += STRIDE) {
        const hub = memoryHub([applied({ hosted: OLD })], hubImages());
        const dying = await hub.start({ n, when });
        for (let seconds = 0; seconds < 60 && !dying.crashed; seconds += 5) await hub.advance(5000);
        ({ crashed } = dying);
        await dying.kill();
        await hub.start();
        await hub.advance(70_000);
        expectHealthy(hub, n);
        const joins = etcdActs(hub).filter((line) => /^(add|promote)/.test(line));
        expect([n, joins]).toEqual([n, ['add etcd-1', 'promote etcd-1', 'add etcd-2', 'promote etcd-2']]);
      }
    },
  );

  it('HOS-30 changes the members one by one, with a majority at any time', async () => {
    const hub = await created();
    forget(hub);
    hub.apply(applied({ hosted: NEW }));
    await hub.advance(120_000);
    expectHealthy(hub, 'the end');
    expect(etcdActs(hub)).toEqual(MEMBERS.map((member) => `${member} v3.6.8`));
    expect([hub.etcdSilentSteps, hub.silentSteps]).toEqual([0, 0]);
    expect(hub.status()?.history).toMatchObject([{ to: VERSION, result: 'Completed' }]);
  });

  it.each(MEMBERS)('HOS-33 replaces %s whose volume was emptied, without a person', async (member) => {
    const hub = await created();
    forget(hub);
    wipe(hub, member);
    await hub.advance(60_000);
    expectHealthy(hub, member);
    const started = `${member} v3.6.5`;
    expect(etcdActs(hub)).toEqual([
      // The hub starts it again, and it ends without its data.
      started,
      `remove ${member}`,
      `add ${member}`,
      started,
      started,
      `promote ${member}`,
    ]);
    expect([hub.etcdSilentSteps, hub.silentSteps]).toEqual([0, 0]);
  });

  it('HOS-33 replaces a member whose claim is missing, with another claim', async () => {
    const hub = await created();
    forget(hub);
    hub.api.objects.delete(servedKind(VOLUME_CLAIMS), { name: 'etcd-1', namespace: NAMESPACE });
    end(hub, 'etcd-1');
    await hub.advance(60_000);
    expectHealthy(hub, 'the end');
    expect(etcdActs(hub).slice(-5)).toEqual([
      'remove etcd-1',
      'add etcd-1',
      'etcd-1 v3.6.5',
      'etcd-1 v3.6.5',
      'promote etcd-1',
    ]);
  });

  it('HOS-33 adds a member again whose node and claim are missing before it joined', async () => {
    const hub = memoryHub([applied({ hosted: OLD })], hubImages());
    hub.faults.set('etcd-1 v3.6.5', 'hangs');
    await hub.start();
    await hub.advance(30_000);
    expect(etcdActs(hub).slice(-2)).toEqual(['add etcd-1', 'etcd-1 v3.6.5']);
    forget(hub);
    hub.faults.clear();
    loseNode(hub, 'etcd-1');
    await hub.advance(60_000);
    expectHealthy(hub, 'the end');
    const joins = etcdActs(hub).filter((line) => /^(remove|add|promote)/.test(line));
    expect(joins).toEqual(['remove etcd-1', 'add etcd-1', 'promote etcd-1', 'add etcd-2', 'promote etcd-2']);
  });

  it('HOS-33 adds a member again that a person removed from etcd, after its claim was deleted', async () => {
    const hub = await created();
    forget(hub);
    hub.etcd.list.delete('etcd-2');
    await hub.advance(20_000);
    expect(conditionText(hub, 'ControlPlaneStalled')).toBe('True EtcdMemberRemoved');
    loseNode(hub, 'etcd-2');
    await hub.advance(60_000);
    expectHealthy(hub, 'the end');
    const joins = etcdActs(hub).filter((line) => /^(remove|add|promote)/.test(line));
    expect(joins).toEqual(['add etcd-2', 'promote etcd-2']);
  });

  it.each(['before', 'after'] as const)(
    'HOS-33 replaces a member when hosting is killed %s any write of the replacement',
    async (when) => {
      for (let n = 1 + (SEED % STRIDE), crashed = true; crashed; n += STRIDE) {
        const hub = memoryHub([applied({ hosted: OLD })], hubImages());
        const first = await hub.start();
        await hub.advance(60_000);
        await first.kill();
        forget(hub);
        wipe(hub, 'etcd-2');
        const dying = await hub.start({ n, when });
        for (let seconds = 0; seconds < 60 && !dying.crashed; seconds += 5) await hub.advance(5000);
        ({ crashed } = dying);
        await dying.kill();
        await hub.start();
        await hub.advance(70_000);
        expectHealthy(hub, n);
        const joins = etcdActs(hub).filter((line) => /^(remove|add|promote)/.test(line));
        expect([n, joins]).toEqual([n, ['remove etcd-2', 'add etcd-2', 'promote etcd-2']]);
        expect([n, hub.etcdSilentSteps]).toEqual([n, 0]);
      }
    },
  );

  it('HOS-30 touches no member while two have lost their data', async () => {
    const hub = await created();
    wipe(hub, 'etcd-1');
    wipe(hub, 'etcd-2');
    forget(hub);
    await hub.advance(60_000);
    expect(etcdActs(hub).filter((line) => /^(remove|add|promote)/.test(line))).toEqual([]);
    expect(conditionText(hub, 'ControlPlaneStalled')).toBe('True DataMissing');
    expect(hub.status()?.waiting?.message).toContain('1 of 3 members have them now');
  });

  it('HOS-30 refuses another number of members, and starts nothing again', async () => {
    const hub = await created();
    forget(hub);
    hub.apply(applied({ hosted: { ...OLD, etcd: { ...HOSTED.etcd, replicas: 5 } } }));
    await hub.advance(30_000);
    expect(hub.made).toEqual([]);
    expect(conditionText(hub, 'ControlPlaneUpToDate')).toBe('False ReplicasFixed');
    expect(found(hub)?.metadata.name).toBe('ci');
  });

  it('HOS-31 copies a member for the snapshot that answers, on its node', async () => {
    const hub = await created();
    const args = (): readonly unknown[] => hub.made.filter((line) => line.startsWith('etcd-snapshot'));
    hub.apply(applied({ hosted: NEW }));
    await hub.advance(120_000);
    expect(args()).toEqual(['etcd-snapshot Complete']);
    expect(textAt(hub.pods('etcd')[0], 'metadata', 'name')).toBeDefined();
  });
});
