import { describe, expect, it } from 'vitest';
import { MEMBERS, type MemberReport } from '../../../../../src/controllers/hosting/drivers/driver.ts';
import type {
  AuthorityProof,
  RotationPhase,
  RotationReport,
} from '../../../../../src/controllers/hosting/drivers/rotation.ts';
import type { HostingInput } from '../../../../../src/controllers/hosting/plan/input.ts';
import {
  isAborting,
  isPhaseReached,
  isRotationMoving,
  rotationInWork,
  unprovenMembers,
} from '../../../../../src/controllers/hosting/plan/rotation/state.ts';
import { HOSTED, hostingInput, members, severalServers } from '../../../../support/hosting/objects.ts';

type Proof = Pick<AuthorityProof, 'old' | 'new'>;

const BOTH: Proof = { old: 'Accepted', new: 'Accepted' };
const ONLY_NEW: Proof = { old: 'Refused', new: 'Accepted' };
const LOST_OLD: Proof = { old: 'Missing', new: 'Accepted' };
const ONLY_OLD: Proof = { old: 'Accepted', new: 'Refused' };
/** The ID where the spec asks for no rotation. */
const NOT_ASKED = '';
const SERVERS = MEMBERS.filter((member) => member !== 'kubenode-controllers');

function rotation(
  phase: RotationPhase,
  proof: Proof = BOTH,
  parts: Partial<RotationReport> = {},
): RotationReport {
  const proofs = SERVERS.map((member) => ({ member, ...proof }));
  return {
    id: '2026',
    phase,
    isApplied: true,
    isEnding: false,
    isSigned: true,
    hasIssued: true,
    behind: [],
    proofs,
    ...parts,
  };
}

function input(
  report: RotationReport | undefined,
  id = '2026',
  reports: readonly MemberReport[] = members(),
): HostingInput {
  const caRotation = id === NOT_ASKED ? {} : { caRotation: { id, target: 'Prepare' as const } };
  return hostingInput({
    hosted: { pki: { ...HOSTED.pki, ...caRotation } },
    plane: { rotation: report, members: reports },
  });
}

describe('the state of a rotation of authorities', () => {
  it.each<[what: string, phase: RotationPhase, isInWork: boolean]>([
    ['both are trusted', 'TrustBoth', true],
    ['the new ones issue', 'IssueNew', true],
    ['the new ones are served', 'ServeNew', true],
    ['only the new ones are trusted', 'TrustNew', true],
    ['only the former ones are trusted', 'TrustOld', true],
    ['it is completed', 'Completed', false],
  ])('HOS-22 is in work until its end: %s', (_, phase, isInWork) => {
    const report = rotation(phase);
    expect(rotationInWork(input(report)) === report).toBe(isInWork);
  });

  it('HOS-22 has nothing in work before it is begun', () => {
    expect(rotationInWork(input(undefined))).toBeUndefined();
    expect(isRotationMoving(input(undefined))).toBe(false);
  });

  it.each<[what: string, phase: RotationPhase, id: string, expected: boolean]>([
    ['not while the spec asks for it', 'TrustBoth', '2026', false],
    ['when the spec asks for none, before new ones issue', 'TrustBoth', NOT_ASKED, true],
    ['when the spec asks for none, while new ones issue', 'IssueNew', NOT_ASKED, true],
    ['when the spec asks for none, while new ones are served', 'ServeNew', NOT_ASKED, true],
    ['when the spec asks for another one', 'ServeNew', '2027', true],
    ['not once the former ones are refused', 'TrustNew', NOT_ASKED, false],
    ['not for another one once the former ones are refused', 'TrustNew', '2027', false],
    ['while it returns to them, whatever the spec asks for', 'TrustOld', '2026', true],
  ])('HOS-22 is taken back only while it can be: %s', (_, phase, id, expected) => {
    const report = rotation(phase);
    expect(isAborting(input(report, id), report)).toBe(expected);
  });

  it.each<[what: string, report: RotationReport, expected: boolean]>([
    ['all of it is proven', rotation('IssueNew'), true],
    ['files are not written', rotation('IssueNew', BOTH, { isApplied: false }), false],
    ['a member was not started again', rotation('IssueNew', BOTH, { behind: ['etcd'] }), false],
    ['a member has no proof', rotation('IssueNew', BOTH, { proofs: [] }), false],
    ['the proof is that of another phase', rotation('TrustNew', BOTH), false],
    ['the proof is that of this phase', rotation('TrustNew', ONLY_NEW), true],
    ['the former authority is lost, which is not trusted', rotation('TrustNew', LOST_OLD), true],
    ['the former authority is lost, which is trusted', rotation('IssueNew', LOST_OLD), false],
  ])('HOS-22 reaches a phase with everything it asks for: %s', (_, report, expected) => {
    expect(isPhaseReached(input(report), report)).toBe(expected);
  });

  it.each<[what: string, report: RotationReport, id: string, expected: boolean]>([
    ['it waits for a person', rotation('IssueNew'), '2026', false],
    ['it waits for its clients', rotation('ServeNew'), '2026', false],
    ['new ones are not all issued', rotation('IssueNew', BOTH, { behind: ['etcd'] }), '2026', true],
    ['agents cannot follow it yet', rotation('IssueNew', BOTH, { isSigned: false }), '2026', true],
    ['it is taken back', rotation('IssueNew'), NOT_ASKED, true],
    ['both become trusted', rotation('TrustBoth'), '2026', true],
    ['the former ones become refused', rotation('TrustNew', ONLY_NEW), '2026', true],
    ['the new ones become refused', rotation('TrustOld', ONLY_OLD), '2026', true],
    ['it is over', rotation('Completed', ONLY_NEW), '2026', false],
  ])('HOS-22 knows whether it takes members out of service: %s', (_, report, id, expected) => {
    expect(isRotationMoving(input(report, id))).toBe(expected);
  });

  it.each<[phase: RotationPhase, proven: Proof, others: readonly Proof[]]>([
    ['TrustBoth', BOTH, [ONLY_NEW, ONLY_OLD]],
    ['IssueNew', BOTH, [ONLY_NEW, ONLY_OLD]],
    ['ServeNew', BOTH, [ONLY_NEW, ONLY_OLD]],
    ['TrustNew', ONLY_NEW, [BOTH, ONLY_OLD, { old: 'Unknown', new: 'Accepted' }]],
    ['TrustOld', ONLY_OLD, [BOTH, ONLY_NEW, { old: 'Accepted', new: 'Unknown' }]],
    ['Completed', ONLY_NEW, [BOTH, ONLY_OLD]],
  ])('HOS-22 accepts one proof in the phase %s and no other', (phase, proven, others) => {
    const unproven = (proof: Proof): readonly string[] => {
      const report = rotation(phase, proof);
      return unprovenMembers(input(report), report);
    };
    expect(unproven(proven)).toEqual([]);
    expect(others.map(unproven)).toEqual(others.map(() => SERVERS));
  });

  const certificate = { serial: 'A1', expectedSerial: 'B2', notAfter: new Date(0) };

  it.each<[what: string, reports: readonly MemberReport[], expected: readonly string[]]>([
    ['none of those that are ready', members(), []],
    [
      'one that serves a former certificate',
      members({ 'kube-scheduler': { certificate } }),
      ['kube-scheduler'],
    ],
    ['one without a certificate', members({ etcd: { certificate: undefined } }), ['etcd']],
    [
      'controllers that are not ready',
      members({ 'kubenode-controllers': { state: 'Starting' } }),
      ['kubenode-controllers'],
    ],
    ['no balancer that is ready', severalServers(1), []],
    [
      'a balancer that is not ready',
      severalServers(1, { 'kubenode-balancer-1': { state: 'Stopped' } }),
      ['kubenode-balancer-1'],
    ],
    ['an API server without a proof of its own', severalServers(2), ['kube-apiserver-1']],
  ])('HOS-22 names each member that is not proven: %s', (_, reports, expected) => {
    const report = rotation('IssueNew');
    expect(unprovenMembers(input(report, '2026', reports), report)).toEqual(expected);
  });
});
