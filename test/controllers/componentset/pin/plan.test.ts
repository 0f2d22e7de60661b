import { describe, expect, it } from 'vitest';
import type {
  LedgerGrant,
  Machine,
  MachineComponentEntry,
  MachineComponentReport,
} from '../../../../src/api/generated/types.ts';
import { entryDigest } from '../../../../src/api/machine/entry-content.ts';
import { type PinDecision, planPins } from '../../../../src/controllers/componentset/pin/plan.ts';
import { ago, component, machine, NOW } from '../../../support/builders.ts';
import { ownEntries } from '../managed-fields.ts';

const KUBELET: MachineComponentEntry = {
  ...component('kubelet', '2'),
  state: 'Present',
  parameters: {},
};
const RUNC: MachineComponentEntry = { ...component('runc', '2'), state: 'Present', parameters: {} };
const OURS = { ...RUNC, assignment: { set: 'base', revision: 'r-1' } };

const GRANT: LedgerGrant = {
  id: 'g-1',
  fence: 7,
  state: 'Started',
  holder: { kind: 'Machine', name: 'm-1', origin: 'Machine/m-1' },
  action: 'UpdateComponent',
  risk: 'Node',
  issuedAt: ago(20),
  notAfter: inSeconds(280),
};
const REPAIR: LedgerGrant = {
  ...GRANT,
  id: 'g-2',
  holder: { kind: 'RemedyOperationJob', name: 'job-1' },
  action: 'Reboot',
};
const DELETION: LedgerGrant = { ...GRANT, id: 'g-3', action: 'DeleteMachine' };

const asks = report(KUBELET, 'WaitingForGrant', { waiting: waiting('GrantNeeded') });
const drains = report(KUBELET, 'WaitingForDrain', { waiting: waiting('DrainPending') });
const activates = report(KUBELET, 'Activating');
const runs = report(KUBELET, 'Committed', { digest: KUBELET.digest, running: true, ready: true });
const sick = { ...runs, ready: false };
const rolledBack = report(KUBELET, 'RolledBack', { error: { code: 'ProbeFailed', message: 'no answer' } });
const differs = report(KUBELET, 'Staged', { waiting: waiting('HostDiffers') });
const denied = report(KUBELET, 'Staged', { waiting: waiting('Denied') });

const IN_FORCE = { type: 'Settle', outcome: 'Succeeded', grant: { id: 'g-1' } };

interface Case {
  readonly pins?: readonly MachineComponentEntry[];
  readonly reports: readonly MachineComponentReport[];
  readonly grant?: LedgerGrant;
  readonly more?: Parameters<typeof machine>[1];
}

describe('planPins', () => {
  it.each<[what: string, of: Case, decision: object]>([
    ['nothing where no entry is a pin', { pins: [], reports: [] }, { type: 'Nothing' }],
    ['nothing while the agent stages it', { reports: [report(KUBELET, 'Staged')] }, { type: 'Nothing' }],
    ['nothing when it is in force', { reports: [runs] }, { type: 'Nothing' }],
    ['nothing when the agent does not try it again', { reports: [denied] }, { type: 'Nothing' }],
    ['an ask when the agent needs one', { reports: [asks] }, { type: 'Ask', names: ['kubelet'] }],
    [
      'an ask after the grant of another holder is settled',
      { reports: [asks], grant: { ...REPAIR, state: 'Settled' } },
      { type: 'Ask', names: ['kubelet'] },
    ],
    [
      'one ask for all pins that are not at their end',
      { pins: [KUBELET, RUNC], reports: [asks] },
      { type: 'Ask', names: ['kubelet', 'runc'] },
    ],
    [
      'no ask by a report of another version of the pin',
      { reports: [{ ...asks, desiredRef: 'kubelet-1' }] },
      { type: 'Nothing' },
    ],
    [
      'no ask before the agent has acted on the newest entries',
      { reports: [asks], more: { metadata: { generation: 9 } } },
      { type: 'Nothing' },
    ],
    [
      'no ask on a Machine that is being deleted',
      { reports: [asks], more: { metadata: { deletionTimestamp: ago(1) } } },
      { type: 'Nothing' },
    ],
    [
      'a wait for a repair, which is named',
      { reports: [asks], grant: REPAIR },
      {
        type: 'Wait',
        because: 'the machine has grant g-2 of RemedyOperationJob job-1',
        blocker: { kind: 'RemedyOperationJob', name: 'job-1' },
      },
    ],
    [
      'a wait for the deletion of the same Machine: another act of the same holder',
      { reports: [asks], grant: DELETION },
      { type: 'Wait', because: 'the machine has grant g-3 of Machine m-1' },
    ],
    [
      'the grant that the ledger has, after a crash or a plain kubectl apply',
      { reports: [asks], grant: GRANT },
      { type: 'Permit', names: ['kubelet'], renew: false, grant: { id: 'g-1', fence: 7 } },
    ],
    [
      'the same grant for a pin that was changed while it runs',
      { pins: [permitted({ ...KUBELET, parameters: { a: 'old' } }, KUBELET)], reports: [asks], grant: GRANT },
      { type: 'Permit', names: ['kubelet'], renew: false },
    ],
    [
      'a wait while the machine is drained',
      { pins: [permitted(KUBELET)], reports: [drains], grant: GRANT },
      { type: 'Wait' },
    ],
    [
      'a wait while the ledger is not observed yet',
      { pins: [permitted(KUBELET)], reports: [drains] },
      { type: 'Wait' },
    ],
    [
      'a renewal in the second half of the life of the grant',
      { pins: [permitted(KUBELET)], reports: [drains], grant: { ...GRANT, notAfter: inSeconds(149) } },
      { type: 'Permit', names: ['kubelet'], renew: true },
    ],
    [
      'a renewal only of what is permitted, before the agent has acted on the newest entries',
      {
        pins: [permitted(KUBELET), RUNC],
        reports: [drains],
        grant: { ...GRANT, notAfter: inSeconds(149) },
        more: { metadata: { generation: 9 } },
      },
      { type: 'Permit', names: ['kubelet'], renew: true },
    ],
    ['the end when it is in force', { pins: [permitted(KUBELET)], reports: [runs], grant: GRANT }, IN_FORCE],
    [
      'the end in the ledger, after a crash between the two writes',
      { reports: [runs], grant: GRANT },
      IN_FORCE,
    ],
    [
      'no end by the report of before',
      { pins: [permitted(KUBELET)], reports: [runs], grant: GRANT, more: { metadata: { generation: 9 } } },
      { type: 'Wait' },
    ],
    [
      'no end while another pin is in work',
      { pins: [permitted(KUBELET), permitted(RUNC)], reports: [runs], grant: GRANT },
      { type: 'Wait' },
    ],
    [
      'a failure when the agent went back, with its error',
      { pins: [permitted(KUBELET)], reports: [rolledBack], grant: GRANT },
      { type: 'Settle', outcome: 'Failed', because: 'kubelet: no answer' },
    ],
    [
      'a failure when it is in force and its probes fail',
      { pins: [permitted(KUBELET)], reports: [sick], grant: GRANT },
      { type: 'Settle', outcome: 'Failed', because: 'probes of kubelet fail' },
    ],
    [
      'an unused grant where the host is adopted and differs',
      { pins: [permitted(KUBELET)], reports: [differs], grant: GRANT },
      { type: 'Settle', outcome: 'Unused', because: 'kubelet: waits' },
    ],
    [
      'a success where another pin is in force beside one that differs',
      {
        pins: [permitted(KUBELET), permitted(RUNC)],
        reports: [differs, { ...runs, name: 'runc', desiredRef: RUNC.componentRef, digest: RUNC.digest }],
        grant: GRANT,
      },
      { type: 'Settle', outcome: 'Succeeded', because: 'kubelet: waits' },
    ],
    [
      'the end of a grant whose pin was removed',
      { pins: [], reports: [runs], grant: GRANT },
      { type: 'Settle', outcome: 'Ambiguous', because: 'the machine has no pin any more' },
    ],
    [
      'the end when the Machine is deleted, so that its deletion may ask',
      {
        pins: [permitted(KUBELET)],
        reports: [drains],
        grant: GRANT,
        more: { metadata: { deletionTimestamp: ago(1) } },
      },
      { type: 'Settle', outcome: 'Ambiguous' },
    ],
    [
      'the end in the entries, when the ledger has given the machine to another holder',
      { pins: [permitted(KUBELET)], reports: [drains], grant: REPAIR },
      { type: 'Settle', outcome: 'Ambiguous', grant: { id: 'g-1' } },
    ],
    [
      'the end when it takes too long to begin',
      { pins: [permitted(KUBELET)], reports: [drains], grant: { ...GRANT, issuedAt: ago(901) } },
      {
        type: 'Settle',
        outcome: 'Failed',
        because: 'not at its end after 900 s: kubelet is WaitingForDrain: waits',
      },
    ],
    [
      'a renewal where the agent is in the middle, also when it takes too long',
      {
        pins: [permitted(KUBELET)],
        reports: [activates],
        grant: { ...GRANT, issuedAt: ago(901), notAfter: inSeconds(100) },
      },
      { type: 'Permit', renew: true },
    ],
    [
      'the end of a pin that asks for the removal, when it is removed',
      {
        pins: [permitted({ ...KUBELET, state: 'Absent' })],
        reports: [report(KUBELET, 'Absent')],
        grant: GRANT,
      },
      IN_FORCE,
    ],
  ])('ROL-06 permits pins by one grant of the Machine: %s', (_what, of, decision) => {
    expect(decide(of)).toMatchObject(decision);
  });

  it('ROL-06 leaves an entry of a set that waits for a grant to its set', () => {
    const waits = report(RUNC, 'WaitingForGrant', { waiting: waiting('GrantNeeded') });
    const managedFields = [ownEntries('runc')];
    expect(
      planPins({
        machine: machineOf({ pins: [OURS], reports: [waits], more: { metadata: { managedFields } } }),
        now: NOW,
      }),
    ).toMatchObject({ type: 'Nothing' });
  });
});

function decide({ grant, ...of }: Case): PinDecision {
  return planPins({ machine: machineOf(of), ...(grant && { ledgerGrant: grant }), now: NOW });
}

function machineOf({ pins = [KUBELET], reports, more = {} }: Case): Machine {
  return machine('m-1', {
    ...more,
    metadata: { managedFields: [], ...more.metadata },
    spec: { components: pins },
    status: { components: reports, agent: { observedGeneration: 1 } },
  });
}

/** With the grant for that content. */
function permitted(entry: MachineComponentEntry, of = entry): MachineComponentEntry {
  const { id, fence, notAfter } = GRANT;
  return { ...entry, grant: { id, fence, notAfter, entryDigest: entryDigest(of) } };
}

function report(
  { name, componentRef }: MachineComponentEntry,
  state: NonNullable<MachineComponentReport['state']>,
  more: Partial<MachineComponentReport> = {},
): MachineComponentReport {
  return { name, desiredRef: componentRef, currentRef: 'kubelet-1', state, ...more };
}

function waiting(reason: string): NonNullable<MachineComponentReport['waiting']> {
  return { reason, message: 'waits', since: ago(1) };
}

function inSeconds(seconds: number): string {
  return ago(-seconds);
}
