import { describe, expect, it } from 'vitest';
import { MEMBERS, type PlaneMember } from '../../../../../src/controllers/hosting/drivers/driver.ts';
import type {
  AuthorityProof,
  RotationPhase,
  RotationReport,
} from '../../../../../src/controllers/hosting/drivers/rotation.ts';
import type { HostingInput } from '../../../../../src/controllers/hosting/plan/input.ts';
import { planHosting } from '../../../../../src/controllers/hosting/plan/plan.ts';
import { NOW } from '../../../../support/builders.ts';
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
/** What agents find where nothing else is named. */
const SIGNED = { document: 'd', signatures: 's' };
const NO_CLIENTS = { nodes: [], machines: [], tokens: [] };
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
    isSigned: true,
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
  const signed = plane?.rotation ? { authorities: SIGNED } : {};
  return hostingInput({
    hosted: { replicas, pki: { ...HOSTED.pki, ...caRotation }, upgrade: { ...HOSTED.upgrade, ...upgrade } },
    status: { conditions: [], ...READY, ...status },
    plane: { ...signed, ...plane },
    input: {
      clients: NO_CLIENTS,
      canary: 'Passed',
      addons: { installed: [], hasNodes: false },
      inside: { ...INSIDE, ...signed },
      ...more,
    },
  });
}

function decide(parts: Parts): string {
  return decisionText(planHosting(input(parts)));
}

function at(phase: RotationPhase, parts: Partial<RotationReport> = {}): Parts['plane'] {
  return { rotation: rotation(phase, parts) };
}

const SEEN = 'a client sees it at every member';

/** Agents of an earlier version, which report nothing of their authorities. */
function oldAgents(count: number): HostingInput['clients'] {
  const machines = Array.from({ length: count }, (_, index) => ({
    name: `m-${index}`,
    agent: { version: '0.1.0' },
  }));
  return { nodes: [], machines, tokens: [] };
}

/** Each phase, with what the spec asks for in it. */
const PHASES: readonly [phase: RotationPhase, target: Target | undefined][] = [
  ['TrustBoth', 'Prepare'],
  ['IssueNew', 'Complete'],
  ['ServeNew', 'Complete'],
  ['TrustNew', 'Complete'],
  ['TrustBoth', undefined],
  ['TrustOld', undefined],
];

describe('the rotation of authorities', () => {
  const several = (phase: RotationPhase, but = {}, parts: Partial<RotationReport> = {}): Parts => {
    const found = severalServers(2, but);
    const proofs = found.map(({ member }) => ({ member, ...TRUSTED[phase] }));
    return { replicas: 2, plane: { members: found, ...at(phase, { proofs, ...parts }) } };
  };

  it.each<[phase: RotationPhase, target: Target | undefined, decision: string]>([
    ['TrustBoth', 'Prepare', `Rotate IssueNew: ${SEEN}`],
    ['IssueNew', 'Prepare', 'nothing'],
    ['IssueNew', 'Complete', 'Rotate ServeNew: every client has what the new authorities issue'],
    ['ServeNew', 'Complete', 'Rotate TrustNew: every client has what the new authorities issue'],
    ['TrustNew', 'Complete', `Rotate Completed: ${SEEN}`],
    ['IssueNew', undefined, 'Rotate TrustBoth: the spec does not ask for this rotation any more'],
    ['TrustOld', undefined, `Rotate Aborted: ${SEEN}`],
  ])('HOS-22 leaves %s (%s) when every API server of several is proven', (phase, target, decision) => {
    expect(decide({ ...several(phase), target })).toBe(decision);
  });

  it.each<[what: string, parts: Parts, decision: string]>([
    [
      'one of them is not proven, though the other is',
      several(
        'TrustNew',
        {},
        { proofs: rotation('TrustNew').proofs.filter(({ member }) => member !== 'kube-apiserver-1') },
      ),
      'wait AuthoritiesNotProven',
    ],
    [
      'one of them serves the former certificate',
      several('ServeNew', {
        'kube-apiserver-1': { certificate: { serial: 'old', expectedSerial: 'new', notAfter: NOW } },
      }),
      'wait AuthoritiesNotProven',
    ],
    [
      'a balancer does not trust what one of them serves',
      several('ServeNew', { 'kubenode-balancer': { reaches: ['kube-apiserver-1'] } }),
      'wait ApiServerDown',
    ],
  ])('HOS-22 goes no further with several API servers while %s', (_, parts, decision) => {
    expect(decide({ ...parts, target: 'Complete' })).toBe(decision);
  });

  it('HOS-22 begins when the number of API servers is that of the spec, and with the balancers that stay', () => {
    const begins = 'Rotate TrustBoth: spec.hosted.pki.caRotation asks for the rotation 2026';
    const two = { members: severalServers(2) };
    expect(decide({ target: 'Prepare', plane: two, replicas: 2 })).toBe(begins);
    expect(decide({ target: 'Prepare', plane: { members: severalServers(1) } })).toBe(begins);
    expect(decide({ target: 'Prepare', replicas: 2 })).toBe(
      'SetApiServers 2: the spec differs: replicas is 1, not 2',
    );
    expect(decide({ target: 'Prepare', plane: two })).toBe(
      'Stop kube-apiserver-1: the spec differs: replicas is 2, not 1',
    );
    const added = {
      'kube-apiserver-1': { state: 'Stopped', starts: [] },
      'kube-apiserver': { isDirect: true },
      'kubenode-balancer': { state: 'Stopped' },
      'kubenode-balancer-1': { state: 'Stopped' },
    } as const;
    const growing = { members: severalServers(2, added) };
    expect(decide({ target: 'Prepare', replicas: 2, plane: growing })).toBe(
      'Start kube-apiserver-1: it is not running',
    );
  });

  it('HOS-22 keeps the number of API servers until it is over, and names itself', () => {
    expect(decide({ target: 'Prepare', replicas: 2, plane: at('IssueNew') })).toBe('wait RotationInWork');
    expect(decide({ replicas: 2, plane: at('TrustBoth', { hasIssued: true }) })).toBe(
      `Rotate TrustOld: ${SEEN}`,
    );
    expect(decide({ target: 'Complete', replicas: 2, plane: at('Completed') })).toBe(
      'SetApiServers 2: the spec differs: replicas is 1, not 2',
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
    ['Machines', { target: 'Prepare', input: { clients: oldAgents(1) } }, 'stalled RotationNotSupported'],
    [
      'a Node that joined meanwhile',
      {
        target: 'Prepare',
        plane: at('TrustBoth'),
        input: { clients: { nodes: ['n-1'], machines: [], tokens: [] } },
      },
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
        input: { clients: { nodes: [], machines: [], tokens: [{ name: 'default/bot', keyId: 'old' }] } },
      },
      'wait ClientsBehind',
    ],
    [
      'a Node that joined after its end began',
      {
        target: 'Complete',
        plane: at('ServeNew'),
        input: { clients: { nodes: ['n-1'], machines: [], tokens: [] } },
      },
      'wait ClientsBehind',
    ],
    [
      'a Node that joined before its end',
      {
        target: 'Complete',
        plane: at('IssueNew'),
        input: { clients: { nodes: ['n-1'], machines: [], tokens: [] } },
      },
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

  it('HOS-22 names the Machines that it would strand, and their count', () => {
    const { wait } = planHosting(input({ target: 'Prepare', input: { clients: oldAgents(25) } }));
    expect(wait?.message).toContain('25 agents or kubelets cannot follow the authorities');
    expect(wait?.message).toContain('Machine m-0 (its agent of version 0.1.0 reports no authorities), ');
    expect(wait?.message).toContain('remove spec.hosted.pki.caRotation');
  });

  it.each<[phase: RotationPhase, target: Target | undefined, next: string]>([
    ['TrustBoth', 'Prepare', 'wait ClientsBehind'],
    ['IssueNew', 'Complete', 'wait ClientsBehind'],
    ['ServeNew', 'Complete', 'wait ClientsBehind'],
    ['TrustBoth', undefined, 'wait ClientsBehind'],
    // Every client already has the authority that is trusted next.
    ['TrustNew', 'Complete', `Rotate Completed: ${SEEN}`],
    ['TrustOld', undefined, `Rotate Aborted: ${SEEN}`],
  ])('HOS-22 leaves %s (%s) only when every agent has followed', (phase, target, next) => {
    const authorities = { managed: true, trusted: ['a'], kubelet: 'None' as const };
    const machines = [{ name: 'm-1', agent: { authorities }, heartbeat: 'Renewed' as const, heardAt: NOW }];
    const clients = { nodes: [], machines, tokens: [] };
    expect(decide({ target, plane: at(phase, { hasIssued: true }), input: { clients } })).toBe(next);
  });

  it.each(PHASES)('HOS-22 publishes %s (%s) before anything else begins', (phase, target) => {
    const decision = decide({ target, plane: at(phase, { isSigned: false, hasIssued: true }) });
    expect(decision).toBe(`PublishAuthorities: agents are to follow the phase ${phase}`);
  });

  it.each(PHASES)(
    'HOS-22 installs our kinds again before %s (%s) is published and left, when hosting was upgraded in it',
    (phase, target) => {
      const inside = { ...INSIDE, authorities: SIGNED, isInstalled: false };
      const plane = at(phase, { isSigned: false, hasIssued: true });
      expect(decide({ target, plane, input: { inside } })).toBe(
        'Install: our kinds, roles and policies are not those of this version',
      );
    },
  );

  it.each(PHASES)('HOS-22 does not leave %s (%s) before agents find what was signed', (phase, target) => {
    const plane = at(phase, { hasIssued: true });
    const differs = 'PublishAuthorities: what agents follow is not what was signed';
    expect(decide({ target, plane, input: { inside: INSIDE } })).toBe(differs);
    const inside = { ...INSIDE, isInstalled: false };
    expect(decide({ target, plane, input: { inside } })).toMatch(/^Install/);
  });

  it('HOS-22 installs our kinds before our controllers, which were stopped for the phase, start again', () => {
    const inside = { ...INSIDE, isInstalled: false, controllersLead: false };
    const stopped = members({ 'kubenode-controllers': { state: 'Stopped', certificate: undefined } });
    const plane = {
      ...at('TrustBoth', { behind: ['kubenode-controllers'], isSigned: false }),
      members: stopped,
    };
    expect(decide({ target: 'Prepare', plane, input: { inside } })).toMatch(/^Install/);
  });

  it('HOS-22 is not begun before our kinds are those of this version', () => {
    const inside = { ...INSIDE, isInstalled: false };
    expect(decide({ target: 'Prepare', input: { inside } })).toMatch(/^Install/);
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
