import { describe, expect, it } from 'vitest';
import { CLUSTERS, DEFENDER_POLICIES } from '../../../../src/api/generated/resources.ts';
import { FLEET_DEFAULT } from '../../../../src/api/names.ts';
import { API_VERSION } from '../../../../src/api/version.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { applied, conditionText, found, type HostingBed, hostingBed } from '../../../support/hosting/bed.ts';

const DEFAULT: KubeObject = {
  apiVersion: API_VERSION,
  kind: DEFENDER_POLICIES.kind,
  metadata: { name: FLEET_DEFAULT },
  spec: { killSwitch: { engaged: false, scope: 'All' } },
};

async function createdBed(...objects: readonly KubeObject[]): Promise<HostingBed> {
  const bed = hostingBed([applied(), ...objects]);
  await bed.start();
  await bed.advance(10_000);
  expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
  return bed;
}

function stops({ hosting }: HostingBed): number {
  return hosting().log.filter((each) => each.startsWith('stop')).length;
}

describe('the destruction of a control plane', () => {
  it('HOS-03 has a grant of the Defender, which is given back before the Cluster goes', async () => {
    const bed = await createdBed(DEFAULT);
    expect(bed.grants.open.size).toBe(0);
    bed.delete(CLUSTERS, 'ci');
    await bed.advance(12_000);
    expect([found(bed), bed.hosting().planes.size]).toEqual([undefined, 0]);
    expect(bed.grants.settled).toEqual(['g-1 UpdateControlPlane cluster:ci: Succeeded']);
  });

  it('waits while the Defender denies it, and names the policy', async () => {
    const bed = await createdBed(DEFAULT);
    const policy = 'quiet-nights';
    bed.grants.deny = () => ({ granted: false, reason: 'Freeze', message: 'sale', policy, also: [] });
    bed.delete(CLUSTERS, 'ci');
    await bed.advance(30_000);
    expect([stops(bed), bed.hosting().planes.get('ci')?.isDestroying]).toEqual([0, false]);
    expect(found(bed)?.status?.hosted?.waiting).toMatchObject({
      reason: 'GrantDenied',
      message: 'Freeze: sale',
      blocker: { kind: 'DefenderPolicy', name: policy },
    });
    bed.grants.deny = () => undefined;
    await bed.advance(15_000);
    expect(found(bed)).toBeUndefined();
  });

  it('is held in the middle when the Defender takes its permission back', async () => {
    const bed = await createdBed(DEFAULT);
    const inFlight = bed.grants.renew;
    let renewals = 0;
    bed.grants.deny = () => undefined;
    Object.assign(bed.grants, {
      renew: (...args: Parameters<typeof inFlight>) => {
        renewals += 1;
        if (renewals === 3) bed.grants.deny = () => 'incident';
        return inFlight(...args);
      },
    });
    bed.delete(CLUSTERS, 'ci');
    await bed.advance(30_000);
    expect([stops(bed), found(bed)?.status?.hosted?.waiting?.message]).toEqual([1, 'KillSwitch: incident']);
    bed.grants.deny = () => undefined;
    await bed.advance(15_000);
    expect([found(bed), bed.grants.settled.length]).toEqual([undefined, 1]);
  });

  it('has no grant on a hub without the policy fleet-default', async () => {
    const bed = await createdBed();
    bed.grants.deny = () => 'every ask is denied';
    bed.delete(CLUSTERS, 'ci');
    await bed.advance(12_000);
    expect([found(bed), bed.grants.settled]).toEqual([undefined, []]);
  });
});
