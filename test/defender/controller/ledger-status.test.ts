import { describe, expect, it } from 'vitest';
import type { DefenderLedgerSpec } from '../../../src/api/generated/types.ts';
import { type ActRecording, ledgerStatus } from '../../../src/defender/controller/ledger-status.ts';
import type { SuspectPlan } from '../../../src/defender/controller/plan.ts';
import { allowance } from '../allowance/builders.ts';
import { ago, entry, ledgerSpec, NOW } from '../builders.ts';

function statusOf(
  spec: Partial<DefenderLedgerSpec>,
  failure?: string,
  suspects: readonly SuspectPlan[] = [],
  recording?: ActRecording,
) {
  const ledger = {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'DefenderLedger',
    metadata: { name: 'default', generation: 3 },
    spec: ledgerSpec(spec),
  } as const;
  return ledgerStatus({
    ledger,
    suspects,
    approvals: [],
    conflicts: 2,
    machines: undefined,
    held: [],
    failure,
    now: NOW,
    ...(recording ? { recording } : {}),
  });
}

function suspect(machine: string): SuspectPlan {
  return { machine, because: 'it is still active', isAlert: false };
}

describe('ledgerStatus', () => {
  it('counts the grants, and is Ready', () => {
    const settled = entry('m-2', { state: 'Settled', settledAt: ago(60), outcome: 'Succeeded' });
    expect(statusOf({ grants: { 'm-1': entry('m-1'), 'm-2': settled } })).toMatchObject({
      observedGeneration: 3,
      phase: 'Ready',
      grants: { inFlight: 1, lingering: 1, suspect: 0 },
      casConflicts: 2,
    });
  });

  it('reports a stop of the hub where there is a hub, and is Ready all the same', () => {
    const killSwitch = { engaged: true, scope: 'All', by: 'ann', reason: 'bad image' } as const;
    const stopOf = ({ conditions }: ReturnType<typeof statusOf>) =>
      conditions.find(({ type }) => type === 'KillSwitchEngaged');
    const stopped = statusOf({ allowance: allowance({ killSwitch }) });
    expect(stopOf(stopped)).toMatchObject({
      status: 'True',
      message: 'stopped from the hub by ann: bad image',
    });
    expect(stopped.phase).toBe('Ready');
    expect(stopOf(statusOf({ allowance: allowance() }))).toMatchObject({ status: 'False' });
    expect(stopOf(statusOf({}))).toBeUndefined();
  });

  it('is not Ready while it recovers, or when it could not be written', () => {
    expect(statusOf({ recovering: true, recoveringSince: ago(10) }).phase).toBe('NotReady');
    expect(statusOf({}, 'ledger not written: LedgerUnavailable').conditions[0]).toMatchObject({
      type: 'Ready',
      status: 'False',
      reason: 'NotWritten',
      message: 'ledger not written: LedgerUnavailable',
    });
  });

  it('is nearly full above four fifths of any bound, and names it', () => {
    const breaker = { state: 'Open', since: ago(60), trips: 1 } as const;
    const breakers = (count: number): DefenderLedgerSpec['breakers'] =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`p/b/${index}`, breaker]));
    expect(statusOf({ breakers: breakers(51) }).phase).toBe('Ready');
    expect(statusOf({ breakers: breakers(52) })).toMatchObject({
      phase: 'Full',
      conditions: [{}, { type: 'NearFull', status: 'True', message: 'breakers: 52 of 64' }, {}, {}],
    });
  });

  it('names the first grants that wait for a person, and how to settle them', () => {
    const waiting = ['a', 'b', 'c', 'd', 'e', 'f'].map(suspect);
    const ended: SuspectPlan = {
      ...suspect('z'),
      settlement: { id: 'g-z', fence: 1, outcome: 'Ambiguous' },
    };
    expect(statusOf({}, undefined, [ended, ...waiting]).conditions[2]?.message).toBe(
      'a: it is still active; b: it is still active; c: it is still active; d: it is still active; ' +
        'e: it is still active; and 1 more; settle with: kubenode defender settle MACHINE',
    );
    expect(statusOf({}, undefined, [ended]).phase).toBe('Ready');
  });
});

describe('the condition Unrecorded', () => {
  it.each<[what: string, recording: ActRecording, expected: string]>([
    ['acts are recorded', { dropped: 0 }, 'False Recorded: acts are in the audit record'],
    [
      'the record cannot be written',
      { problem: 'namespaces "kubenode-audit" not found', dropped: 0 },
      'True NotWritten: acts are not written to the audit record: namespaces "kubenode-audit" not found. Check the namespace kubenode-audit, and run kubenode install if it is missing',
    ],
    [
      'acts were lost before',
      { dropped: 3 },
      'False Recorded: acts are in the audit record; acts were lost, because it could not be written for long',
    ],
  ])('S30 shows in the status of the ledger whether %s', (_, recording, expected) => {
    const { conditions } = statusOf({}, undefined, [], recording);
    const found = conditions.find(({ type }) => type === 'Unrecorded');
    expect(`${found?.status} ${found?.reason}: ${found?.message}`).toBe(expected);
  });

  it('S30 is absent where no record is kept, as in a simulation', () => {
    expect(statusOf({}).conditions.map(({ type }) => type)).not.toContain('Unrecorded');
  });
});
