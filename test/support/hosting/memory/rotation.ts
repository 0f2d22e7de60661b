/** The rotation of the authorities of a control plane in memory. */
import {
  type AuthoritiesDocument,
  certificatesIn,
  PUBLISHED_PHASES,
  type PublishedPhase,
  type SignedAuthorities,
} from '../../../../src/api/authorities/document.ts';
import {
  isBalancer,
  type MemberReport,
  type PlaneMember,
} from '../../../../src/controllers/hosting/drivers/driver.ts';
import {
  type AuthorityAge,
  type AuthorityProof,
  type KnownOrders,
  PHASE_AUTHORITIES,
  type RotationPhase,
  type RotationReport,
  type RotationStep,
} from '../../../../src/controllers/hosting/drivers/rotation.ts';
import type { MachineClient } from '../../../../src/controllers/hosting/inside/clients.ts';
import { documentOf, signedBy, type TestAuthority, testAuthority } from '../../authorities.ts';
import type { MemoryPlane } from './plane.ts';

export interface MemoryRotation {
  readonly id: string;
  readonly phase: RotationPhase;
  readonly hasIssued: boolean;
  /** The phase whose document was signed last. */
  signed?: { readonly phase: RotationPhase; readonly at: Date } | undefined;
  readonly old: string;
  readonly new: string;
  /** The phases that each process was started in, oldest first. */
  readonly started: Map<PlaneMember, RotationPhase>;
  /** Which authority signed each certificate. */
  readonly ages: Map<string, AuthorityAge>;
  /** The members that were not started since. */
  readonly behind: Set<PlaneMember>;
}

interface Parts {
  readonly now: Date;
  readonly next: (what: string) => number;
}

/** Returns whether anything changed. */
export function rotateMemory(plane: MemoryPlane, { id, phase }: RotationStep, parts: Parts): boolean {
  const before = plane.rotation;
  if (phase === 'Aborted') return abort(plane);
  if (before?.id === id && before.phase === phase) return false;
  const isFirst = !before || before.phase === 'Completed';
  const rotation = isFirst ? begin(plane, id, parts) : inPhase(before, phase);
  plane.rotation = rotation;
  if (phase === 'Completed') rotation.behind.clear();
  else enter(plane, rotation, parts);
  return true;
}

function enter(plane: MemoryPlane, rotation: MemoryRotation, parts: Parts): void {
  // What a member serves is read again while it runs.
  const restarted = rotation.phase === 'ServeNew' ? [] : plane.running.keys();
  for (const member of restarted) if (!isBalancer(member)) rotation.behind.add(member);
  plane.starts.clear();
  issueAgain(plane, rotation, parts);
}

function abort(plane: MemoryPlane): boolean {
  if (plane.rotation?.phase !== 'TrustOld') return false;
  plane.rotation = undefined;
  return true;
}

function inPhase(before: MemoryRotation, phase: RotationPhase): MemoryRotation {
  const signed = phase === 'Completed' ? before.signed : undefined;
  return { ...before, phase, signed, hasIssued: before.hasIssued || phase === 'IssueNew' };
}

function begin(plane: MemoryPlane, id: string, { next }: Parts): MemoryRotation {
  const started = new Map([...plane.running.keys()].map((member) => [member, 'TrustOld'] as const));
  const ages = new Map([...plane.leaves.keys()].map((name) => [name, 'old'] as const));
  const shared = {
    ages,
    old: plane.authority,
    new: `ca-${next('authority')}`,
    behind: new Set<PlaneMember>(),
  };
  return { id, phase: 'TrustBoth', hasIssued: false, ...shared, started };
}

/** Issues what another authority has to sign now. */
function issueAgain(
  plane: MemoryPlane,
  { phase, ages, ...keys }: MemoryRotation,
  { now, next }: Parts,
): void {
  const { issues, serves } = PHASE_AUTHORITIES[phase];
  plane.authority = keys[issues];
  for (const name of plane.leaves.keys()) {
    const age = name === 'apiserver' ? serves : issues;
    if (ages.get(name) === age) continue;
    ages.set(name, age);
    plane.leaves.set(name, { serial: `${next('serial')}`, issuedAt: now });
  }
}

/** Returns the document of the phase, or the last one. A rotation that is over has the document of its end. */
export function signMemory(plane: MemoryPlane, known: KnownOrders, now: Date): SignedAuthorities | undefined {
  const { rotation, signed } = plane;
  const phase = phaseToSign(plane);
  if (!rotation || !phase || rotation.signed?.phase === phase) return signed;
  const last = Math.max(...[signed, known.published].map((each) => (each ? documentIn(each).order : 0)));
  const { trusts, signs } = PHASE_AUTHORITIES[phase];
  const document = documentOf(
    trusts.map((age) => memoryAuthority(rotation[age])),
    { cluster: plane.spec.uid, order: last + 1, rotation: rotation.id, phase },
  );
  plane.signed = signedBy([memoryAuthority(rotation[signs])], document);
  rotation.signed = { phase, at: now };
  return plane.signed;
}

function phaseToSign({ rotation, signed }: MemoryPlane): PublishedPhase | undefined {
  if (rotation?.phase === 'Completed') return signed && 'TrustNew';
  return PUBLISHED_PHASES.find((each) => each === rotation?.phase);
}

export function documentIn({ document }: SignedAuthorities): AuthoritiesDocument {
  return JSON.parse(document) as AuthoritiesDocument;
}

/** An agent that lives follows at once what is newer, and signed by an authority that it trusts and that stays. Its kubelet does as well. */
export function followMemory(machine: MachineClient, signed: SignedAuthorities): MachineClient {
  const { agent, heartbeat } = machine;
  if (heartbeat !== 'Renewed' || !agent?.authorities?.managed) return machine;
  const { trusted, order: followed = 0 } = agent.authorities;
  const { rotation, phase, order, issuer, authorities } = documentIn(signed);
  const next = [...certificatesIn(authorities.join('')).keys()];
  const signers = Object.keys(JSON.parse(signed.signatures) as object);
  const isTrusted = signers.some((signer) => trusted.includes(signer) && next.includes(signer));
  if (!isTrusted || order <= followed) return machine;
  const report = { ...agent.authorities, rotation, phase, order, issuer, trusted: next };
  return { ...machine, agent: { ...agent, authorities: report } };
}

const made = new Map<string, TestAuthority>();

/** Returns the certificate of an authority in memory, which has only a name. */
export function memoryAuthority(name: string): TestAuthority {
  const found = made.get(name) ?? testAuthority(name);
  made.set(name, found);
  return found;
}

export function recordMemoryStart({ rotation }: MemoryPlane, member: PlaneMember): void {
  rotation?.behind.delete(member);
  rotation?.started.set(member, rotation.phase);
}

export function rotationReport(
  { rotation, authority }: MemoryPlane,
  members: readonly MemberReport[],
): RotationReport | undefined {
  if (!rotation) return undefined;
  const { id, phase, hasIssued } = rotation;
  const behind = members.map(({ member }) => member).filter((member) => rotation.behind.has(member));
  const isOver = phase === 'Completed';
  const proofs = isOver ? [] : members.flatMap((each) => proofOf(each, rotation));
  const signed = rotation.signed?.phase === phase ? rotation.signed : undefined;
  const shared = { id, phase, isApplied: true, isEnding: false, isSigned: signed !== undefined, hasIssued };
  return { ...shared, signedAt: signed?.at, behind, proofs, tokenKeyId: authority };
}

/** A process trusts what the files had when it was started. */
function proofOf({ member, state }: MemberReport, { started }: MemoryRotation): readonly AuthorityProof[] {
  const phase = started.get(member);
  if (state !== 'Ready' || member === 'kubenode-controllers' || isBalancer(member) || !phase) return [];
  const { trusts } = PHASE_AUTHORITIES[phase];
  const answer = (age: 'old' | 'new'): AuthorityProof['old'] =>
    trusts.includes(age) ? 'Accepted' : 'Refused';
  return [{ member, old: answer('old'), new: answer('new') }];
}

/** Returns the authorities in a kubeconfig. */
export function trustedOf({ rotation }: MemoryPlane, authority: string): string {
  if (!rotation) return authority;
  return PHASE_AUTHORITIES[rotation.phase].trusts.map((age) => rotation[age]).join('+');
}
