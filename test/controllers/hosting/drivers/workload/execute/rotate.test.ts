/** Whole rotations of the authorities of control planes of pods: the real controller and the real driver on a hub in memory, also killed at every write. */
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { digestsOf, KEY_FILES } from '../../../../../../src/controllers/hosting/drivers/workload/pki/keys.ts';
import type { Hosted } from '../../../../../../src/controllers/hosting/plan/input.ts';
import { textAt } from '../../../../../../src/kube/objects/json.ts';
import { conditionText, secretOf } from '../../../../../support/hosting/bed.ts';
import type { MemoryHub } from '../../../../../support/hosting/memory-hub.ts';
import { certificatesIn } from '../../../../../support/hosting/memory-hub-authorities.ts';
import { HOSTED } from '../../../../../support/hosting/objects.ts';
import {
  ask,
  createdHub,
  forget,
  keptFiles,
  keysOf,
  ONE,
  openHub,
  recordOf,
  rotatingSpec,
} from '../../../../../support/hosting/rotating-hub.ts';
import { LONG, SEED } from '../../../../../support/sweep-size.ts';

/** Each run takes seconds; the long tests crash at every write. */
const STRIDE = LONG ? 1 : 23;
const LIMIT = 600_000;
const SEVERAL: Partial<Hosted> = { ...ONE, replicas: 2, etcd: { ...HOSTED.etcd, replicas: 3 } };
const PODS = [
  'etcd v3.6.8',
  'kube-apiserver v1.36.3',
  'kube-controller-manager v1.36.3',
  'kube-scheduler v1.36.3',
  'kubenode-controllers cccc',
];
const SEVERAL_PODS = [
  ...['etcd', 'etcd-1', 'etcd-2'].map((member) => `${member} v3.6.8`),
  ...['kube-apiserver', 'kube-apiserver-1'].map((member) => `${member} v1.36.3`),
  ...PODS.slice(2),
];

/** In each of these phases every pod is replaced, and agents follow it then. */
function phases(names: readonly string[], pods = PODS): readonly string[] {
  return names.flatMap((name) => [...pods, `publish ${name}`]);
}

function prepared(pods = PODS): readonly string[] {
  return phases(['TrustBoth', 'IssueNew'], pods);
}

function completed(pods = PODS): readonly string[] {
  return ['publish ServeNew', ...phases(['TrustNew'], pods)];
}

async function created(hosted = ONE): Promise<MemoryHub> {
  return (await createdHub(hosted)).hub;
}

/** The number of authorities in the kubeconfig that sync gets, and whether the one that issues is the first. */
function syncTrusts(hub: MemoryHub): readonly [count: number, isIssuerFirst: boolean] {
  const text = Buffer.from(textAt(secretOf(hub), 'data', 'kubeconfig') ?? '', 'base64').toString('utf8');
  const { clusters } = parse(text) as { clusters: { cluster: Record<string, string> }[] };
  const data = clusters[0]?.cluster['certificate-authority-data'] ?? '';
  const found = certificatesIn(Buffer.from(data, 'base64').toString('utf8'));
  return [found.length, found[0] === certificatesIn(keysOf(hub)[KEY_FILES.ca])[0]];
}

describe('the rotation of the authorities of a control plane of pods', { timeout: LIMIT }, () => {
  it('HOS-22 prepares, waits for a person, and completes: each pod is replaced once in a phase, with a grant', async () => {
    const hub = await created();
    const before = digestsOf(keysOf(hub));
    await ask(hub, 'Prepare');
    expect(hub.made).toEqual(prepared());
    expect(hub.status()?.caRotation).toEqual({
      id: '2026',
      step: 'Prepared',
      clients: { total: 5, moved: 5 },
      behind: [],
    });
    expect(syncTrusts(hub)).toEqual([2, true]);
    hub.writes();
    await hub.advance(60_000);
    expect(hub.writes()).toEqual([]);
    await ask(hub, 'Complete');
    expect(hub.made).toEqual([...prepared(), ...completed()]);
    expect(hub.status()?.caRotation).toEqual({ id: '2026', step: 'Completed' });
    expect([keptFiles(hub), syncTrusts(hub)]).toEqual([[], [1, true]]);
    const after = digestsOf(keysOf(hub));
    expect(recordOf(hub).keys).toEqual(after);
    expect(
      Object.entries(after).filter(([name, digest]) =>
        Object.entries(before).some(([n, d]) => n === name && d === digest),
      ),
    ).toEqual([]);
    expect(new Set(hub.grants.settled.map((each) => each.replace(/^g-\d+ /, '')))).toEqual(
      new Set(['UpdateControlPlane cluster:ci: Succeeded']),
    );
    expect(conditionText(hub, 'ControlPlaneReady')).toBe('True Ready');
  });

  it('HOS-22 has the next API server serve before the former one ends, also where there is one', async () => {
    const hub = await created();
    await ask(hub, 'Prepare');
    await ask(hub, 'Complete');
    expect([hub.status()?.caRotation?.step, hub.silentSteps]).toEqual(['Completed', 0]);
    expect(Object.fromEntries(hub.most)).toMatchObject({ etcd: 1, 'kube-apiserver': 2, 'kube-scheduler': 1 });
  });

  it('HOS-22 is taken back by the commit that takes the field away, with the keys that were there', async () => {
    const hub = await created();
    const before = keysOf(hub);
    await ask(hub, 'Prepare');
    forget(hub);
    await ask(hub);
    expect(hub.made).toEqual(phases(['TrustBoth', 'TrustOld']));
    const after = keysOf(hub);
    expect(Object.values(KEY_FILES).map((name) => after[name] === before[name])).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect([keptFiles(hub), hub.status()?.caRotation, recordOf(hub).rotation]).toEqual([
      [],
      undefined,
      undefined,
    ]);
    expect(conditionText(hub, 'ControlPlaneReady')).toBe('True Ready');
  });

  it('HOS-22 rotates again after a rotation, also one that was taken back, and replaces each pod again', async () => {
    const hub = await created();
    await ask(hub, 'Prepare');
    await ask(hub);
    forget(hub);
    await ask(hub, 'Prepare');
    await ask(hub, 'Complete');
    expect(hub.made).toEqual([...prepared(), ...completed()]);
    // Each document is newer than the one before it, also of another rotation.
    expect(recordOf(hub).signed?.order).toBe(8);
    forget(hub);
    await ask(hub, 'Prepare', { id: '2027' });
    expect([hub.made, hub.status()?.caRotation?.step]).toEqual([prepared(), 'Prepared']);
  });

  it('HOS-22 replaces nothing while the Defender denies it', async () => {
    const hub = await created();
    hub.grants.deny = () => ({
      granted: false,
      reason: 'Freeze',
      message: 'sale',
      policy: 'nights',
      also: [],
    });
    await ask(hub, 'Prepare');
    expect([hub.made, hub.status()?.waiting]).toMatchObject([[], { reason: 'GrantDenied' }]);
  });

  it('HOS-22 waits for a pod that cannot be asked, and names its member', async () => {
    const hub = await created();
    hub.faults.set('kube-scheduler v1.36.3', 'unaddressed');
    await ask(hub, 'Prepare');
    expect(hub.made).toEqual(PODS);
    expect(hub.status()?.waiting).toMatchObject({
      reason: 'AuthoritiesNotProven',
      message: expect.stringContaining('kube-scheduler') as string,
    });
  });

  it('HOS-22 takes several API servers and members of etcd one after the other, and clients are served', async () => {
    const hub = await created(SEVERAL);
    await ask(hub, 'Prepare', { hosted: SEVERAL, ms: 90_000 });
    await ask(hub, 'Complete', { hosted: SEVERAL, ms: 90_000 });
    expect(hub.made).toEqual([...prepared(SEVERAL_PODS), ...completed(SEVERAL_PODS)]);
    expect([hub.silentSteps, hub.etcdSilentSteps]).toEqual([0, 0]);
    expect(hub.status()?.caRotation?.step).toBe('Completed');
  });
});

/** What was published may be published again. */
function replacedIn(made: readonly string[]): readonly string[] {
  return made.filter((line) => !line.startsWith('publish'));
}

async function askUntil(
  hub: MemoryHub,
  target: 'Prepare' | 'Complete',
  isOver: () => boolean,
): Promise<void> {
  hub.apply(rotatingSpec(target));
  for (let seconds = 0; seconds < 60 && !isOver(); seconds += 5) await hub.advance(5000);
}

describe('a rotation of pods whose hosting is killed', { timeout: 4 * LIMIT }, () => {
  it.each(['before', 'after'] as const)(
    'HOS-22 replaces each pod once in a phase, and makes the authorities once: killed %s any write',
    async (when) => {
      let runs = 0;
      let crashed = true;
      for (let n = 1 + (SEED % STRIDE); crashed; n += STRIDE) {
        const hub = openHub(ONE);
        const first = await hub.start();
        await hub.advance(20_000);
        await first.kill();
        forget(hub);
        const dying = await hub.start({ n, when });
        await askUntil(hub, 'Prepare', () => dying.crashed);
        if (!dying.crashed) await askUntil(hub, 'Complete', () => dying.crashed);
        ({ crashed } = dying);
        await dying.kill();
        await hub.start();
        await ask(hub, 'Prepare');
        await ask(hub, 'Complete');
        runs += 1;
        expect([n, hub.status()?.caRotation?.step, keptFiles(hub)]).toEqual([n, 'Completed', []]);
        expect([n, ...replacedIn(hub.made)]).toEqual([n, ...replacedIn([...prepared(), ...completed()])]);
        expect([n, recordOf(hub).keys]).toEqual([n, digestsOf(keysOf(hub))]);
      }
      expect(runs).toBeGreaterThan(1);
    },
  );
});
