import { describe, expect, it } from 'vitest';
import type { FleetAllowance, LedgerAllowance } from '../../../src/api/generated/types.ts';
import type { FailureReport } from '../../../src/defender/allowance/failures.ts';
import { allowanceStatus } from '../../../src/defender/allowance/status.ts';
import { ago, entry, ledgerSpec, NOW } from '../builders.ts';
import { allowance, fleetAllowance } from './builders.ts';

const FAILED: FailureReport = {
  failures: [{ dimension: 'osImage', value: 'deb-13', at: ago(5), message: '3 machines are faulty' }],
  failedRollouts: [{ set: 'base', revision: 'r-2', at: ago(9) }],
};

function statusOf(adopted: LedgerAllowance | undefined, object: FleetAllowance = fleetAllowance()) {
  const ledger = ledgerSpec({ grants: { 'm-1': entry('m-1') }, ...(adopted ? { allowance: adopted } : {}) });
  return allowanceStatus({
    allowance: object,
    ledger,
    request: () => ({ requested: 0 }),
    failed: FAILED,
    now: NOW,
  });
}

function conditionsOf(status: ReturnType<typeof statusOf>): readonly string[] {
  return status.conditions.map(({ type, status: value, reason }) => `${type} ${value} ${reason}`);
}

describe('allowanceStatus', () => {
  it('reports what the ledger adopted and what is in use', () => {
    const status = statusOf(allowance());
    expect(status).toMatchObject({ phase: 'InForce', hub: 'hub-1', epoch: 2, seq: 7 });
    expect(status.limits).toEqual([
      { id: 'fleet/clusters', share: 1, used: 1, requested: 0 },
      { id: 'fleet/reboots', share: 2, used: 0, requested: 0 },
    ]);
    expect(conditionsOf(status)).toEqual([
      'Adopted True InLedger',
      'InForce True Current',
      'KillSwitchEngaged False NotEngaged',
    ]);
  });

  it('reports what failed where a policy of the hub asks for it', () => {
    expect(statusOf(allowance({ causes: [] }))).toMatchObject(FAILED);
    expect(statusOf(allowance())).not.toHaveProperty('failures');
  });

  it('tells that it is not adopted yet, and reports what holds meanwhile', () => {
    const status = statusOf(allowance({ seq: 6 }));
    expect(status).toMatchObject({ phase: 'Pending', seq: 6 });
    expect(conditionsOf(status)[0]).toBe('Adopted False NotYet');
  });

  it('names the other hub whose allowance is still valid', () => {
    const [adopted] = statusOf(allowance({ hub: 'hub-0' })).conditions;
    expect(adopted?.message).toContain('hub hub-0 handed out what is in force');
  });

  it('tells that the floor holds after the end, and that a stop remains', () => {
    expect(statusOf(allowance({ until: ago(1) })).phase).toBe('Floor');
    const killSwitch = { engaged: true, scope: 'All', by: 'ann', reason: 'bad image' } as const;
    const stopped = statusOf(allowance({ until: ago(1), killSwitch }));
    expect(stopped.phase).toBe('Stopped');
    expect(stopped.conditions.at(-1)?.message).toBe('stopped from the hub by ann: bad image');
  });
});
