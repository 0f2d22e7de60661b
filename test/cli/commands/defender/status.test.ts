import { describe, expect, it } from 'vitest';
import type { DefenderLedger, DefenderPolicy } from '../../../../src/api/generated/types.ts';
import { formatDefenderState, hasTrouble } from '../../../../src/cli/commands/defender/status.ts';
import { ago, entry, ledgerSpec, NOW, policy } from '../../../defender/builders.ts';
import { condition } from '../../../support/builders.ts';

const READY = condition('Ready', 'True');

function ledger(fields: Partial<DefenderLedger> = {}): DefenderLedger {
  const settled = entry('m-2', {
    state: 'Settled',
    settledAt: ago(60),
    outcome: 'Failed',
    issuedAt: ago(600),
  });
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'DefenderLedger',
    metadata: { name: 'default' },
    spec: ledgerSpec({ grants: { 'm-1': entry('m-1'), 'm-2': settled } }),
    status: { phase: 'Ready', conditions: [READY, condition('NearFull', 'False')] },
    ...fields,
  };
}

function reported(status: Partial<NonNullable<DefenderPolicy['status']>>): DefenderPolicy {
  return { ...policy(), status: { conditions: [], phase: 'InForce', ...status } };
}

const OPEN = { name: 'unhealthy', key: 'zone a', state: 'Open', since: ago(60), evidence: '5 of 9' } as const;
const BROKEN = reported({
  phase: 'BreakerOpen',
  conditions: [condition('BreakerOpen', 'True', { message: 'unhealthy of zone a is Open: 5 of 9' })],
  breakers: [OPEN],
  usage: [
    { rule: 'zone', key: 'a', used: 1, limit: 2 },
    { rule: 'zone', key: 'b', used: 0, limit: 2 },
  ],
  denials: { BreakerOpen: 3, Freeze: 1 },
});

describe('defender status', () => {
  it('lists the acts that wait for an approval, with the command that answers', () => {
    const holder = { kind: 'Other', name: 'alice' } as const;
    const waiting = { machine: 'm-1', action: 'WipeDisk', risk: 'Data', holder, since: ago(120) } as const;
    const state = {
      policies: [policy()],
      ledger: ledger({ status: { conditions: [], approvals: [waiting] } }),
    };
    expect(formatDefenderState(state, NOW)).toMatch(
      /^m-1 +WipeDisk +Other\/alice +\S+ +kubenode defender approve m-1 --reason \.\.\.$/m,
    );
  });

  it('R29 shows policies, breakers, limits in use, grants and the ledger', () => {
    expect(formatDefenderState({ policies: [BROKEN], ledger: ledger() }, NOW)).toBe(
      `POLICY          MODE      PHASE         DENIED 24H   WHY
fleet-default   Enforce   BreakerOpen   4            unhealthy of zone a is Open: 5 of 9

BREAKER                          STATE   SINCE   EVIDENCE
fleet-default/unhealthy/zone a   Open    60s     5 of 9

POLICY          LIMIT   KEY   USED
fleet-default   zone    a     1 of 2

MACHINE   ACTION            STATE              HOLDER                     AGE   GRANT
m-1       UpdateComponent   Started            MachineComponentSet base   60s   g-m-1
m-2       UpdateComponent   Settled (Failed)   MachineComponentSet base   10m   g-m-2

ledger: seq 7, epoch 1, Ready
`,
    );
  });

  it('names what is missing, and what is wrong with a policy and with the ledger', () => {
    const refused = reported({
      phase: 'Refused',
      conditions: [condition('Accepted', 'False', { message: 'fleet-default must limit concurrency' })],
    });
    const recovering = ledger({
      spec: ledgerSpec(),
      status: { phase: 'NotReady', conditions: [condition('Ready', 'False', { message: 'it recovers' })] },
    });
    const text = formatDefenderState({ policies: [refused], ledger: recovering }, NOW);
    expect(text).toContain('fleet-default must limit concurrency');
    expect(text).toContain('ledger: seq 7, epoch 1, NotReady: it recovers');
    const odd = ledger({
      spec: ledgerSpec(),
      status: {
        phase: 'Suspect',
        conditions: [condition('Suspect', 'True', { message: 'by \u001b[2Jeve' })],
      },
    });
    const printed = formatDefenderState({ policies: [refused], ledger: odd }, NOW);
    expect(printed).not.toContain('\u001b');
    expect(printed).toContain(String.raw`Suspect: by \u001b[2Jeve`);
    const unrecorded = condition('Unrecorded', 'True', {
      message: 'acts are not recorded',
      lastTransitionTime: ago(300),
    });
    const both = [condition('Suspect', 'True', { message: 'm-1', lastTransitionTime: ago(60) }), unrecorded];
    const two = ledger({ spec: ledgerSpec(), status: { phase: 'Suspect', conditions: both } });
    expect(formatDefenderState({ policies: [], ledger: two }, NOW)).toContain(
      'Suspect: m-1 (60s); acts are not recorded (5m)',
    );
    const empty = formatDefenderState({ policies: [], ledger: undefined }, NOW);
    expect(empty).toContain('there is no DefenderPolicy');
    expect(empty).toContain('ledger: not found');
  });

  it('names what has to run when no controller reported yet', () => {
    const { status: _, ...silent } = ledger();
    const text = formatDefenderState({ policies: [policy()], ledger: silent }, NOW);
    expect(text).toMatch(
      /^fleet-default +Enforce +Pending +0 +no controller has observed it: run kubenode controllers for this cluster$/m,
    );
    expect(text).toContain('ledger: seq 7, epoch 1, not reported: run kubenode controllers for this cluster');
  });

  it('has trouble when something is stopped, refused, open or not ready', () => {
    expect(hasTrouble({ policies: [reported({})], ledger: ledger() })).toBe(false);
    expect(hasTrouble({ policies: [BROKEN], ledger: ledger() })).toBe(true);
    const stopped = reported({ conditions: [condition('KillSwitchEngaged', 'True')] });
    expect(hasTrouble({ policies: [stopped], ledger: ledger() })).toBe(true);
    expect(hasTrouble({ policies: [reported({})], ledger: undefined })).toBe(true);
    expect(hasTrouble({ policies: [], ledger: ledger() })).toBe(true);
    const full = ledger({ status: { conditions: [READY, condition('NearFull', 'True')] } });
    expect(hasTrouble({ policies: [reported({})], ledger: full })).toBe(true);
    const unrecorded = ledger({ status: { conditions: [READY, condition('Unrecorded', 'True')] } });
    expect(hasTrouble({ policies: [reported({})], ledger: unrecorded })).toBe(true);
  });
});
