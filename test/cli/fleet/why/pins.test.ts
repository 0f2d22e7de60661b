import { describe, expect, it } from 'vitest';
import type {
  DefenderPolicySpec,
  LedgerGrant,
  Machine,
  MachineComponentEntry,
  MachineComponentReport,
} from '../../../../src/api/generated/types.ts';
import {
  askForPins,
  explainPins,
  type PinReason,
  type PinsInput,
} from '../../../../src/cli/fleet/why/pins.ts';
import { type Decision, decide } from '../../../../src/defender/decide.ts';
import { entriesOwnedBy, ownEntries } from '../../../controllers/componentset/managed-fields.ts';
import { entry, fleetFacts, ledgerSpec, machines, policy } from '../../../defender/builders.ts';
import { ago, component, DESIRED, machine, NOW, node, PREVIOUS } from '../../../support/builders.ts';

const ONE_AT_A_TIME: Partial<DefenderPolicySpec> = {
  concurrency: [{ name: 'one', per: 'Pool', actions: [], max: 1 }],
};
const REPORT = {
  name: 'kubelet',
  desiredRef: DESIRED.componentRef,
  currentRef: PREVIOUS.componentRef,
  digest: PREVIOUS.digest,
};
const WAITS: MachineComponentReport = {
  ...REPORT,
  state: 'WaitingForGrant',
  waiting: { reason: 'GrantNeeded', since: ago(120), message: 'staged: waits for a grant' },
};
const IN_FORCE = {
  ...REPORT,
  digest: DESIRED.digest,
  state: 'Committed',
  running: true,
  ready: true,
} as const;

/** Its kubelet is pinned by a person. */
function pinned(report: MachineComponentReport = WAITS, isPinned = true): Machine {
  const owned = isPinned ? entriesOwnedBy('ann', ['kubelet']) : ownEntries('kubelet');
  return machine('m-1', {
    metadata: { managedFields: [owned] },
    status: { agent: { observedGeneration: 1 }, components: [report] },
  });
}

function inputOf(found: Machine, grant?: LedgerGrant): PinsInput {
  return { machine: found, node: NODE, grant, find: () => undefined, now: NOW };
}

/** As the Defender knows it. */
const NODE = node('m-1', 'True', { uid: 'uid-m-1' });

interface Explained {
  readonly reasons: readonly PinReason[];
  readonly decision: Decision | undefined;
}

/** As the Defender decides while m-2 is in work. */
function explain(input: PinsInput, spec: Partial<DefenderPolicySpec> = {}): Explained {
  const policies = [policy(spec)];
  const ask = askForPins(input);
  const facts = fleetFacts(machines(4), policies);
  const ledger = ledgerSpec({ grants: { 'm-2': entry('m-2') } });
  const decision = ask && decide(policies, ledger, facts, { ask, now: NOW });
  return { reasons: explainPins(input, decision), decision };
}

describe('explainPins', () => {
  it('ROL-61 tells which limit of which policy denies a pin, how much of it is used, since when, and what unblocks it', () => {
    const { reasons, decision } = explain(inputOf(pinned()), ONE_AT_A_TIME);
    expect(decision).toMatchObject({ policy: 'fleet-default', key: 'pool web', used: 1, limit: 1 });
    const [first, ...others] = reasons;
    const { because, unblock, ...found } = first ?? { because: '', unblock: '' };
    expect(because).toMatch(/^fleet-default: pool web: 1 .*, and at most 1 allowed by limit one$/);
    expect(unblock).toContain('kubenode defender status');
    const { componentRef } = DESIRED;
    expect(found).toEqual({ component: 'kubelet', componentRef, reason: 'ConcurrencyPool', since: ago(120) });
    expect(others).toEqual([]);
  });

  it('ROL-61 names the person that stopped every act, without a policy that decided', () => {
    const killSwitch = { engaged: true, scope: 'All', reason: 'flood', by: 'ann' } as const;
    const [reason] = explain(inputOf(pinned()), { killSwitch }).reasons;
    expect(reason?.reason).toBe('KillSwitch');
    expect(reason?.because).toContain('flood');
    expect(reason?.unblock).toContain('kubenode defender resume');
  });

  it('ROL-61 tells that a pin is permitted, which its controller has not asked for yet', () => {
    const [reason] = explain(inputOf(pinned())).reasons;
    expect(reason).toMatchObject({ reason: 'GrantNeeded', because: 'the Defender permits it now' });
  });

  it('ROL-61 names the other act on a busy machine, which a pin waits for', () => {
    const { reasons, decision } = explain(inputOf(pinned(), entry('m-1')));
    expect(decision).toBeUndefined();
    expect(reasons.map((each) => each.reason)).toEqual(['MachineBusy']);
    expect(reasons[0]?.because).toContain(entry('m-1').holder.name);
    expect(reasons[0]?.unblock).toContain(entry('m-1').holder.name);
  });

  it.each<[what: string, report: MachineComponentReport, reason: string]>([
    [
      'a drain',
      { ...WAITS, state: 'WaitingForDrain', waiting: { reason: 'DrainPending', since: ago(9) } },
      'DrainPending',
    ],
    ['what is fetched', { ...REPORT, state: 'Fetching' }, 'Fetching'],
    ['probes that fail', { ...IN_FORCE, ready: false }, 'ProbesFail'],
    ['a version that was given up', { ...REPORT, state: 'RolledBack' }, 'RolledBack'],
    ['a report of another version', { ...WAITS, desiredRef: 'kubelet-0' }, 'NotReported'],
  ])('ROL-61 has one reason for a pin that is not in force: %s', (_what, report, reason) => {
    const { reasons } = explain(inputOf(pinned(report)), ONE_AT_A_TIME);
    expect(reasons.map((each) => each.reason)).toEqual([reason]);
    expect(reasons[0]?.unblock).not.toBe('');
  });

  it('ROL-61 names for each pin of a machine what holds that one up', () => {
    const runc: MachineComponentEntry = { ...component('runc', '2'), state: 'Present', parameters: {} };
    const both = machine('m-1', {
      metadata: { managedFields: [entriesOwnedBy('ann', ['kubelet', 'runc'])] },
      spec: { components: [...pinned().spec.components, runc] },
      status: {
        agent: { observedGeneration: 1 },
        components: [WAITS, { name: 'runc', desiredRef: runc.componentRef, state: 'Fetching' }],
      },
    });
    expect(explain(inputOf(both), ONE_AT_A_TIME).reasons.map((each) => each.reason)).toEqual([
      'ConcurrencyPool',
      'Fetching',
    ]);
  });

  it('ROL-61 has no reason for a pin that is in force, nor for the entry of a set', () => {
    expect(explain(inputOf(pinned(IN_FORCE)), ONE_AT_A_TIME).reasons).toEqual([]);
    expect(explain(inputOf(pinned(WAITS, false)), ONE_AT_A_TIME).reasons).toEqual([]);
  });
});
