import { describe, expect, it } from 'vitest';
import type { RateLimit } from '../../../src/api/generated/types.ts';
import { rateGroup } from '../../../src/defender/guards/rates.ts';
import { ago, ask, decideScene, machineFacts, policy } from '../builders.ts';

const LIMIT: RateLimit = { name: 'l', per: 'Cluster', actions: [], risks: [], max: 2, windowSeconds: 3600 };

describe('rate limits', () => {
  it.each<[Partial<RateLimit>, string]>([
    [{ per: 'Cluster' }, 'cluster'],
    [{ per: 'Pool' }, 'web'],
    [{ per: 'Zone' }, 'a'],
    [{ per: 'Holder' }, 'NodeRemedier/hang'],
    [{ per: 'Label', labelKey: 'topology.kubernetes.io/rack' }, 'r1'],
    [{ per: 'Label', labelKey: 'other' }, '(none)'],
  ])('R16 counts an act under %o in group %s', (fields, key) => {
    expect(rateGroup({ ...LIMIT, ...fields }, ask().holder, machineFacts('m-1'))).toBe(key);
  });

  it('R16 permits the act again when enough of the counted acts left the window', () => {
    const rates = {
      'fleet-default/l/cluster': {
        bucketSeconds: 300,
        firstBucketAt: ago(3700),
        counts: [1, 0, 0, 0, 0, 0, 1],
      },
    };
    const decision = decideScene({ policies: [policy({ rates: [LIMIT] })], ledger: { rates } });
    expect(decision).toMatchObject({ reason: 'RateWindow', used: 2, retryAt: new Date(ago(-200)) });
  });
});
