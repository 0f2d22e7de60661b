/**
 * The claims on the hosts of pools, as Leases: one for each Machine, which records its host for good, and one for each host that is taken,
 * which exists at most once. So a Machine has at most one host, and a host at most one Machine, whichever process is killed where. Pure.
 */
import { parseTime } from '../../../api/machine/node-state.ts';
import { ANNOTATION_HOST_CLAIM, LABEL_HOST_CLAIM, NAMESPACE_HOSTS } from '../../../api/names.ts';
import { digestOf } from '../../../kube/objects/digest.ts';
import { isRecord, textAt, valueAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { InstanceTags } from '../../contract.ts';
import { hostKeyText, type PooledHost } from './host.ts';

/**
 * Claiming: the host is chosen, and not taken yet. Unclean: the Machine was deleted, and something of it may be left on the host, which
 * no Machine gets until a person frees it. Deleted: the host was given back; the claim stays for a while, so that a late create of this
 * Machine takes no host.
 */
const STATES = ['Claiming', 'Claimed', 'Releasing', 'Unclean', 'Deleted'] as const;
export type ClaimState = (typeof STATES)[number];

export interface HostClaim {
  readonly machine: string;
  readonly tags: InstanceTags;
  readonly state: ClaimState;
  /** When the host was taken. Of a Deleted claim: when it was given back. */
  readonly claimedAt: Date;
  /** Absent in a claim of an earlier version. */
  readonly pool?: string;
  /** The host as its pool listed it then. Absent for a Machine that was deleted before it had one. */
  readonly host?: PooledHost;
}

/** A claim, and the version of it that the next write replaces. */
export interface StoredClaim {
  readonly claim: HostClaim;
  readonly object: KubeObject;
}

export function claimName(machineUid: string): string {
  return `machine-${machineUid}`;
}

export function hostLockName(host: PooledHost): string {
  return `host-${digestOf(hostKeyText(host)).slice('sha256:'.length, 39)}`;
}

export function formatClaim({ machine, tags, state, claimedAt, pool, host }: HostClaim): KubeObject {
  const taken = { ...optional('pool', pool), ...optional('host', host) };
  return lease(claimName(tags.machineUid), {
    label: 'Machine',
    record: { machine, tags, state, claimedAt: claimedAt.toISOString(), ...taken },
    holder: host ? hostKeyText(host) : '',
  });
}

export function formatHostLock(
  host: PooledHost,
  { machine, tags }: Pick<HostClaim, 'machine' | 'tags'>,
): KubeObject {
  return lease(hostLockName(host), {
    label: 'Host',
    record: { host: hostKeyText(host), machine, tags },
    holder: tags.machineUid,
  });
}

interface LeaseContent {
  readonly label: 'Machine' | 'Host';
  readonly record: object;
  readonly holder: string;
}

function lease(name: string, { label, record, holder }: LeaseContent): KubeObject {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name,
      namespace: NAMESPACE_HOSTS,
      labels: { [LABEL_HOST_CLAIM]: label },
      annotations: { [ANNOTATION_HOST_CLAIM]: JSON.stringify(record) },
    },
    spec: { holderIdentity: holder },
  };
}

/** Returns undefined for a Lease that is not a claim, or that is damaged. */
export function parseClaim({ metadata: { labels, annotations } }: KubeObject): HostClaim | undefined {
  if (labels?.[LABEL_HOST_CLAIM] !== 'Machine') return undefined;
  const record = parseRecord(annotations?.[ANNOTATION_HOST_CLAIM]);
  const machine = textAt(record, 'machine');
  const claimedAt = parseTime(textAt(record, 'claimedAt'));
  const state = STATES.find((each) => each === textAt(record, 'state'));
  const tags = parseTags(valueAt(record, 'tags'));
  if (machine === undefined || !claimedAt || !state || !tags) return undefined;
  const taken = { ...optional('pool', textAt(record, 'pool')), ...optional('host', hostIn(record)) };
  return { machine, tags, state, claimedAt, ...taken };
}

/** A claim that was damaged, or that another version wrote. Its host is not free: a Machine may be on it. */
export interface UnreadableClaim {
  /** The name of the Lease. */
  readonly lease: string;
  /** The key of the host. */
  readonly host: string;
}

export function unreadableClaim(object: KubeObject): UnreadableClaim | undefined {
  const { name, labels } = object.metadata;
  if (labels?.[LABEL_HOST_CLAIM] !== 'Machine' || parseClaim(object)) return undefined;
  return { lease: name, host: textAt(object, 'spec', 'holderIdentity') ?? '' };
}

export function unreadableText({ lease: name }: UnreadableClaim): string {
  return `Lease ${NAMESPACE_HOSTS}/${name} is not a claim that this version can read: restore its annotation ${ANNOTATION_HOST_CLAIM}, or clean the host and delete the Lease`;
}

function hostIn(record: unknown): PooledHost | undefined {
  const host = valueAt(record, 'host');
  return isRecord(host) ? (host as unknown as PooledHost) : undefined;
}

export function isHostLock({ metadata }: KubeObject): boolean {
  return metadata.labels?.[LABEL_HOST_CLAIM] === 'Host';
}

/** Returns the UID of the Machine that has the host. */
export function holderOfHost(object: KubeObject): string | undefined {
  return textAt(object, 'spec', 'holderIdentity') || undefined;
}

function parseTags(value: unknown): InstanceTags | undefined {
  const [clusterUid, machineUid] = [textAt(value, 'clusterUid'), textAt(value, 'machineUid')];
  if (clusterUid === undefined || machineUid === undefined) return undefined;
  return { clusterUid, machineUid, ...optional('set', textAt(value, 'set')) };
}

function parseRecord(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
