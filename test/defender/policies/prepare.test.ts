import { describe, expect, it } from 'vitest';
import { breakerGrouping, preparePolicies } from '../../../src/defender/policies/prepare.ts';
import { decideScene, explain, policy } from '../builders.ts';

describe('preparePolicies', () => {
  it('sorts policies, and counts equal groupings once', () => {
    const prepared = preparePolicies([policy({}, 'z'), policy(), policy({}, 'a')]);
    expect(prepared.valid.map(({ name }) => name)).toEqual(['a', 'fleet-default', 'z']);
    expect(prepared.groupings.map(({ per }) => per)).toEqual(['Cluster', 'Zone', 'Pool']);
  });

  it('R25 keeps the kill switch of a policy in mode Audit that is not accepted otherwise', () => {
    const killSwitch = { engaged: true, scope: 'All', by: 'ann', reason: 'storm' } as const;
    const broken = {
      mode: 'Audit',
      concurrency: [{ name: 'c', per: 'Pool', actions: [], max: '900%' }],
    } as const;
    const [stopped] = preparePolicies([policy({ ...broken, killSwitch }, 'stop')]).valid;
    expect(stopped).toMatchObject({ name: 'stop', enforced: false, limits: [], spec: { killSwitch } });
    expect(preparePolicies([policy(broken, 'stop')])).toMatchObject({ valid: [], problems: new Map() });
    const decision = decideScene({ policies: [policy(), policy({ ...broken, killSwitch }, 'stop')] });
    expect(explain(decision)).toBe('KillSwitch [stop]: kill switch engaged by ann: storm');
  });

  it('counts for a holder no machines, and for a breaker those of its scope', () => {
    const holder = policy({ concurrency: [{ name: 'h', per: 'Holder', actions: [], max: 1 }] });
    const [prepared] = preparePolicies([holder]).valid;
    if (!prepared) throw new Error('the policy is valid');
    expect(prepared.limits[0]).not.toHaveProperty('grouping');
    const per = (['Cluster', 'Zone', 'Pool', 'Holder'] as const).map(
      (each) => breakerGrouping(prepared, { per: each }).per,
    );
    expect(per).toEqual(['Cluster', 'Zone', 'Pool', 'Cluster']);
  });
});
