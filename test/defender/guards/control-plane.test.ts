import { describe, expect, it } from 'vitest';
import type { DefenderPolicy } from '../../../src/api/generated/types.ts';
import { decideAsk } from '../../../src/defender/decide.ts';
import type { ControlPlaneMember } from '../../../src/defender/facts/facts.ts';
import { createLedgerUsage } from '../../../src/defender/ledger/usage.ts';
import { preparePolicies } from '../../../src/defender/policies/prepare.ts';
import { ask, decideScene, fleetFacts, ledgerSpec, machines, NOW, policy } from '../builders.ts';

const ETCD = ['Healthy', 'Unhealthy', 'Unknown'] as const;
const SERVERS = ['Ready', 'NotReady', 'Unknown'] as const;
const ONE_SERVER = policy({
  controlPlane: { max: 1, readyAPIServersAfter: 1, etcdQuorumAfter: true, actions: [] },
});

describe('the control plane', () => {
  it.each([3, 5])('R22 never loses the quorum of %i members, in any state of them', (size) => {
    let granted = 0;
    for (const members of everyState(size)) {
      const all = machines(size, { isControlPlane: true });
      const decision = decideScene({
        policies: [ONE_SERVER],
        machines: all,
        facts: { controlPlane: members },
      });
      const [own, ...others] = members;
      const isReadable = members.every(
        ({ etcd, apiServer }) => etcd !== 'Unknown' && apiServer !== 'Unknown',
      );
      const healthy = others.filter(({ etcd }) => etcd === 'Healthy').length;
      const ready = others.filter(({ apiServer }) => apiServer === 'Ready').length;
      const isLast = !(own?.isLeader === true && others.some(({ needsWork }) => needsWork));
      const isSafe = isReadable && healthy >= Math.floor(size / 2) + 1 && ready >= 1 && isLast;
      expect(decision.permitted).toBe(isSafe);
      if (decision.permitted) granted += 1;
    }
    expect(granted).toBeGreaterThan(0);
  });

  it('R22 interrupts a control plane of one machine only with an approval of this act', () => {
    const scene = {
      machines: machines(1, { isControlPlane: true, readiness: 'NotReady' }),
      facts: { controlPlane: [member(0)] },
    };
    const approval = {
      action: 'Reboot',
      holder: 'm-1-job',
      decision: 'Approved',
      by: 'ann',
      at: 'x',
      until: '2031-01-01T00:00:00Z',
    } as const;
    expect(decideScene(scene)).toMatchObject({ reason: 'SingleControlPlane' });
    expect(
      decideScene({ ...scene, ledger: { approvals: { 'm-1': { ...approval, action: 'Drain' } } } }).permitted,
    ).toBe(false);
    expect(decideScene({ ...scene, ledger: { approvals: { 'm-1': approval } } }).permitted).toBe(true);
  });

  it('R22 renews the act on a control plane of one machine that was approved, although the approval is used up', () => {
    const rule = {
      name: 'all',
      risks: [],
      actions: [],
      onlyLocalData: false,
      approvers: ['sre'],
      timeoutSeconds: 60,
    };
    const scene = {
      machines: machines(1, { isControlPlane: true, readiness: 'NotReady' as const }),
      facts: { controlPlane: [member(0)] },
    };
    const renewed = (policies: readonly DefenderPolicy[]): boolean => {
      const prepared = preparePolicies(policies);
      const facts = fleetFacts(scene.machines, policies, scene.facts);
      const ledger = ledgerSpec();
      const usage = createLedgerUsage({ policies: prepared, ledger, facts, now: NOW });
      const { factsAt: _, ...renewal } = ask();
      return decideAsk(
        { policies: prepared, ledger, usage, facts, now: NOW },
        { ...renewal, isRenewal: true },
      ).permitted;
    };
    expect([renewed([policy({ approval: [rule] })]), renewed([policy()])]).toEqual([true, false]);
  });
});

/** Every state of one other member with every state of our own; the rest is healthy, or one of them is not. */
function everyState(size: number): readonly (readonly ControlPlaneMember[])[] {
  const states = ETCD.flatMap((etcd) => SERVERS.map((apiServer) => ({ etcd, apiServer })));
  return states.flatMap((own) =>
    states.flatMap((second) =>
      ETCD.flatMap((third) =>
        [true, false].flatMap((isLeader) =>
          [true, false].map((needsWork) =>
            Array.from({ length: size }, (_, index) => {
              if (index === 0) return member(index, { ...own, isLeader });
              if (index === 1) return member(index, { ...second, needsWork });
              return member(index, index === 2 ? { etcd: third, isLeader: !isLeader } : {});
            }),
          ),
        ),
      ),
    ),
  );
}

function member(index: number, fields: Partial<ControlPlaneMember> = {}): ControlPlaneMember {
  return {
    machine: `m-${index + 1}`,
    etcd: 'Healthy',
    apiServer: 'Ready',
    isLeader: false,
    needsWork: false,
    ...fields,
  };
}
