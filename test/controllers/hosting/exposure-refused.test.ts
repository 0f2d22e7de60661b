/** A change of the exposure that the Defender denies, a person halts, or another program's port refuses: everything else of the control plane goes on. */
import { describe, expect, it } from 'vitest';
import { KILL_SWITCH } from '../../../src/api/names.ts';
import { GATEWAYS } from '../../../src/controllers/hosting/drivers/driver.ts';
import { conditionOf } from '../../../src/kube/objects/conditions.ts';
import {
  applied,
  conditionText,
  found,
  type HostingBed,
  hostingBed,
  secretOf,
} from '../../support/hosting/bed.ts';
import { TAKEN_PORTS } from '../../support/hosting/memory/outside.ts';
import { addon, HOSTED, type HostedParts, POLICY } from '../../support/hosting/objects.ts';

const OUTSIDE = { ...HOSTED.exposure, host: 'ci.example.com' };
const [TAKEN = 0] = TAKEN_PORTS;
const LONGER = 1_900_000;
const etcd = { ...HOSTED.etcd, backup: { everySeconds: 600, keep: 100 } };
const HALT = {
  ...POLICY,
  metadata: { name: KILL_SWITCH },
  spec: { killSwitch: { engaged: true, scope: 'All', by: 'ann', reason: 'test' } },
};

type Exposure = typeof HOSTED.exposure;

function cluster(exposure: Exposure, hosted: HostedParts['hosted'] = {}) {
  return applied({ hosted: { exposure, ...hosted } });
}

async function created(exposure: Exposure, hosted: HostedParts['hosted'] = {}): Promise<HostingBed> {
  const bed = hostingBed([cluster(exposure, hosted), POLICY]);
  await bed.start();
  await bed.advance(30_000);
  expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
  bed.hosting().log.length = 0;
  return bed;
}

function end(bed: HostingBed, member: 'kube-apiserver' | 'etcd'): void {
  bed.hosting().planes.get('ci')?.running.delete(member);
}

describe('a change of the exposure that is refused', () => {
  it.each<[name: string, before: Exposure, after: Exposure]>([
    ['removal', OUTSIDE, HOSTED.exposure],
    ['addition', HOSTED.exposure, OUTSIDE],
  ])('HOS-41 keeps no member from its start that ends during a denied %s', async (_, before, after) => {
    const bed = await created(before);
    bed.grants.deny = () => 'ann';
    bed.apply(cluster(after));
    await bed.advance(5000);
    end(bed, 'kube-apiserver');
    await bed.advance(30_000);
    expect(bed.hosting().log).toContain('start ci kube-apiserver');
    expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
    expect(found(bed)?.status?.hosted?.waiting?.reason).toBe('GrantDenied');
  });

  it('HOS-41 keeps no member from its start while a person halts everything', async () => {
    const bed = await created(OUTSIDE);
    bed.apply(HALT);
    bed.apply(cluster(HOSTED.exposure));
    await bed.advance(15_000);
    expect(found(bed)?.status?.hosted?.waiting?.reason).toBe('KillSwitch');
    end(bed, 'etcd');
    await bed.advance(30_000);
    expect(bed.hosting().log).toEqual(['start ci etcd']);
    expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
  });

  it('HOS-41 keeps no backup from its time while the port is that of another program', async () => {
    const bed = await created(HOSTED.exposure, { etcd });
    bed.apply(cluster({ ...OUTSIDE, port: TAKEN }, { etcd }));
    await bed.advance(LONGER);
    expect(bed.hosting().log).toHaveLength(3);
    expect(conditionText(bed, 'ControlPlaneStalled')).toBe('True PortInUse');
  });

  it('HOS-41 keeps neither flags nor add-ons of the same commit from their change', async () => {
    const bed = await created(HOSTED.exposure);
    const scheduler = { extraArgs: { v: '4' } };
    bed.apply(cluster({ ...OUTSIDE, port: TAKEN }, { scheduler, addons: [addon('dns')] }));
    await bed.advance(LONGER);
    expect(bed.hosting().log).toEqual(expect.arrayContaining(['start ci kube-scheduler', 'apply ci dns 11']));
    const { reason, message } = conditionOf(found(bed)?.status?.conditions, 'ControlPlaneUpToDate') ?? {};
    expect([reason, message]).toEqual(['PortInUse', expect.stringContaining(`port ${TAKEN}`)]);
  });
});

describe('a gateway that cannot start', () => {
  const [first, second] = GATEWAYS.map((member) => `${member} undefined`);

  it('HOS-41 keeps neither our kinds nor our controllers from a new control plane', async () => {
    const bed = hostingBed([cluster(OUTSIDE), POLICY]);
    for (const member of [first, second]) bed.hosting().faults.set(member ?? '', 'crashes');
    await bed.start();
    await bed.advance(30_000);
    expect(bed.hosting().log).toEqual(
      expect.arrayContaining(['install ci', 'start ci kubenode-controllers', `start ci ${GATEWAYS[1]}`]),
    );
    expect([conditionText(bed, 'ControlPlaneReady'), secretOf(bed)]).toEqual([
      'False MemberCrashes',
      undefined,
    ]);
    bed.hosting().faults.clear();
    await bed.advance(600_000);
    expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
  });

  it('HOS-41 keeps neither add-ons nor backups from their time', async () => {
    const bed = await created(OUTSIDE, { etcd });
    for (const member of [first, second]) bed.hosting().faults.set(member ?? '', 'crashes');
    for (const member of GATEWAYS) bed.hosting().planes.get('ci')?.running.delete(member);
    bed.apply(cluster(OUTSIDE, { etcd, addons: [addon('dns')] }));
    await bed.advance(LONGER);
    const others = bed.hosting().log.filter((line) => !line.includes('gateway'));
    expect(others).toEqual(expect.arrayContaining(['apply ci dns 11']));
    expect(others.filter((line) => line.startsWith('backup'))).toHaveLength(3);
    expect(conditionText(bed, 'ControlPlaneStalled')).toBe('True MemberCrashes');
  });
});

describe('a name that our own controllers do not start with', () => {
  it('HOS-41 is replaced by that of the next commit', async () => {
    const bed = await created(OUTSIDE);
    bed.hosting().faults.set('kubenode-controllers undefined', 'crashes');
    bed.apply(cluster({ ...OUTSIDE, host: 'b.example.com' }));
    await bed.advance(120_000);
    expect(conditionText(bed, 'ControlPlaneStalled')).toBe('True MemberCrashes');
    bed.hosting().log.length = 0;
    bed.apply(cluster({ ...OUTSIDE, host: 'c.example.com' }));
    await bed.advance(120_000);
    expect(bed.hosting().log).toContain('outside ci at c.example.com:6443');
  });
});

function waitingOf(bed: HostingBed): string {
  return JSON.stringify(found(bed)?.status?.hosted?.waiting ?? 'nothing');
}

describe('an endpoint of the Service kubernetes that a policy of the cluster refuses', () => {
  it('HOS-41 keeps nothing else waiting, is reported with the cause, and is written when it may be', async () => {
    const bed = await created(HOSTED.exposure);
    const plane = bed.hosting().planes.get('ci');
    if (!plane) throw new Error('there is no control plane');
    plane.refusesEndpoint = true;
    bed.apply(cluster({ ...OUTSIDE, host: '192.0.2.10' }, { addons: [addon('dns')] }));
    await bed.advance(60_000);
    expect(bed.hosting().log).toContain('apply ci dns 11');
    const waiting = waitingOf(bed);
    for (const part of ['EndpointRefused', 'a policy refuses it', 'default/kubernetes-outside']) {
      expect(waiting).toContain(part);
    }
    plane.refusesEndpoint = false;
    await bed.advance(60_000);
    expect(bed.hosting().log).toContain('endpoint ci 192.0.2.10:6443');
    expect(waitingOf(bed)).toBe('"nothing"');
  });
});
