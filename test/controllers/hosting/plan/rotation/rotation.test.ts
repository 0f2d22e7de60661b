import { describe, expect, it } from 'vitest';
import { MEMBERS, type PlaneMember } from '../../../../../src/controllers/hosting/drivers/driver.ts';
import type {
  AuthorityProof,
  RotationPhase,
  RotationReport,
} from '../../../../../src/controllers/hosting/drivers/rotation.ts';
import type { HostingInput } from '../../../../../src/controllers/hosting/plan/input.ts';
import { planHosting } from '../../../../../src/controllers/hosting/plan/plan.ts';
import {
  certificates,
  decisionText,
  freeze,
  HOSTED,
  hostingInput,
  INSIDE,
  members,
  severalServers,
  stoppedMember,
} from '../../../../support/hosting/objects.ts';

type Target = 'Prepare' | 'Complete';

const READY = { hosted: { readyAt: '2029-12-01T00:00:00Z' } };
const NO_CLIENTS = { nodes: [], tokens: [] };
const TRUSTED: Readonly<Record<RotationPhase, Omit<AuthorityProof, 'member'>>> = {
  TrustBoth: { old: 'Accepted', new: 'Accepted' },
  IssueNew: { old: 'Accepted', new: 'Accepted' },
  ServeNew: { old: 'Accepted', new: 'Accepted' },
  TrustNew: { old: 'Refused', new: 'Accepted' },
  TrustOld: { old: 'Accepted', new: 'Refused' },
  Completed: { old: 'Refused', new: 'Accepted' },
};

function rotation(phase: RotationPhase, parts: Partial<RotationReport> = {}): RotationReport {
  const proofs = MEMBERS.filter((member) => member !== 'kubenode-controllers').map((member) => ({
    member,
    ...TRUSTED[phase],
  }));
  const hasIssued = phase !== 'TrustBoth';
  return {
    id: '2026',
    phase,
    isApplied: true,
    isEnding: false,
    hasIssued,
    behind: [],
    proofs,
    tokenKeyId: 'new',
    ...parts,
  };
}

interface Parts {
  readonly target?: Target | undefined;
  readonly replicas?: number;
  readonly id?: string;
  readonly plane?: Partial<HostingInput['plane']> | undefined;
  readonly input?: Partial<HostingInput>;
  readonly status?: object;
  readonly upgrade?: Partial<typeof HOSTED.upgrade>;
}

function input({
  target,
  replicas = 1,
  id = '2026',
  plane,
  input: more,
  status = {},
  upgrade,
}: Parts = {}): HostingInput {
  const caRotation = target && { caRotation: { id, target } };
  return hostingInput({
    hosted: { replicas, pki: { ...HOSTED.pki, ...caRotation }, upgrade: { ...HOSTED.upgrade, ...upgrade } },
    status: { conditions: [], ...READY, ...status },
    plane: { ...plane },
    input: { clients: NO_CLIENTS, canary: 'Passed', addons: { installed: [], hasNodes: false }, ...more },
  });
}

function decide(parts: Parts): string {
  return decisionText(planHosting(input(parts)));
}

function at(phase: RotationPhase, parts: Partial<RotationReport> = {}): Parts['plane'] {
  return { rotation: rotation(phase, parts) };
}

const SEEN = 'a client sees it at every member';

describe('the rotation of authorities', () => {
  it('HOS-22 waits where there are several API servers, or are to be, and for no balancer', () => {
    const several = { members: severalServers(2) };
    expect(decide({ target: 'Prepare', plane: several, replicas: 2 })).toBe('stalled NotSupported');
    expect(decide({ target: 'Prepare', replicas: 2 })).toBe('stalled NotSupported');
    expect(decide({ target: 'Prepare', plane: several })).toBe(
      'Stop kube-apiserver-1: the spec differs: replicas is 2, not 1',
    );
    const balanced = { members: severalServers(1) };
    expect(decide({ target: 'Prepare', plane: { ...balanced, ...at('TrustBoth') } })).toBe(
      `Rotate IssueNew: ${SEEN}`,
    );
    expect(decide({ replicas: 2, plane: at('TrustBoth', { hasIssued: true }) })).toBe(
      `Rotate TrustOld: ${SEEN}`,
    );
  });

  it.each<[what: string, parts: Parts, decision: string]>([
    ['nothing without a request', {}, 'nothing'],
    ['nothing for one that this control plane never began', { target: 'Complete' }, 'nothing'],
    ['nothing for one that is over', { target: 'Complete', plane: at('Completed') }, 'nothing'],
    [
      'nothing for one that is over, and asked for again',
      { target: 'Prepare', plane: at('Completed') },
      'nothing',
    ],
    [
      'the phase in which both are trusted, first',
      { target: 'Prepare' },
      'Rotate TrustBoth: spec.hosted.pki.caRotation asks for the rotation 2026',
    ],
    [
      'another one after one that is over',
      { target: 'Prepare', id: '2027', plane: at('Completed') },
      'Rotate TrustBoth: spec.hosted.pki.caRotation asks for the rotation 2027',
    ],
    [
      'the files of a phase again that were not all written',
      { target: 'Prepare', plane: at('TrustBoth', { isApplied: false, proofs: [] }) },
      'Rotate TrustBoth: its files were not all written',
    ],
    [
      'one restart at a time',
      { target: 'Prepare', plane: at('TrustBoth', { behind: ['etcd', 'kube-apiserver'] }) },
      'Stop etcd: it is to trust the former and the new authorities',
    ],
    [
      'no restart before all others answer',
      {
        target: 'Prepare',
        plane: {
          ...at('TrustBoth', { behind: ['kube-apiserver'] }),
          members: members({ etcd: { state: 'Starting', unreadySince: undefined } }),
        },
      },
      'wait MemberStarting',
    ],
    [
      'the new ones once both are trusted',
      { target: 'Prepare', plane: at('TrustBoth') },
      `Rotate IssueNew: ${SEEN}`,
    ],
    ['nothing after it without a target', { target: 'Prepare', plane: at('IssueNew') }, 'nothing'],
    [
      'their certificates at the API server, when a person asks for it',
      { target: 'Complete', plane: at('IssueNew') },
      'Rotate ServeNew: every client has what the new authorities issue',
    ],
    [
      'the new ones only, when a client sees these certificates',
      { target: 'Complete', plane: at('ServeNew') },
      'Rotate TrustNew: every client has what the new authorities issue',
    ],
    [
      'an end that was interrupted',
      { target: 'Complete', plane: at('TrustNew', { isEnding: true, proofs: [] }) },
      'Rotate Completed: its end was begun',
    ],
    ['the end', { target: 'Complete', plane: at('TrustNew') }, `Rotate Completed: ${SEEN}`],
    [
      'the end also when the spec does not ask for it any more: there is only this way',
      { plane: at('TrustNew') },
      `Rotate Completed: ${SEEN}`,
    ],
  ])('HOS-22 plans one step after the other: %s', (_, parts, decision) => {
    expect(decide(parts)).toBe(decision);
  });

  it.each<[what: string, parts: Parts, decision: string]>([
    [
      'former authorities only, when nothing new was issued',
      { plane: at('TrustBoth') },
      'Rotate TrustOld: the spec does not ask for this rotation any more',
    ],
    [
      'also while a member ends again and again',
      {
        plane: {
          ...at('TrustBoth', { behind: ['etcd'] }),
          members: [stoppedMember('etcd', { starts: [1, 2, 3].map(() => hostingInput().now) })],
        },
      },
      'Rotate TrustOld: the spec does not ask for this rotation any more',
    ],
    [
      'the former ones issue again first',
      { plane: at('IssueNew') },
      'Rotate TrustBoth: the spec does not ask for this rotation any more',
    ],
    [
      'also when the API server serves a new certificate',
      { plane: at('ServeNew') },
      'Rotate TrustBoth: the spec does not ask for this rotation any more',
    ],
    [
      'for another rotation, too',
      { target: 'Prepare', id: '2027', plane: at('IssueNew') },
      'Rotate TrustBoth: the spec does not ask for this rotation any more',
    ],
    [
      'only after every member uses what the former ones issued',
      { plane: at('TrustBoth', { hasIssued: true, behind: ['kube-scheduler'] }) },
      'Stop kube-scheduler: it is to trust the former and the new authorities',
    ],
    ['then the former only', { plane: at('TrustBoth', { hasIssued: true }) }, `Rotate TrustOld: ${SEEN}`],
    [
      'its end, which was interrupted',
      { plane: at('TrustOld', { isEnding: true, proofs: [] }) },
      'Rotate Aborted: its end was begun',
    ],
    ['and nothing is left', { plane: at('TrustOld') }, `Rotate Aborted: ${SEEN}`],
    [
      'in a freeze as well',
      { plane: at('IssueNew'), upgrade: { freezes: [freeze()] } },
      'Rotate TrustBoth: the spec does not ask for this rotation any more',
    ],
  ])('HOS-22 is taken back before the former are refused: %s', (_, parts, decision) => {
    expect(decide(parts)).toBe(decision);
  });

  const unproven = (phase: RotationPhase, member: PlaneMember, proof: object): Parts['plane'] => {
    const { proofs } = rotation(phase);
    return at(phase, {
      proofs: proofs.map((each) => (each.member === member ? { ...each, ...proof } : each)),
    });
  };

  it.each<[what: string, phase: RotationPhase, proof: object]>([
    ['does not trust the new one', 'TrustBoth', { new: 'Refused' }],
    ['does not trust the former one', 'IssueNew', { old: 'Refused' }],
    ['still trusts the former one', 'TrustNew', { old: 'Accepted' }],
    ['did not answer about the former one', 'TrustNew', { old: 'Unknown' }],
    ['still trusts the new one', 'TrustOld', { new: 'Accepted' }],
  ])('HOS-22 goes no further while a member %s', (_, phase, proof) => {
    const target = phase === 'TrustOld' ? undefined : 'Complete';
    const plane = unproven(phase, 'kube-scheduler', proof);
    expect(decide({ target, plane })).toBe('wait AuthoritiesNotProven');
  });

  it('HOS-22 goes no further while a member serves a former certificate', () => {
    const certificate = { serial: 'old', expectedSerial: 'new', notAfter: hostingInput().now };
    const served = members({ 'kube-scheduler': { certificate } });
    const issued = certificates({ apiserver: { issuedAt: hostingInput().now } });
    const plane = { ...at('IssueNew'), members: served, certificates: issued };
    expect(decide({ target: 'Complete', plane })).toBe('wait AuthoritiesNotProven');
  });

  it('HOS-22 goes no further while a write, a read and a watch do not work', () => {
    const canary = { problem: 'no answer' };
    expect(decide({ target: 'Prepare', plane: at('TrustBoth'), input: { canary } })).toBe(
      'wait CanaryFailed',
    );
  });

  const held = { target: 'Prepare', upgrade: { freezes: [freeze()] } } as const;

  it.each<[what: string, parts: Parts, decision: string]>([
    ['a freeze', held, 'wait Freeze'],
    ['a freeze, before its end', { ...held, target: 'Complete', plane: at('IssueNew') }, 'wait Freeze'],
    [
      'a freeze does not hold what is in work',
      { ...held, plane: at('TrustBoth') },
      `Rotate IssueNew: ${SEEN}`,
    ],
    ['the kill switch', { target: 'Prepare', input: { halt: 'anna: incident' } }, 'wait KillSwitch'],
    [
      'the kill switch, at a restart',
      { target: 'Prepare', plane: at('TrustBoth', { behind: ['etcd'] }), input: { halt: 'anna: incident' } },
      'wait KillSwitch',
    ],
    [
      'Machines',
      { target: 'Prepare', input: { inside: { ...INSIDE, machines: ['m-1'] } } },
      'stalled RotationNotSupported',
    ],
    [
      'a Node that joined meanwhile',
      { target: 'Prepare', plane: at('TrustBoth'), input: { clients: { nodes: ['n-1'], tokens: [] } } },
      'stalled RotationNotSupported',
    ],
    [
      'clients that could not be read',
      { target: 'Prepare', input: { clients: undefined } },
      'wait ClientsUnknown',
    ],
    [
      'clients that could not be read, at its end',
      { target: 'Complete', plane: at('IssueNew'), input: { clients: undefined } },
      'wait ClientsUnknown',
    ],
    [
      'a token that the former key signed',
      {
        target: 'Complete',
        plane: at('IssueNew'),
        input: { clients: { nodes: [], tokens: [{ name: 'default/bot', keyId: 'old' }] } },
      },
      'wait ClientsBehind',
    ],
    [
      'a Node that joined after its end began',
      { target: 'Complete', plane: at('ServeNew'), input: { clients: { nodes: ['n-1'], tokens: [] } } },
      'wait ClientsBehind',
    ],
    [
      'a Node that joined before its end',
      { target: 'Complete', plane: at('IssueNew'), input: { clients: { nodes: ['n-1'], tokens: [] } } },
      'wait ClientsBehind',
    ],
    [
      'a sync that did not reach the cluster with its new kubeconfig',
      {
        target: 'Complete',
        plane: at('IssueNew'),
        status: { sync: { lastContactAt: '2029-12-31T00:00:00Z' } },
        input: { secretWrittenAt: new Date('2030-01-01T00:00:00Z') },
      },
      'wait ClientsBehind',
    ],
  ])('HOS-22 is held, and the reason is named: %s', (_, parts, decision) => {
    expect(decide(parts)).toBe(decision);
  });

  it('HOS-22 names the Machines that it would strand, the first 20 and their count', () => {
    const machines = Array.from({ length: 25 }, (_, index) => `m-${index}`);
    const { wait } = planHosting(input({ target: 'Prepare', input: { inside: { ...INSIDE, machines } } }));
    expect(wait?.message).toContain('25 would lose their access: Machine m-0, ');
    expect(wait?.message).toContain('remove spec.hosted.pki.caRotation');
  });

  it('HOS-22 never mixes with a change of version: one begins after the other', () => {
    const upgrade = { from: 'v1.35.4', to: 'v1.36.3', step: 'Snapshot', digest: 'x' };
    const status = { hosted: { ...READY.hosted, upgrade } };
    expect(decide({ target: 'Prepare', status })).not.toMatch(/^Rotate/);
    const differences = ['version v1.36.3, not v1.36.4'];
    const moving = { ...at('TrustBoth', { behind: ['etcd'] }), differences };
    expect(decide({ target: 'Prepare', plane: moving })).toMatch(/^Stop etcd/);
  });
});
