/** Tells whether the kubelet of the host uses the authorities that the agent follows. Pure. */
import type { MachineAuthorities } from '../../api/generated/types.ts';
import { optional } from '../../kube/objects/optional.ts';
import {
  type AuthoritiesChange,
  outdatedTrust,
  startedBetween,
  type TrustMoment,
} from '../component/drift/trust.ts';
import type { UnitProcess, UnitStatus } from '../host/port.ts';
import type { Target } from '../target/target.ts';
import { usesAgentFiles } from './kubelet-files.ts';
import type { FollowedAuthorities } from './verify.ts';

type KubeletTrust = MachineAuthorities['kubelet'];

/** The certificate of the kubelet, as it is on the disk. */
export interface KubeletCertificate {
  /** The SHA-256 of the authority that issued it. Undefined: none that the host trusts. */
  readonly issuer: string | undefined;
  readonly writtenAt: Date;
}

/** A part of a reported component. */
export interface ReportedUnits {
  readonly current?: Pick<Target, 'identity' | 'files' | 'units'>;
  readonly units: ReadonlyMap<string, Pick<UnitStatus, 'process'>>;
}

export interface KubeletTrustInput {
  readonly components: Iterable<ReportedUnits>;
  readonly followed: Pick<FollowedAuthorities, 'isApplied' | 'changedAt' | 'issuer' | 'outdated'> | undefined;
  readonly certificate: KubeletCertificate | undefined;
  readonly moment: TrustMoment;
}

/** Clients of Kubernetes read their certificate again every five minutes. */
const READ_AGAIN_MS = 6 * 60_000;

export function kubeletTrust({ components, followed, certificate, moment }: KubeletTrustInput): KubeletTrust {
  const kubelets = [...components].filter(({ current }) => current?.identity === 'Kubelet');
  if (kubelets.length === 0) return 'None';
  if (!kubelets.every(usesOwnFiles)) return 'Foreign';
  return followed ? followedTrust(kubelets, { followed, certificate, moment }) : 'Current';
}

type FollowedInput = Pick<KubeletTrustInput, 'certificate' | 'moment'> & {
  readonly followed: NonNullable<KubeletTrustInput['followed']>;
};

function followedTrust(
  kubelets: readonly ReportedUnits[],
  { followed, certificate, moment }: FollowedInput,
): KubeletTrust {
  const processes = processesOf(kubelets);
  if (!followed.isApplied || areOutdated(processes, followed, moment)) return 'RestartPending';
  const isIssued = certificate?.issuer === followed.issuer;
  return isIssued && isRead(certificate, processes, moment) ? 'Current' : 'CertificatePending';
}

function usesOwnFiles({ current }: ReportedUnits): boolean {
  return current !== undefined && usesAgentFiles(current);
}

function processesOf(kubelets: readonly ReportedUnits[]): readonly UnitProcess[] {
  return kubelets.flatMap(({ units }) =>
    [...units.values()].flatMap(({ process }) => (process ? [process] : [])),
  );
}

function areOutdated(
  processes: readonly UnitProcess[],
  followed: Pick<FollowedAuthorities, 'changedAt' | 'outdated'>,
  moment: TrustMoment,
): boolean {
  const change = authoritiesChange(followed);
  return processes.some((each) => outdatedTrust(change, { identity: 'Kubelet' }, each, moment));
}

/** Returns what a kubelet has to have started with. */
export function authoritiesChange({
  changedAt,
  outdated,
}: Pick<FollowedAuthorities, 'changedAt' | 'outdated'>): AuthoritiesChange {
  return { changedAt: new Date(changedAt), ...optional('outdated', outdated) };
}

function isRead(
  { writtenAt }: KubeletCertificate,
  processes: readonly UnitProcess[],
  { now }: TrustMoment,
): boolean {
  if (now.getTime() - writtenAt.getTime() >= READ_AGAIN_MS) return true;
  return processes.every((each) => startedBetween(each, writtenAt, now));
}
