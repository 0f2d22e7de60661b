/** Reports the members of a control plane by their workloads and pods, and by what their pods answer. */
import { X509Certificate } from 'node:crypto';
import { valueAt } from '../../../../../kube/objects/json.ts';
import type { KubeObject } from '../../../../../kube/objects/object.ts';
import { optional } from '../../../../../kube/objects/optional.ts';
import {
  isApiServer,
  isEtcdMember,
  isRunMember,
  type MemberCertificate,
  type MemberReport,
} from '../../driver.ts';
import { memberRuns } from '../../runs.ts';
import { addressesOf, serverOf } from '../access.ts';
import { memberVolumeData } from '../data.ts';
import { settledOf } from '../differences.ts';
import type { FoundPlane } from '../hub.ts';
import { etcdMembersOf, type WorkloadMember } from '../names.ts';
import { type KeyRequest, servedFile } from '../pki/keys.ts';
import type { CertificateProbe } from '../probe.ts';
import { startsOf, type WorkloadRecord } from '../record.ts';
import { recordedDigest, recordedRun } from '../runs.ts';
import {
  currentPod,
  isPodReady,
  lastWords,
  livingPods,
  memberProblem,
  podAddress,
  podIdentity,
  readinessChangedAt,
  remainingPods,
} from './pods.ts';
import { isPodEdited, podRun, podVersion, workloadDrift, workloadRun } from './templates.ts';

export interface MemberInput {
  readonly found: FoundPlane;
  readonly record: WorkloadRecord;
  readonly request: KeyRequest | undefined;
  readonly now: Date;
  readonly probe: CertificateProbe;
}

export async function reportMember(member: WorkloadMember, input: MemberInput): Promise<MemberReport> {
  const { found, record } = input;
  const run = recordedRun(record, member);
  const starts = startsOf(record, member);
  const shared = { member, starts, ...optional('run', run), ...dataOf(member, input) };
  const workload = found.objects.workloads.get(member);
  const pods = remainingPods(found.objects, member);
  const isDesired = workload !== undefined && valueAt(workload, 'spec', 'replicas') !== 0;
  const drift = workload && record.members[member]?.isRunning ? workloadDrift(workload) : undefined;
  const edited = optional('drift', drift);
  if (!isDesired && pods.length === 0) return { ...shared, ...edited, state: 'Stopped' };
  if (!workload) return { ...shared, state: 'Starting' };
  const running = { ...input, workload, pods, expected: recordedDigest(record, member) };
  return { ...shared, ...edited, ...(await reportRunning(member, running)) };
}

/** Where etcd has one member, the report of the control plane has it. */
function dataOf(member: WorkloadMember, { found, record }: MemberInput): Pick<MemberReport, 'data'> {
  if (!isEtcdMember(member) || etcdMembersOf(record).length === 1) return {};
  return { data: memberVolumeData(found, member) };
}

type RunningReport = Omit<MemberReport, 'member' | 'starts' | 'run' | 'drift' | 'data'>;

interface RunningInput extends MemberInput {
  readonly workload: KubeObject;
  readonly pods: readonly KubeObject[];
  /** The digest of what a pod is to be made from. */
  readonly expected: string | undefined;
}

/**
 * A member is ready when a pod that was made from its workload is, and no other one lives. Until then a former one may serve. A workload that
 * is not what was recorded is outdated: hosting was killed between both writes.
 */
async function reportRunning(member: WorkloadMember, input: RunningInput): Promise<RunningReport> {
  const { workload, now, pods, record, expected } = input;
  const living = livingPods(pods);
  const pod = podOfWorkload(living, workload);
  const others = living.filter((each) => each !== pod);
  const unreachable = addressProblem(member, input);
  const problem = unreachable ?? memberProblem(member, { workload, pod, now });
  const shared = {
    isOutdated: workloadRun(workload) !== expected,
    ...optional('version', lowestVersion(living, input, member)),
    ...optional('problem', problem),
    ...(pod ? await describePod(member, pod, input) : {}),
  };
  if (isAnswering(pod, problem) && others.length === 0) {
    return { ...shared, state: 'Ready', ...optional('readySince', sinceOf(pod)) };
  }
  const since = sinceOf(pod) ?? startsOf(record, member).at(-1);
  const isServed = !unreachable && living.some(isPodReady);
  return { ...shared, state: 'Starting', isServed, ...optional('unreadySince', since) };
}

function isAnswering(pod: KubeObject | undefined, problem: MemberReport['problem']): boolean {
  return pod !== undefined && isPodReady(pod) && !problem;
}

function sinceOf(pod: KubeObject | undefined): Date | undefined {
  return pod && readinessChangedAt(pod);
}

/** Prefers one that was not edited since. */
function podOfWorkload(living: readonly KubeObject[], workload: KubeObject): KubeObject | undefined {
  const run = workloadRun(workload);
  const current = living.filter((each) => podRun(each) === run);
  return currentPod(current.filter((each) => !isPodEdited(each))) ?? currentPod(current);
}

async function describePod(
  member: WorkloadMember,
  pod: KubeObject,
  input: RunningInput,
): Promise<Pick<RunningReport, 'identity' | 'logTail' | 'certificate'>> {
  return {
    identity: podIdentity(pod),
    ...optional('logTail', lastWords(pod)),
    ...optional('certificate', await certificateOf(member, pod, input)),
  };
}

/** The version of a component is the lowest that serves. Pods of a hosting that recorded none have the one that is settled. */
function lowestVersion(
  living: readonly KubeObject[],
  { record }: RunningInput,
  member: WorkloadMember,
): string | undefined {
  const settled = isRunMember(member) ? memberRuns(settledOf(record))[member].version : undefined;
  const versions = living.filter(isPodReady).flatMap((pod) => podVersion(pod) ?? settled ?? []);
  return versions.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))[0];
}

/** No client outside reaches an API server whose Service has no address. */
function addressProblem(member: WorkloadMember, { found, record }: MemberInput): MemberReport['problem'] {
  const addresses = addressesOf(found);
  if (!isApiServer(member) || !addresses) return undefined;
  const { exposure } = record.placement;
  if (serverOf(found, addresses, exposure) !== undefined) return undefined;
  return {
    reason: 'AddressPending',
    message: `Service kube-apiserver of type ${exposure.type} has no address yet: the hub needs a load balancer, or set spec.hosted.exposure.host`,
    blocker: { kind: 'Service', name: `${found.where.replace(/^namespace /, '')}/kube-apiserver` },
  };
}

async function certificateOf(
  member: WorkloadMember,
  pod: KubeObject,
  { found, record, request, probe }: MemberInput,
): Promise<MemberCertificate | undefined> {
  const address = podAddress(pod);
  if (!request || address === undefined) return undefined;
  const { port: apiPort } = record.placement.exposure;
  const served = await probe({ member, address, apiPort, files: found.keys, request });
  if (!served) return undefined;
  const expected = servedFile(found.keys, request, member);
  return { ...served, expectedSerial: expected && new X509Certificate(expected.certPem).serialNumber };
}
