/** Whole changes of control planes of pods: the real controller and the real driver on a hub in memory, also killed at every write. */
import { describe, expect, it } from 'vitest';
import {
  ANNOTATION_VERSION,
  SNAPSHOT,
} from '../../../../../../src/controllers/hosting/drivers/workload/names.ts';
import type { Hosted } from '../../../../../../src/controllers/hosting/plan/input.ts';
import { listAt, valueAt } from '../../../../../../src/kube/objects/json.ts';
import { applied, conditionText, found } from '../../../../../support/hosting/bed.ts';
import { hubImages, type MemoryHub, memoryHub } from '../../../../../support/hosting/memory-hub.ts';
import { HOSTED, OLD_VERSION, POLICY, VERSION } from '../../../../../support/hosting/objects.ts';
import { LONG, SEED } from '../../../../../support/sweep-size.ts';

/** Each run takes a second; the long tests crash at every write. */
const STRIDE = LONG ? 1 : 15;
const SOAK = { soakSeconds: 5, progressDeadlineSeconds: 30 };
const UPGRADE = {
  ...SOAK,
  onFailure: 'Rollback',
  allowEtcdUpgrade: false,
  windows: [],
  freezes: [],
} as const;
const LONG_SOAK = { upgrade: { ...UPGRADE, soakSeconds: 600 } };
const OLD: Partial<Hosted> = { driver: 'workload', version: OLD_VERSION, upgrade: UPGRADE };
const NEW: Partial<Hosted> = { ...OLD, version: VERSION };
const TAKEN = 'etcd-snapshot Complete';
const TRIAL = [
  TAKEN,
  'etcd v3.6.8',
  'kube-apiserver v1.36.3 as 1.35',
  'kube-controller-manager v1.36.3 as 1.35',
  'kube-scheduler v1.36.3 as 1.35',
];
const RAISE = ['kube-apiserver v1.36.3', 'kube-controller-manager v1.36.3', 'kube-scheduler v1.36.3'];
const BACK = [
  'kube-scheduler v1.35.4',
  'kube-controller-manager v1.35.4',
  'kube-apiserver v1.35.4',
  'etcd v3.6.5',
];

function verbose(v: string): Partial<Hosted> {
  return { apiServer: { extraArgs: { v } } };
}

async function created(
  hosted: Partial<Hosted> = OLD,
  ...more: Parameters<MemoryHub['apply']>[0][]
): Promise<MemoryHub> {
  const hub = memoryHub([applied({ hosted }), ...more], hubImages());
  await hub.start();
  await hub.advance(15_000);
  expect(conditionText(hub, 'ControlPlaneReady')).toBe('True Ready');
  forget(hub);
  return hub;
}

function forget(hub: MemoryHub): void {
  hub.made.length = 0;
  hub.most.clear();
  hub.silentSteps = 0;
}

async function set(hub: MemoryHub, hosted: Partial<Hosted>, ms: number): Promise<void> {
  hub.apply(applied({ hosted }));
  await hub.advance(ms);
}

function stalled(hub: MemoryHub): string {
  return `${conditionText(hub, 'ControlPlaneStalled')}; ${conditionText(hub, 'ControlPlaneUpToDate')}`;
}

describe('a change of a control plane of pods', () => {
  it('HOS-10 changes etcd, API server and managers in order, and ends with the new version', async () => {
    const hub = await created();
    await set(hub, NEW, 60_000);
    expect(hub.made).toEqual([...TRIAL, ...RAISE]);
    expect(hub.status()).toMatchObject({
      rollbackPossible: false,
      history: [{ from: OLD_VERSION, to: VERSION, result: 'Completed' }],
    });
    expect(stalled(hub)).toBe('False NotStalled; True AsWanted');
  });

  it('HOS-13 starts the next API server before the former one ends, and never two of another member', async () => {
    const hub = await created();
    await set(hub, NEW, 60_000);
    expect(hub.silentSteps).toBe(0);
    expect(Object.fromEntries(hub.most)).toEqual({
      etcd: 1,
      'kube-apiserver': 2,
      'kube-controller-manager': 1,
      'kube-scheduler': 1,
    });
  });

  it('HOS-31 takes no snapshot for a change of flags', async () => {
    const hub = await created();
    await set(hub, { ...OLD, ...verbose('4') }, 30_000);
    expect(hub.made).toEqual(['kube-apiserver v1.35.4']);
  });

  it('HOS-31 takes a snapshot before it changes etcd to another version', async () => {
    const hub = await created({ ...OLD, ...LONG_SOAK });
    await set(hub, { ...NEW, ...LONG_SOAK }, 30_000);
    expect(hub.made).toEqual(TRIAL);
    const upToDate = found(hub)?.status?.conditions?.find(({ type }) => type === 'ControlPlaneUpToDate');
    expect(upToDate?.message).toBe('v1.35.4 to v1.36.3: step Soak');
    expect(hub.status()).toMatchObject({ rollbackPossible: true, rollbackVersion: OLD_VERSION });
    forget(hub);
    await set(hub, OLD, 30_000);
    expect(hub.made).toEqual(BACK);
    expect(stalled(hub)).toBe('False NotStalled; True AsWanted');
  });

  it('HOS-31 changes nothing while no snapshot can be taken, tells why, and goes on when one is', async () => {
    const hub = await created();
    hub.faults.set(SNAPSHOT, 'crashes');
    await set(hub, NEW, 60_000);
    expect(new Set(hub.made)).toEqual(new Set(['etcd-snapshot Failed']));
    expect(hub.status()?.upgrade?.step).toBe('Snapshot');
    expect(stalled(hub)).toBe('True SnapshotInvalid; False Upgrading');
    expect(hub.silentSteps).toBe(0);
    forget(hub);
    hub.faults.clear();
    await hub.advance(90_000);
    expect(hub.made).toEqual([...TRIAL, ...RAISE]);
    expect(stalled(hub)).toBe('False NotStalled; True AsWanted');
  });

  it.each(['crashes', 'hangs', 'refuses'] as const)(
    'HOS-12 takes a version back whose API server %s, and tries it again only with another token',
    async (fault) => {
      const hub = await created();
      hub.faults.set('kube-apiserver v1.36.3', fault);
      await set(hub, NEW, 120_000);
      expect(stalled(hub)).toBe('True RolledBack; False RolledBack');
      expect(conditionText(hub, 'ControlPlaneReady')).toBe('True Ready');
      expect(hub.status()).toMatchObject({
        rolledBack: { version: VERSION },
        history: [{ result: 'RolledBack' }],
      });
      forget(hub);
      hub.faults.clear();
      await hub.advance(120_000);
      expect(hub.made).toEqual([]);
      await set(hub, { ...NEW, retryToken: 'fixed' }, 60_000);
      expect(hub.made).toEqual([...TRIAL, ...RAISE]);
      expect(stalled(hub)).toBe('False NotStalled; True AsWanted');
    },
  );

  it.each(['crashes', 'hangs'] as const)(
    'HOS-13 serves clients by the former API server while the next one %s',
    async (fault) => {
      const hub = await created(NEW);
      hub.faults.set('kube-apiserver v1.36.3', fault);
      await set(hub, { ...NEW, ...verbose('4') }, 20_000);
      expect(hub.pods('kube-apiserver')).toHaveLength(fault === 'hangs' ? 2 : 1);
      await hub.advance(60_000);
      expect([hub.silentSteps, stalled(hub)]).toEqual([0, 'True RolledBack; False RolledBack']);
    },
  );

  it('HOS-12 takes a version back at once whose etcd ends again and again', async () => {
    const hub = await created();
    hub.faults.set('etcd v3.6.8', 'crashes');
    await set(hub, NEW, 20_000);
    expect(hub.made).toEqual([TAKEN, 'etcd v3.6.8', 'etcd v3.6.5']);
    expect(stalled(hub)).toBe('True RolledBack; False RolledBack');
  });

  it.each<readonly [what: string, from: Partial<Hosted>, to: Partial<Hosted>, made: string]>([
    ['flags of the API server', verbose('2'), verbose('4'), 'kube-apiserver v1.36.3'],
    [
      'requests of the scheduler',
      {},
      { scheduler: { extraArgs: {}, memoryMiB: 96 } },
      'kube-scheduler v1.36.3',
    ],
    ['the quota of etcd', {}, { etcd: { ...HOSTED.etcd, quotaMiB: 4096 } }, 'etcd v3.6.8'],
  ])('HOS-16 changes %s, and takes it back by another change', async (_, from, to, made) => {
    const hub = await created({ ...NEW, ...from });
    await set(hub, { ...NEW, ...to }, 60_000);
    expect([hub.made, stalled(hub)]).toEqual([[made], 'False NotStalled; True AsWanted']);
    await set(hub, { ...NEW, ...from }, 60_000);
    expect([hub.made, stalled(hub)]).toEqual([[made, made], 'False NotStalled; True AsWanted']);
  });

  it('HOS-16 reserves for the scheduler what the spec asks for', async () => {
    const hub = await created(NEW);
    await set(hub, { ...NEW, scheduler: { extraArgs: {}, memoryMiB: 96, cpuMillis: 30 } }, 60_000);
    const [container] = listAt(hub.pods('kube-scheduler')[0], 'spec', 'containers');
    expect(valueAt(container, 'resources', 'requests')).toMatchObject({ cpu: '30m', memory: '96Mi' });
  });

  it.each<readonly [what: string, hosted: Partial<Hosted>, reason: string]>([
    ['a larger volume', { etcd: { replicas: 1, storageGiB: 20, quotaMiB: 2048 } }, 'ChangeNotSupported'],
    ['another address', { exposure: { type: 'ClusterIP', port: 7443 } }, 'ChangeNotSupported'],
    ['a version that has no images', { version: 'v1.36.9' }, 'VersionNotAvailable'],
  ])('HOS-16 holds %s, and stops nothing', async (_, hosted, reason) => {
    const hub = await created(NEW);
    await set(hub, { ...NEW, ...hosted }, 30_000);
    expect([hub.made, hub.silentSteps]).toEqual([[], 0]);
    expect(stalled(hub)).toBe(`True ${reason}; False ${reason}`);
    expect(conditionText(hub, 'ControlPlaneReady')).toBe('True Ready');
    await set(hub, NEW, 15_000);
    expect(stalled(hub)).toBe('False NotStalled; True AsWanted');
  });

  it('HOS-10 asks the Defender for each member that it replaces, and gives each grant back', async () => {
    const hub = await created(OLD, POLICY);
    hub.grants.deny = () => 'a window is closed';
    await set(hub, NEW, 60_000);
    expect([hub.made, hub.status()?.waiting?.reason]).toEqual([[TAKEN], 'GrantDenied']);
    hub.grants.deny = () => undefined;
    await hub.advance(90_000);
    expect(hub.made).toEqual([...TRIAL, ...RAISE]);
    expect(hub.grants.open.size).toBe(0);
  });

  it.each(['before', 'after'] as const)(
    'HOS-04 reaches the same end when it is killed %s any write of an upgrade',
    async (when) => {
      await killedAtWrites(when, {
        begin: (hub) => hub.apply(applied({ hosted: NEW })),
        check: (hub, n) => {
          expect([n, hub.made, stalled(hub)]).toEqual([n, [...TRIAL, ...RAISE], DONE]);
          expect(hub.status()?.history).toMatchObject([
            { from: OLD_VERSION, to: VERSION, result: 'Completed' },
          ]);
        },
      });
    },
  );

  it.each(['before', 'after'] as const)(
    'HOS-04 takes a version back when it is killed %s any write, and runs the former one everywhere',
    async (when) => {
      await killedAtWrites(when, {
        begin: (hub) => {
          hub.faults.set('kube-scheduler v1.36.3', 'crashes');
          hub.apply(applied({ hosted: NEW }));
        },
        check: (hub, n) => {
          expect([n, stalled(hub)]).toEqual([n, 'True RolledBack; False RolledBack']);
          expect([n, versionsOf(hub)]).toEqual([n, ['v3.6.5', 'v1.35.4', 'v1.35.4', 'v1.35.4']]);
        },
      });
    },
  );

  it.each(['before', 'after'] as const)(
    'HOS-04 changes the image of our own controllers once when it is killed %s any write',
    async (when) => {
      await killedAtWrites(when, {
        begin: (hub) => {
          hub.images = hubImages('d');
        },
        check: (hub, n) => {
          expect([n, hub.made, stalled(hub)]).toEqual([n, ['kubenode-controllers dddd'], DONE]);
        },
      });
    },
  );
});

const DONE = 'False NotStalled; True AsWanted';

interface KilledChange {
  readonly begin: (hub: MemoryHub) => void;
  readonly check: (hub: MemoryHub, n: number) => void;
}

/** Kills hosting at a write of the change, and lets the next one go on; at the next write with the next control plane, until there is none left. */
async function killedAtWrites(when: 'before' | 'after', { begin, check }: KilledChange): Promise<void> {
  let crashed = true;
  for (let n = 1 + (SEED % STRIDE); crashed; n += STRIDE) {
    const hub = memoryHub([applied({ hosted: OLD })], hubImages());
    const first = await hub.start();
    await hub.advance(15_000);
    await first.kill();
    forget(hub);
    const dying = await hub.start({ n, when });
    begin(hub);
    for (let seconds = 0; seconds < 60 && !dying.crashed; seconds += 5) await hub.advance(5000);
    ({ crashed } = dying);
    await dying.kill();
    await hub.start();
    await hub.advance(70_000);
    check(hub, n);
  }
}

function versionsOf(hub: MemoryHub): readonly unknown[] {
  const members = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];
  return members.map((member) => hub.pods(member)[0]?.metadata.annotations?.[ANNOTATION_VERSION]);
}

describe('another image of our own controllers', () => {
  const moved = ['kubenode-controllers dddd'];

  it('HOS-50 reaches a control plane that exists, and leaves its version as it is', async () => {
    const hub = await created(NEW);
    hub.images = hubImages('d');
    await hub.advance(40_000);
    expect([hub.made, stalled(hub)]).toEqual([moved, 'False NotStalled; True AsWanted']);
    expect(hub.status()?.history).toEqual([]);
  });

  it('HOS-50 waits for a change in work, and comes after it', async () => {
    const hub = await created();
    hub.apply(applied({ hosted: NEW }));
    await hub.advance(3000);
    hub.images = hubImages('d');
    await hub.advance(120_000);
    expect(hub.made).toEqual([...TRIAL, ...RAISE, ...moved]);
  });

  it('HOS-50 is taken back where they do not start, and is tried again with another token', async () => {
    const hub = await created(NEW);
    hub.faults.set('kubenode-controllers dddd', 'crashes');
    hub.images = hubImages('d');
    await hub.advance(60_000);
    expect([hub.made, stalled(hub)]).toEqual([
      [...moved, 'kubenode-controllers cccc'],
      'True RolledBack; False RolledBack',
    ]);
    hub.faults.clear();
    await set(hub, { ...NEW, retryToken: 'fixed' }, 60_000);
    expect([hub.made.at(-1), stalled(hub)]).toEqual([...moved, 'False NotStalled; True AsWanted']);
  });

  it('HOS-50 is taken back when the file names the former image again in the middle', async () => {
    const hub = await created({ ...NEW, ...LONG_SOAK });
    hub.images = hubImages('d');
    await hub.advance(30_000);
    expect(hub.made).toEqual(moved);
    hub.images = hubImages('c');
    await hub.advance(30_000);
    expect([hub.made.at(-1), stalled(hub)]).toEqual([
      'kubenode-controllers cccc',
      'False NotStalled; True AsWanted',
    ]);
  });
});

describe('a workload of a control plane that somebody edited', () => {
  it.each<
    readonly [what: string, member: string, change: (spec: Record<string, unknown>) => void, made: string[]]
  >([
    ['no replica', 'kube-scheduler', (spec) => (spec['replicas'] = 0), ['kube-scheduler v1.36.3']],
    ['two replicas', 'kube-scheduler', (spec) => (spec['replicas'] = 2), ['kube-scheduler v1.36.3']],
  ])('HOS-04 gets its replicas back: %s', async (_, member, change, made) => {
    const hub = await created(NEW);
    hub.edit(member, change);
    await hub.advance(20_000);
    expect([hub.made, hub.pods(member)]).toMatchObject([made, [{}]]);
    expect(valueAt(hub.workload(member), 'spec', 'replicas')).toBe(1);
    expect(conditionText(hub, 'ControlPlaneReady')).toBe('True Ready');
    expect(events(hub)).toContain(`HostingMemberCorrected`);
  });

  it('HOS-04 gets its image back, with a grant and an event', async () => {
    const hub = await created(NEW, POLICY);
    const before = imageOf(hub);
    hub.edit('kube-apiserver', (spec) => setImage(spec, `registry.example/x@sha256:${'9'.repeat(64)}`));
    await hub.advance(20_000);
    expect([imageOf(hub), hub.silentSteps]).toEqual([before, 0]);
    expect(stalled(hub)).toBe('False NotStalled; True AsWanted');
    expect(hub.grants.settled.length).toBeGreaterThan(0);
  });

  it('HOS-06 is reported when it is edited again each time', async () => {
    const hub = await created(NEW);
    for (let time = 0; time < 4; time += 1) {
      hub.edit('kube-scheduler', (spec) =>
        setImage(spec, `registry.example/x@sha256:${String(time).repeat(64)}`),
      );
      await hub.advance(15_000);
    }
    expect(stalled(hub)).toBe('True DriftReturns; True AsWanted');
  });
});

function setImage(spec: Record<string, unknown>, image: string): void {
  const [container] = listAt(spec, 'template', 'spec', 'containers') as Record<string, unknown>[];
  if (container) container['image'] = image;
}

function imageOf(hub: MemoryHub): unknown {
  return valueAt(hub.pods('kube-apiserver')[0], 'spec', 'containers', 0, 'image');
}

function events(hub: MemoryHub): string {
  return JSON.stringify(hub.api.journal.filter(({ what }) => / Event /.test(what)).map(({ body }) => body));
}
