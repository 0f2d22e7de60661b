/** Observes a control plane by its objects in the hub, and by what its pods answer. */

import { X509Certificate } from 'node:crypto';
import type { Client } from '../../../../kube/client/client.ts';
import { valueAt } from '../../../../kube/objects/json.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import {
  isRunMember,
  MEMBERS,
  type MemberCertificate,
  type MemberReport,
  type PlaneReport,
  type PlaneSpec,
} from '../driver.ts';
import { PLANE_KEYS } from '../keys.ts';
import { memberRuns } from '../runs.ts';
import { addressesOf, keyRequest, serverOf } from './access.ts';
import { volumeData } from './data.ts';
import { placementDifferences, recordDifferences, settledOf, withLife } from './differences.ts';
import { expectedBefore, expectedSecrets, missingObjects } from './expected.ts';
import { claimOfVolume, type FoundPlane, readHubPlane } from './hub.ts';
import type { WorkloadMember } from './names.ts';
import { type KeyRequest, lostKeysOf, reportKeys, servedFile } from './pki/keys.ts';
import {
  currentPod,
  isPodReady,
  lastWords,
  memberProblem,
  podAddress,
  podIdentity,
  podsOfMember,
  unreadySince,
} from './pods.ts';
import { probeCertificate } from './probe.ts';
import { startsOf, type WorkloadRecord } from './record.ts';

export interface ObserveParts {
  readonly client: Client;
  readonly now: Date;
  readonly programs: PlaneReport['programs'];
  readonly signal: AbortSignal;
}

export async function observeWorkload(plane: PlaneSpec, parts: ObserveParts): Promise<PlaneReport> {
  const found = await readHubPlane(parts.client, plane, { signal: parts.signal });
  const { where, claim, record } = found;
  const shared = { where, place: 'Namespace', location: where, claim, programs: parts.programs } as const;
  if (claim !== 'Own' || !record) {
    return { ...shared, ...NOTHING, isDestroying: isTerminating(found) };
  }
  const request = requestFor(found, withLife(record, plane), parts.now);
  return {
    ...shared,
    isPrepared: isPrepared(found, record),
    data: volumeData(found),
    lostKeys: lostKeysOf(found.keys, record.keys),
    certificates: request ? reportKeys(found.keys, request) : [],
    isDestroying: record.isDestroying || isTerminating(found),
    settled: settledOf(record),
    differences: [...recordDifferences(record, plane), ...placementDifferences(record, plane)],
    members: await Promise.all(
      MEMBERS.map((member) => observeMember(member, { found, record, request, now: parts.now })),
    ),
  };
}

const NOTHING = {
  isPrepared: false,
  data: 'Empty',
  lostKeys: [],
  certificates: [],
  settled: undefined,
  differences: [],
  members: MEMBERS.map((member): MemberReport => ({ member, state: 'Stopped', starts: [] })),
} as const;

/** A namespace that somebody deletes ends with all that is in it. */
function isTerminating({ namespace }: FoundPlane): boolean {
  return namespace?.metadata.deletionTimestamp !== undefined;
}

function requestFor(found: FoundPlane, record: WorkloadRecord, now: Date): KeyRequest | undefined {
  const addresses = addressesOf(found);
  return addresses && keyRequest(found, record, { addresses, now });
}

/** Tells whether everything was made that is made before a member starts, and stays. */
function isPrepared(found: FoundPlane, record: WorkloadRecord): boolean {
  const addresses = addressesOf(found);
  if (!addresses || PLANE_KEYS.some((name) => record.keys?.[name] === undefined)) return false;
  const hasVolume = claimOfVolume(found) !== undefined || startsOf(record, 'etcd').length > 0;
  const expected = [...expectedBefore(record), ...expectedSecrets(found, record)];
  return hasVolume && missingObjects(found.objects, expected).length === 0;
}

interface MemberInput {
  readonly found: FoundPlane;
  readonly record: WorkloadRecord;
  readonly request: KeyRequest | undefined;
  readonly now: Date;
}

async function observeMember(member: WorkloadMember, input: MemberInput): Promise<MemberReport> {
  const { found, record } = input;
  const run = isRunMember(member) ? memberRuns(settledOf(record))[member] : undefined;
  const shared = { member, starts: startsOf(record, member), run };
  const workload = found.objects.workloads.get(member);
  const pods = podsOfMember(found.objects, member);
  const isDesired = workload !== undefined && desiredReplicas(workload) > 0;
  if (!isDesired && pods.length === 0) return { ...shared, state: 'Stopped' };
  if (!workload) return { ...shared, state: 'Starting' };
  return { ...shared, ...(await observeRunning(member, { ...input, workload, pod: currentPod(pods) })) };
}

type RunningReport = Omit<MemberReport, 'member' | 'starts' | 'run'>;

interface RunningInput extends MemberInput {
  readonly workload: KubeObject;
  readonly pod: KubeObject | undefined;
}

/** A member whose pod is not made yet has been silent since its start. */
async function observeRunning(member: WorkloadMember, input: RunningInput): Promise<RunningReport> {
  const { pod, workload, now, record } = input;
  const problem = optional(
    'problem',
    addressProblem(member, input) ?? memberProblem(member, { workload, pod, now }),
  );
  if (!pod) {
    const since = startsOf(record, member).at(-1);
    return { state: 'Starting', ...optional('unreadySince', since), ...problem };
  }
  const running = {
    identity: podIdentity(pod),
    ...optional('logTail', lastWords(pod)),
    ...optional('version', versionOf(member, pod, record)),
    ...optional('certificate', await certificateOf(member, pod, input)),
  };
  if (isPodReady(pod) && !problem.problem) return { ...running, state: 'Ready' };
  return { ...running, state: 'Starting', ...optional('unreadySince', unreadySince(pod)), ...problem };
}

function desiredReplicas(workload: KubeObject): number {
  const replicas = valueAt(workload, 'spec', 'replicas');
  return typeof replicas === 'number' ? replicas : 1;
}

/** The driver does not change the version of a member, so that the one that it was created with runs. */
function versionOf(member: WorkloadMember, pod: KubeObject, record: WorkloadRecord): string | undefined {
  return isPodReady(pod) && isRunMember(member) ? memberRuns(settledOf(record))[member].version : undefined;
}

/** No client outside reaches an API server whose Service has no address. */
function addressProblem(member: WorkloadMember, { found, record }: MemberInput): MemberReport['problem'] {
  const addresses = addressesOf(found);
  if (member !== 'kube-apiserver' || !addresses) return undefined;
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
  { found, record, request }: MemberInput,
): Promise<MemberCertificate | undefined> {
  const address = podAddress(pod);
  if (!request || address === undefined) return undefined;
  const { port: apiPort } = record.placement.exposure;
  const served = await probeCertificate({ member, address, apiPort, files: found.keys, request });
  if (!served) return undefined;
  const expected = servedFile(found.keys, request, member);
  return { ...served, expectedSerial: expected && new X509Certificate(expected.certPem).serialNumber };
}
