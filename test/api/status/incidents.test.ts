import { describe, expect, it } from 'vitest';
import type { DefenderLedger, DefenderPolicy } from '../../../src/api/generated/types.ts';
import { defenderIncidents } from '../../../src/api/status/incidents.ts';
import { ledgerSpec, policy } from '../../defender/builders.ts';
import { condition } from '../../support/builders.ts';

function withConditions(
  name: string,
  ...conditions: NonNullable<DefenderPolicy['status']>['conditions']
): DefenderPolicy {
  return { ...policy({}, name), status: { conditions } };
}

const DARK = condition('ZoneDark', 'True', { message: 'zone b is dark: 3 of 3 nodes are not Ready' });
const STOPPED = condition('KillSwitchEngaged', 'True', { message: 'engaged by ada' });
const BREAKER = condition('BreakerOpen', 'True', { message: 'failed of cluster is Open' });
const LEDGER: DefenderLedger = {
  apiVersion: 'kubenode.dev/v1alpha1',
  kind: 'DefenderLedger',
  metadata: { name: 'default' },
  spec: ledgerSpec({}),
  status: { conditions: [condition('Ready', 'False', { message: 'not written' })] },
};

describe('defenderIncidents', () => {
  it('puts a dark zone before a breaker, a stop and a ledger that is not ready', () => {
    const found = defenderIncidents([withConditions('fleet-default', STOPPED, BREAKER, DARK)], LEDGER);
    expect(found.map(({ reason }) => reason)).toEqual([
      'ZoneDark',
      'BreakerOpen',
      'Stopped',
      'LedgerNotReady',
    ]);
    expect(found[0]?.since).toBe(DARK.lastTransitionTime);
  });

  it('reports a zone once, however many policies call it dark', () => {
    const found = defenderIncidents(
      [withConditions('fleet-default', DARK), withConditions('gpu', DARK)],
      undefined,
    );
    expect(found.map(({ message }) => message)).toEqual([
      'zone b is dark: 3 of 3 nodes are not Ready. Nothing there is repaired or updated',
    ]);
  });

  it('does not say that a policy in mode Audit stops anything', () => {
    const audit = { ...withConditions('gpu', DARK), spec: policy({ mode: 'Audit' }).spec };
    expect(defenderIncidents([audit], undefined).map(({ message }) => message)).toEqual([DARK.message]);
  });

  it('R10 reports the rules that a failed wave holds, also while the ledger is ready', () => {
    const held = condition('RuleHeld', 'True', { message: 'rule hang begins no repair' });
    const ready = { ...LEDGER, status: { conditions: [condition('Ready', 'True'), held] } };
    const expected = { reason: 'RuleHeld', message: held.message, since: held.lastTransitionTime };
    expect(defenderIncidents([policy()], ready)).toEqual([expected]);
    const both = { ...LEDGER, status: { conditions: [held, condition('Ready', 'False')] } };
    expect(defenderIncidents([policy()], both).map(({ reason }) => reason)).toEqual([
      'LedgerNotReady',
      'RuleHeld',
    ]);
    const passed = { ...LEDGER, status: { conditions: [condition('RuleHeld', 'False')] } };
    expect(defenderIncidents([policy()], passed).map(({ reason }) => reason)).toEqual(['LedgerNotReady']);
  });

  it('reports a stop of the hub, and that the hub resumes', () => {
    const message = 'stopped from the hub by ann: bad image';
    const stop = condition('KillSwitchEngaged', 'True', { message });
    const ready = { ...LEDGER, status: { conditions: [condition('Ready', 'True'), stop] } };
    const expected = {
      reason: 'FleetStopped',
      message: `automation is ${message}`,
      since: stop.lastTransitionTime,
    };
    expect(defenderIncidents([policy()], ready)).toEqual([expected]);
  });

  it('has none while all is well, or before a Defender has run', () => {
    const ready = { ...LEDGER, status: { conditions: [condition('Ready', 'True')] } };
    expect(defenderIncidents([policy()], ready)).toEqual([]);
    expect(defenderIncidents([], undefined)).toEqual([]);
  });
});
