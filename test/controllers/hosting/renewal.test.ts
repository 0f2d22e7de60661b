/** The renewal of certificates by the controller, with the Defender of the hub. */
import { describe, expect, it } from 'vitest';
import { DEFENDER_POLICIES } from '../../../src/api/generated/resources.ts';
import { FLEET_DEFAULT } from '../../../src/api/names.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import {
  applied,
  conditionText,
  found,
  type HostingBed,
  hostingBed,
  secretOf,
} from '../../support/hosting/bed.ts';

const DEFAULT: KubeObject = {
  apiVersion: API_VERSION,
  kind: DEFENDER_POLICIES.kind,
  metadata: { name: FLEET_DEFAULT },
  spec: { killSwitch: { engaged: false, scope: 'All' } },
};
const LIMIT = 600_000;
const DAY_MS = 86_400_000;

async function createdBed(): Promise<HostingBed> {
  const bed = hostingBed([applied(), DEFAULT]);
  await bed.start();
  await bed.advance(10_000);
  expect(conditionText(bed, 'CertificatesValid')).toBe('True SeenOnTheWire');
  return bed;
}

/** Makes each certificate so many days old. */
function age(bed: HostingBed, days: number): void {
  const leaves = bed.hosting().planes.get('ci')?.leaves;
  for (const [name, leaf] of leaves ?? []) {
    leaves?.set(name, { ...leaf, issuedAt: new Date(+bed.clock.now() - days * DAY_MS) });
  }
}

/** The member serves what it was started with, whatever is in its file. */
function ignore(bed: HostingBed): void {
  const plane = bed.hosting().planes.get('ci');
  plane?.ignoring.set('kube-scheduler', plane.leaves.get('apiserver')?.serial ?? '');
}

function acts(bed: HostingBed): readonly string[] {
  return bed
    .hosting()
    .log.slice(6)
    .filter((act) => !act.startsWith('install') && act !== 'start ci kubenode-controllers');
}

describe('the renewal of certificates', () => {
  it('HOS-21 gives sync the new kubeconfig, restarts nothing, and happens once', async () => {
    const bed = await createdBed();
    const before = secretOf(bed)?.['data'];
    age(bed, 256);
    await bed.advance(25_000);
    const after = secretOf(bed)?.['data'];
    expect([conditionText(bed, 'CertificatesValid'), acts(bed)]).toEqual(['True SeenOnTheWire', []]);
    expect(after).not.toEqual(before);
    bed.writes();
    await bed.advance(60_000);
    expect([secretOf(bed)?.['data'], bed.writes()]).toEqual([after, []]);
  });

  it('HOS-21 finds a member that ignores it, and restarts that with a grant', {
    timeout: LIMIT,
  }, async () => {
    const bed = await createdBed();
    age(bed, 256);
    ignore(bed);
    await bed.advance(25_000);
    expect(conditionText(bed, 'CertificatesValid')).toBe('False OldCertificateServed');
    await bed.advance(120_000);
    expect(acts(bed)).toEqual([]);
    await bed.advance(60_000);
    expect(acts(bed)).toEqual(['stop ci kube-scheduler', 'start ci kube-scheduler']);
    expect(conditionText(bed, 'CertificatesValid')).toBe('True SeenOnTheWire');
    expect(bed.grants.settled).toEqual(['g-1 UpdateControlPlane cluster:ci: Succeeded']);
  });

  it('HOS-21 restarts nothing while the Defender denies it, and names why', { timeout: LIMIT }, async () => {
    const bed = await createdBed();
    bed.grants.deny = () => ({
      granted: false,
      reason: 'Freeze',
      message: 'sale',
      policy: 'nights',
      also: [],
    });
    age(bed, 256);
    ignore(bed);
    await bed.advance(240_000);
    expect([acts(bed), conditionText(bed, 'CertificatesValid')]).toEqual([[], 'False OldCertificateServed']);
    expect(found(bed)?.status?.hosted?.waiting).toMatchObject({
      reason: 'GrantDenied',
      blocker: { name: 'nights' },
    });
    expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
  });

  it('HOS-21 gives a member that ignores it after a restart to a person', { timeout: LIMIT }, async () => {
    const bed = await createdBed();
    age(bed, 256);
    ignore(bed);
    await bed.advance(200_000);
    expect(acts(bed)).toHaveLength(2);
    const plane = bed.hosting().planes.get('ci');
    plane?.ignoring.set('kube-scheduler', 'another');
    await bed.advance(240_000);
    expect([acts(bed).length, conditionText(bed, 'ControlPlaneStalled')]).toEqual([
      2,
      'True OldCertificateServed',
    ]);
  });
});
