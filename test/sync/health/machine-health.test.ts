import { describe, expect, it } from 'vitest';
import type { DefenderLedger, MachineCounts } from '../../../src/api/generated/types.ts';
import { machineHealth, type ObservedMachines } from '../../../src/sync/health/machine-health.ts';
import { ledgerSpec, policy } from '../../defender/builders.ts';
import { condition } from '../../support/builders.ts';

const WELL: MachineCounts = {
  total: 6,
  ready: 6,
  upToDate: 6,
  failed: 0,
  unhealthy: 0,
  unhealthyMachines: [],
};

function counts(...unhealthy: readonly string[]): MachineCounts {
  const unhealthyMachines = unhealthy.map((name) => ({ name, phase: 'Unreachable' }) as const);
  return { ...WELL, ready: 6 - unhealthy.length, unhealthy: unhealthy.length, unhealthyMachines };
}

function ledger(machines?: MachineCounts): DefenderLedger {
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'DefenderLedger',
    metadata: { name: 'default' },
    spec: ledgerSpec({}),
    status: { conditions: [condition('Ready', 'True')], ...(machines && { machines }) },
  };
}

function observed(over: Partial<ObservedMachines> = {}): ObservedMachines {
  return { ledger: ledger(WELL), policies: [policy()], hasMachines: true, silentReason: undefined, ...over };
}

const DARK = {
  ...policy(),
  status: { conditions: [condition('ZoneDark', 'True', { message: 'zone b is dark: 3 of 3' })] },
};

describe('machineHealth', () => {
  it.each<[name: string, input: ObservedMachines, expected: string]>([
    ['is True while none is unhealthy', observed(), 'True NoneUnhealthy: 6 of 6 machines are Ready'],
    [
      'is False with one unhealthy machine, which it names',
      observed({ ledger: ledger(counts('m-4')) }),
      'False MachinesUnhealthy: 1 of 6 machines is unhealthy: m-4 Unreachable',
    ],
    [
      'is True while machines are updated: they are not Ready, and not unhealthy',
      observed({ ledger: ledger({ ...WELL, ready: 4, upToDate: 2 }) }),
      'True NoneUnhealthy: 4 of 6 machines are Ready',
    ],
    [
      'names the first of many',
      observed({ ledger: ledger(counts('m-1', 'm-2', 'm-3', 'm-4', 'm-5', 'm-6')) }),
      'False MachinesUnhealthy: 6 of 6 machines are unhealthy: m-1, m-2, m-3, m-4, m-5 Unreachable; and 1 more',
    ],
    [
      'is Unknown before the Defender has counted',
      observed({ ledger: ledger() }),
      'Unknown NotCounted: the Defender of the cluster has not counted its machines yet',
    ],
    [
      'is Unknown without controllers, however the machines were counted last',
      observed({ silentReason: 'Lease a was released' }),
      'Unknown NoControllers: no controllers run: nothing reports how the machines are',
    ],
    [
      'is True without machines, whether or not controllers run',
      observed({ hasMachines: false, silentReason: 'Lease a was never held' }),
      'True NoMachines: the cluster has no machines of kubenode',
    ],
  ])('%s', (_, input, expected) => {
    const { status, reason, message } = machineHealth(input);
    expect(`${status} ${reason}: ${message}`).toBe(expected);
  });

  it('names what endangers machines, the most urgent first', () => {
    const { incidents, machines } = machineHealth(
      observed({ policies: [DARK], silentReason: 'Lease a was released' }),
    );
    expect(incidents.map(({ reason, message }) => `${reason}: ${message}`)).toEqual([
      'NoControllers: no controllers run, so nothing is repaired or updated: Lease a was released',
      'ZoneDark: zone b is dark: 3 of 3. Nothing there is repaired or updated',
    ]);
    expect(machines).toEqual(WELL);
  });
});
