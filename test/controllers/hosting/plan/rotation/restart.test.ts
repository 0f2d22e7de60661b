import { describe, expect, it } from 'vitest';
import type { MemberReport, PlaneMember } from '../../../../../src/controllers/hosting/drivers/driver.ts';
import type {
  AuthorityProof,
  RotationPhase,
  RotationReport,
} from '../../../../../src/controllers/hosting/drivers/rotation.ts';
import type { HostingInput } from '../../../../../src/controllers/hosting/plan/input.ts';
import {
  planFormerBalancer,
  planRestart,
  unprovenWait,
} from '../../../../../src/controllers/hosting/plan/rotation/restart.ts';
import { planRotation } from '../../../../../src/controllers/hosting/plan/rotation/rotation.ts';
import { optional } from '../../../../../src/kube/objects/optional.ts';
import {
  decisionText,
  HOSTED,
  hostingInput,
  ROTATION,
  severalServers,
} from '../../../../support/hosting/objects.ts';

const BOTH: Omit<AuthorityProof, 'member'> = { old: 'Accepted', new: 'Accepted' };
const SERVERS = ['kube-apiserver', 'kube-apiserver-1'] as const;
const REST = ['kube-controller-manager', 'kube-scheduler', 'kubenode-controllers'] as const;
const FAILS = (member: (typeof SERVERS)[number]): HostingInput['canary'] => ({
  member,
  problem: 'no answer',
});

interface Parts {
  readonly phase?: RotationPhase;
  /** Whether the spec asks for the rotation still. */
  readonly isAsked?: boolean;
  readonly behind?: readonly PlaneMember[];
  readonly proofs?: Partial<Record<PlaneMember, Partial<AuthorityProof>>>;
  readonly but?: Partial<Record<PlaneMember, Partial<MemberReport>>>;
  readonly servers?: number;
  readonly members?: readonly MemberReport[];
  readonly canary?: HostingInput['canary'];
  readonly halt?: string;
  readonly programs?: HostingInput['plane']['programs'];
  readonly etcd?: HostingInput['plane']['etcd'];
  readonly place?: HostingInput['plane']['place'];
}

type AskedParts = Required<Pick<Parts, 'phase' | 'isAsked' | 'behind' | 'proofs' | 'but' | 'servers'>>;

const DEFAULTS: AskedParts = {
  phase: 'TrustBoth',
  isAsked: true,
  behind: [],
  proofs: {},
  but: {},
  servers: 2,
};

function rotationOf(
  { phase, isAsked, behind, proofs }: AskedParts,
  members: readonly MemberReport[],
): RotationReport {
  const hasIssued = phase !== 'TrustBoth' || !isAsked;
  const state = { isApplied: true, isEnding: false, isSigned: false, hasIssued };
  const proven = members.map(({ member }) => ({ member, ...BOTH, ...proofs[member] }));
  return { id: '2026', phase, ...state, behind, proofs: proven };
}

function planned(parts: Parts): string {
  const asked = { ...DEFAULTS, ...parts };
  const { servers, isAsked } = asked;
  const members = parts.members ?? severalServers(servers, asked.but);
  const rotation = rotationOf(asked, members);
  const caRotation = isAsked ? { caRotation: { id: '2026', target: 'Prepare' as const } } : {};
  const input = hostingInput({
    hosted: { replicas: servers, pki: { ...HOSTED.pki, ...caRotation } },
    plane: {
      rotation,
      members,
      ...optional('programs', parts.programs),
      ...optional('etcd', parts.etcd),
      ...optional('place', parts.place),
    },
    input: { canary: 'canary' in parts ? parts.canary : 'Passed', halt: parts.halt },
  });
  return decisionText(planRestart(input, rotation) ?? {});
}

/** Returns what is planned where only the first balancer tells which API servers it finds ready. */
function formerBalancer(phase: RotationPhase, but: Parts['but'] = {}): string {
  const balancers = { 'kubenode-balancer': { reaches: SERVERS }, ...but };
  const plane = { members: severalServers(2, balancers), rotation: { ...ROTATION, phase } };
  return decisionText(planFormerBalancer(hostingInput({ hosted: { replicas: 2 }, plane })) ?? {});
}

const TRUST = 'it is to trust the former and the new authorities';

describe('the restarts of a phase of a rotation', () => {
  it.each<[what: string, parts: Parts, decision: string]>([
    ['none when every member was started', {}, 'nothing'],
    ['etcd first', { behind: ['etcd', ...SERVERS, ...REST] }, `Stop etcd: ${TRUST}`],
    ['the first API server', { behind: [...SERVERS, ...REST] }, `Stop kube-apiserver: ${TRUST}`],
    [
      'the next one when the first is shown to trust both',
      { behind: ['kube-apiserver-1', ...REST] },
      `Stop kube-apiserver-1: ${TRUST}`,
    ],
    [
      'the third of three',
      { servers: 3, behind: ['kube-apiserver-2', ...REST] },
      `Stop kube-apiserver-2: ${TRUST}`,
    ],
    [
      'an API server that is a pod, which its hub replaces',
      { behind: [...SERVERS, ...REST], place: 'Namespace' },
      `Restart kube-apiserver: ${TRUST}`,
    ],
    ['the managers then', { behind: REST }, `Stop kube-controller-manager: ${TRUST}`],
    [
      'a balancer of an earlier version, which reads its authorities once',
      { behind: ['kubenode-balancer', 'kube-apiserver'] },
      `Stop kubenode-balancer: ${TRUST}`,
    ],
  ])('HOS-22 come one after the other: %s', (_, parts, decision) => {
    expect(planned(parts)).toBe(decision);
  });

  const second: Parts = { behind: ['kube-apiserver-1', ...REST] };
  const former = { serial: 'old', expectedSerial: 'new', notAfter: hostingInput().now };

  it.each<[what: string, parts: Parts, decision: string]>([
    [
      'does not trust the new authority',
      { ...second, proofs: { 'kube-apiserver': { new: 'Refused' } } },
      'wait AuthoritiesNotProven',
    ],
    [
      'does not trust the former authority',
      { ...second, phase: 'IssueNew', proofs: { 'kube-apiserver': { old: 'Refused' } } },
      'wait AuthoritiesNotProven',
    ],
    [
      'still trusts the former authority',
      {
        ...second,
        phase: 'TrustNew',
        proofs: { 'kube-apiserver': { old: 'Accepted' }, 'kube-apiserver-1': { old: 'Accepted' } },
      },
      'wait AuthoritiesNotProven',
    ],
    [
      'was not asked',
      { ...second, proofs: { 'kube-apiserver': { old: 'Unknown' } } },
      'wait AuthoritiesNotProven',
    ],
    [
      'serves another certificate',
      { ...second, but: { 'kube-apiserver': { certificate: former } } },
      'wait AuthoritiesNotProven',
    ],
    ['takes no writes', { ...second, canary: FAILS('kube-apiserver') }, 'wait CanaryFailed'],
    [
      'does not answer',
      { ...second, but: { 'kube-apiserver': { state: 'Starting' } } },
      'wait MemberStarting',
    ],
    [
      'is not found ready by a balancer yet',
      { ...second, but: { 'kubenode-balancer-1': { reaches: ['kube-apiserver-1'] } } },
      'wait ApiServerDown',
    ],
  ])('HOS-22 leave the second API server alone while the first one %s', (_, parts, decision) => {
    expect(planned(parts)).toBe(decision);
  });

  it('HOS-22 leave the next member of etcd alone while one that was started again is not proven', () => {
    const [first, ...others] = severalServers(2);
    const names = ['etcd', 'etcd-1', 'etcd-2'] as const;
    const members = names.flatMap((member) => (first ? [{ ...first, member, data: 'Own' as const }] : []));
    const etcd = names.map((member) => ({ member, isLearner: false, isStarted: true }));
    const behind = ['etcd-1', 'etcd-2', ...SERVERS, ...REST] as const;
    const parts = { members: [...members, ...others], etcd, behind };
    expect(planned({ ...parts, proofs: { etcd: { new: 'Refused' } } })).toBe('wait AuthoritiesNotProven');
    expect(planned(parts)).toBe(`Stop etcd-1: ${TRUST}`);
  });

  it('HOS-22 begin at no API server of several while another one takes no writes, and not for the only one', () => {
    const behind = [...SERVERS, ...REST];
    expect(planned({ behind, canary: FAILS('kube-apiserver-1') })).toBe('wait CanaryFailed');
    expect(planned({ behind, canary: undefined })).toBe('wait CanaryFailed');
    const only = { servers: 1, behind: ['kube-apiserver', ...REST] } as const;
    expect(planned({ ...only, canary: FAILS('kube-apiserver') })).toBe(`Stop kube-apiserver: ${TRUST}`);
  });

  it('HOS-22 begin a return at the API server that takes no writes, and never take one away that helps', () => {
    const back = { isAsked: false, behind: [...SERVERS, ...REST] };
    expect(planned({ ...back, canary: FAILS('kube-apiserver-1') })).toBe(`Stop kube-apiserver-1: ${TRUST}`);
    const half = { isAsked: false, behind: ['kube-apiserver', ...REST] } as const;
    expect(planned({ ...half, canary: FAILS('kube-apiserver-1') })).toBe('wait CanaryFailed');
    const refused = { 'kube-apiserver-1': { old: 'Refused' } } as const;
    expect(planned({ ...half, proofs: refused })).toBe('wait AuthoritiesNotProven');
    expect(planned(half)).toBe(`Stop kube-apiserver: ${TRUST}`);
  });

  it('HOS-22 stop no API server whose programs are missing, and none while the kill switch is engaged', () => {
    const other = { versions: [{ kubernetes: 'v1.36.4', etcd: 'v3.6.9' }] };
    expect(planned({ ...second, programs: other })).toBe('stalled VersionNotAvailable');
    expect(planned({ ...second, halt: 'alice: incident' })).toBe('wait KillSwitch');
  });

  it('HOS-22 reach a balancer that an earlier hosting has started, after a rotation and no other one', () => {
    expect(formerBalancer('Completed')).toBe(
      'Stop kubenode-balancer-1: an earlier hosting has started it, and it may know the former authorities only',
    );
    expect(formerBalancer('Completed', { 'kubenode-balancer-1': { reaches: [] } })).toBe('nothing');
    expect(formerBalancer('Completed', { 'kubenode-balancer': { state: 'Starting' } })).toBe('nothing');
    expect(formerBalancer('IssueNew')).toBe('nothing');
    const over = { members: severalServers(2), rotation: { ...ROTATION, phase: 'Completed' as const } };
    expect(planRotation(hostingInput({ hosted: { replicas: 2 }, plane: over }))?.act?.type).toBe('Stop');
  });

  it('HOS-22 name every member that is not proven', () => {
    const wait = unprovenWait({ phase: 'TrustNew' }, SERVERS);
    expect(wait?.message).toBe(
      'a client does not see yet that they trust the new authorities only: kube-apiserver, kube-apiserver-1',
    );
    expect(unprovenWait({ phase: 'TrustNew' }, [])).toBeUndefined();
  });
});
