import { describe, expect, it } from 'vitest';
import { nodeClaim, trimNodeClaim } from '../../../../src/controllers/following/karpenter/contract.ts';
import { claimObject } from './claims.ts';

describe('the NodeClaims of Karpenter', () => {
  it('have the instance, the Node, the zone and whether they may be disrupted', () => {
    expect(nodeClaim(claimObject(1))).toMatchObject({
      name: 'general-1',
      providerID: 'inst://1',
      node: 'node-1',
      zone: 'zone-a',
      mayBeDisrupted: true,
      isDeleting: false,
    });
  });

  it('lose nothing that is read when they are made small', () => {
    const annotations = { 'karpenter.sh/do-not-disrupt': 'true' };
    const claim = claimObject(1, { annotations, isDeleting: true });
    expect(nodeClaim(trimNodeClaim(claim))).toEqual(nodeClaim(claim));
    const large = { ...claim, status: { ...(claim['status'] as object), capacity: { cpu: '4' } } };
    expect(JSON.stringify(trimNodeClaim(large))).not.toContain('capacity');
  });

  it('have no field of another type than expected', () => {
    const odd = claimObject(1, { status: { providerID: 7, nodeName: {} } });
    expect(nodeClaim(odd)).toMatchObject({ providerID: undefined, node: undefined });
    expect(nodeClaim({ ...odd, status: 'none' })).toMatchObject({ providerID: undefined, node: undefined });
  });
});
