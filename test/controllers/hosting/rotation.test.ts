/** Whole rotations of authorities, by the controller on a driver in memory: forward, back, held, and killed after every act. */
import { describe, expect, it } from 'vitest';
import type { ClusterHostedStatus } from '../../../src/api/generated/types.ts';
import { createHostingController } from '../../../src/controllers/hosting/controller.ts';
import { MEMBERS } from '../../../src/controllers/hosting/drivers/driver.ts';
import type { MachineClient } from '../../../src/controllers/hosting/inside/clients.ts';
import { NOW } from '../../support/builders.ts';
import { type ControllerBed, createControllerBed } from '../../support/controller/bed.ts';
import {
  applied,
  conditionText,
  found,
  type HostingBed,
  hostingBed,
  KINDS,
  secretOf,
} from '../../support/hosting/bed.ts';
import { type MemoryHosting, memoryHosting } from '../../support/hosting/memory/driver.ts';
import { memoryAuthority } from '../../support/hosting/memory/rotation.ts';
import { HOSTED, POLICY } from '../../support/hosting/objects.ts';
import { memoryGrants } from '../../support/memory-grants.ts';
import { LONG } from '../../support/sweep-size.ts';

const RESTARTS = MEMBERS.flatMap((member) => [`stop ci ${member}`, `start ci ${member}`]);
/** A phase in which every member is started again, and which agents follow then. */
function phase(name: string): readonly string[] {
  return [`rotate ci ${name}`, ...RESTARTS, `publish ci ${name}`];
}
const PREPARED = [...phase('TrustBoth'), ...phase('IssueNew')];
const COMPLETED = ['rotate ci ServeNew', 'publish ci ServeNew', ...phase('TrustNew'), 'rotate ci Completed'];
const RETURNED = [...phase('TrustBoth'), ...phase('TrustOld'), 'rotate ci Aborted'];
const LIMIT = 600_000;

function spec(target?: 'Prepare' | 'Complete'): ReturnType<typeof applied> {
  const pki = { ...HOSTED.pki, ...(target ? { caRotation: { id: '2026', target } } : {}) };
  return applied({ hosted: { pki } });
}

async function created(): Promise<HostingBed> {
  const bed = hostingBed([spec(), POLICY]);
  await bed.start();
  await bed.advance(10_000);
  expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
  bed.hosting().log.length = 0;
  return bed;
}

function status(bed: ControllerBed): ClusterHostedStatus | undefined {
  return found(bed)?.status?.hosted;
}

async function ask(bed: ControllerBed, target?: 'Prepare' | 'Complete', ms = 40_000): Promise<void> {
  bed.apply(spec(target));
  await bed.advance(ms);
}

describe('the rotation of the authorities of a control plane', () => {
  it('HOS-22 prepares, waits for a person, and completes: one member at a time', {
    timeout: LIMIT,
  }, async () => {
    const bed = await created();
    const before = secretOf(bed)?.['data'];
    await ask(bed, 'Prepare');
    expect(bed.hosting().log).toEqual(PREPARED);
    expect(status(bed)?.caRotation).toEqual({
      id: '2026',
      step: 'Prepared',
      clients: { total: 5, moved: 5 },
      behind: [],
    });
    expect(secretOf(bed)?.['data']).not.toEqual(before);
    bed.writes();
    await bed.advance(60_000);
    expect(bed.writes()).toEqual([]);
    await ask(bed, 'Complete');
    expect(bed.hosting().log).toEqual([...PREPARED, ...COMPLETED]);
    expect(status(bed)?.caRotation).toEqual({ id: '2026', step: 'Completed' });
    expect(['ControlPlaneReady', 'CertificatesValid'].map((type) => conditionText(bed, type))).toEqual([
      'True Ready',
      'True SeenOnTheWire',
    ]);
    expect(new Set(bed.grants.settled.map((each) => each.replace(/^g-\d+ /, '')))).toEqual(
      new Set(['UpdateControlPlane cluster:ci: Succeeded']),
    );
  });

  it('HOS-22 is taken back by the commit that takes the field away', { timeout: LIMIT }, async () => {
    const bed = await created();
    const before = bed.hosting().planes.get('ci')?.authority;
    await ask(bed, 'Prepare');
    await ask(bed);
    expect(bed.hosting().log).toEqual([...PREPARED, ...RETURNED]);
    expect([status(bed)?.caRotation, bed.hosting().planes.get('ci')?.authority]).toEqual([undefined, before]);
    expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
  });

  it('HOS-22 restarts nothing while the Defender denies it', { timeout: LIMIT }, async () => {
    const bed = await created();
    bed.grants.deny = () => ({
      granted: false,
      reason: 'Freeze',
      message: 'sale',
      policy: 'nights',
      also: [],
    });
    await ask(bed, 'Prepare');
    expect([bed.hosting().log, status(bed)?.waiting]).toMatchObject([[], { reason: 'GrantDenied' }]);
    expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
  });

  it('HOS-22 names a token that the former key signed, and completes when it is signed again', {
    timeout: LIMIT,
  }, async () => {
    const bed = await created();
    const plane = bed.hosting().planes.get('ci');
    if (!plane) throw new Error('expected a control plane');
    plane.tokens = [{ name: 'default/bot', keyId: plane.authority }];
    await ask(bed, 'Prepare');
    await ask(bed, 'Complete');
    expect([bed.hosting().log, status(bed)?.waiting?.reason]).toEqual([PREPARED, 'ClientsBehind']);
    expect(status(bed)?.caRotation).toMatchObject({
      clients: { total: 6, moved: 5 },
      behind: ['Secret default/bot'],
    });
    plane.tokens = [{ name: 'default/bot', keyId: plane.authority }];
    await bed.advance(40_000);
    expect(status(bed)?.caRotation?.step).toBe('Completed');
  });

  it('HOS-22 is refused for a cluster with agents that cannot follow, which are named', {
    timeout: LIMIT,
  }, async () => {
    const bed = await created();
    agents(bed, { name: 'm-1', agent: { version: '0.1.0' } });
    await ask(bed, 'Prepare');
    expect([bed.hosting().log, conditionText(bed, 'ControlPlaneStalled')]).toEqual([
      [],
      'True RotationNotSupported',
    ]);
    expect(status(bed)?.waiting?.message).toContain('Machine m-1');
  });

  it('HOS-22 takes agents and kubelets through all phases, and back', { timeout: LIMIT }, async () => {
    const bed = await created();
    agents(bed, agent(bed, 'm-1'), agent(bed, 'm-2'));
    await ask(bed, 'Prepare');
    expect(status(bed)?.caRotation).toMatchObject({ step: 'Prepared', clients: { total: 9, moved: 9 } });
    await ask(bed);
    expect([bed.hosting().log, status(bed)?.caRotation]).toEqual([[...PREPARED, ...RETURNED], undefined]);
    await ask(bed, 'Prepare');
    await ask(bed, 'Complete');
    expect(bed.hosting().log).toEqual([...PREPARED, ...RETURNED, ...PREPARED, ...COMPLETED]);
    // Each document is newer than the one before it, also of another rotation.
    const [first] = bed.hosting().planes.get('ci')?.agents ?? [];
    expect(first?.agent?.authorities).toMatchObject({ order: 8, phase: 'TrustNew' });
  });

  it('HOS-22 waits for an agent that is silent, before anything is issued, and goes on without its Machine', {
    timeout: LIMIT,
  }, async () => {
    const bed = await created();
    agents(bed, agent(bed, 'm-1'), { ...agent(bed, 'm-2'), heartbeat: 'Silent' });
    await ask(bed, 'Prepare');
    expect(bed.hosting().log).toEqual(phase('TrustBoth'));
    expect(status(bed)).toMatchObject({
      waiting: { reason: 'ClientsBehind' },
      caRotation: { step: 'Preparing', clients: { total: 4, moved: 2 }, behind: ['Machine m-2', 'Node m-2'] },
    });
    const plane = bed.hosting().planes.get('ci');
    if (plane) plane.agents = plane.agents.filter(({ name }) => name !== 'm-2');
    await bed.advance(40_000);
    expect(status(bed)?.caRotation).toMatchObject({ step: 'Prepared', behind: [] });
  });

  it('HOS-22 publishes again what somebody has deleted, also when the rotation is over', {
    timeout: LIMIT,
  }, async () => {
    const bed = await created();
    await ask(bed, 'Prepare');
    await ask(bed, 'Complete');
    const plane = bed.hosting().planes.get('ci');
    const published = plane?.published;
    if (plane) plane.published = undefined;
    await bed.advance(300_000);
    expect(plane?.published).toEqual(published);
  });
});

function agents(bed: HostingBed, ...machines: readonly MachineClient[]): void {
  const plane = bed.hosting().planes.get('ci');
  if (plane) plane.agents = [...machines];
}

/** An agent that has joined with the authority that the control plane has now. */
function agent(bed: Pick<HostingBed, 'hosting'>, name: string): MachineClient {
  const authority = memoryAuthority(bed.hosting().planes.get('ci')?.authority ?? '');
  const authorities = { managed: true, trusted: [authority.sha256], kubelet: 'Current' as const };
  return { name, agent: { authorities }, heartbeat: 'Renewed', heardAt: NOW };
}

/**
 * The first process hangs for ever when its n-th act of the rotation is done: then it is killed. The next one may be of another version, which
 * installs its own kinds.
 */
function dyingBed(
  n: number,
  next: 'as before' | 'upgraded' = 'as before',
): ControllerBed & { readonly hosting: MemoryHosting; readonly count: () => number } {
  let [processes, acts, isCounting] = [0, 0, false];
  const hosting = memoryHosting(() => NOW);
  const { driver } = hosting;
  const hang = async (act: Promise<void> | undefined): Promise<void> => {
    await act;
    if (!isCounting) return;
    acts += 1;
    if (processes !== 1 || acts !== n) return;
    const plane = hosting.planes.get('ci');
    if (plane && next === 'upgraded') plane.isInstalled = false;
    await new Promise(() => undefined);
  };
  const dying = {
    ...hosting,
    inside: {
      ...hosting.inside,
      publish: (...args: Parameters<typeof hosting.inside.publish>) => hang(hosting.inside.publish(...args)),
    },
    driver: {
      ...driver,
      signAuthorities: async (...args: Parameters<NonNullable<typeof driver.signAuthorities>>) => {
        const signed = await driver.signAuthorities?.(...args);
        await hang(undefined);
        return signed;
      },
      start: (...args: Parameters<typeof driver.start>) => hang(driver.start(...args)),
      stop: (...args: Parameters<typeof driver.stop>) => hang(driver.stop(...args)),
      rotate: async (...args: Parameters<NonNullable<typeof driver.rotate>>) => {
        isCounting = true;
        await hang(driver.rotate?.(...args));
      },
    },
  };
  const grants = memoryGrants({ now: () => NOW });
  const bed = createControllerBed({
    controllers: () => {
      processes += 1;
      return [createHostingController({ ...dying, grants, maxClusters: 20, maxAgeSeconds: 691_200 })];
    },
    kinds: KINDS,
    objects: [spec()],
  });
  return { ...bed, hosting, count: () => acts };
}

const STRIDE = LONG ? 1 : 5;

describe('a rotation whose controller is killed', () => {
  it('HOS-22 does each act once, and makes the authorities once, after a crash at any act', {
    timeout: 4 * LIMIT,
  }, async () => {
    let acts = Number.POSITIVE_INFINITY;
    for (let n = 1; n <= acts; n += STRIDE) {
      const bed = dyingBed(n);
      const first = await bed.start();
      await bed.advance(10_000);
      bed.hosting.log.length = 0;
      const plane = bed.hosting.planes.get('ci');
      if (plane) plane.agents = [agent({ hosting: () => bed.hosting }, 'm-1')];
      await ask(bed, 'Prepare', 20_000);
      await ask(bed, 'Complete', 20_000);
      await first.kill();
      if (bed.count() < n) acts = bed.count();
      await bed.start();
      await bed.advance(40_000);
      expect([n, ...bed.hosting.log]).toEqual([n, ...PREPARED, ...COMPLETED]);
      expect([n, status(bed)?.caRotation?.step, bed.hosting.authorities()]).toEqual([n, 'Completed', 2]);
    }
    const published = [...PREPARED, ...COMPLETED].filter((act) => act.startsWith('publish'));
    // What is published is signed first.
    expect(acts).toBe(PREPARED.length + COMPLETED.length + published.length);
  });

  it('HOS-22 publishes each phase before the next one also when hosting is upgraded after any act', {
    timeout: 4 * LIMIT,
  }, async () => {
    for (let n = 1; n <= PREPARED.length + COMPLETED.length; n += STRIDE) {
      const bed = dyingBed(n, 'upgraded');
      const first = await bed.start();
      await bed.advance(10_000);
      bed.hosting.log.length = 0;
      const plane = bed.hosting.planes.get('ci');
      if (plane) plane.agents = [agent({ hosting: () => bed.hosting }, 'm-1')];
      await ask(bed, 'Prepare', 20_000);
      await first.kill();
      await bed.start();
      await ask(bed, 'Prepare');
      await ask(bed, 'Complete');
      const acts = bed.hosting.log.filter((act) => act !== 'install ci');
      expect([n, ...acts]).toEqual([n, ...PREPARED, ...COMPLETED]);
      expect([n, plane?.agents[0]?.agent?.authorities?.order]).toEqual([n, 4]);
    }
  });
});
