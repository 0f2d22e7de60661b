/**
 * The record of a control plane in its namespace: what it was created with, and which members run. It is changed by compare-and-swap, and
 * before the act that it is about, so that an interrupted act is repeated and never doubled.
 */
import { z } from 'zod';
import { textAt } from '../../../../kube/objects/json.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import { planeSettings } from '../../../../local/state.ts';
import { HostingError } from '../../errors.ts';
import { MEMBERS, type PlaneSpec, RUN_MEMBERS } from '../driver.ts';
import { PLANE_KEYS } from '../keys.ts';
import { planeLabels, planeNamespace, RECORD, type WorkloadMember } from './names.ts';

const requests = z.strictObject({ cpuMillis: z.int().optional(), memoryMiB: z.int().optional() });

const placement = z.strictObject({
  storageGiB: z.int(),
  exposure: z.strictObject({
    type: z.enum(['ClusterIP', 'NodePort', 'LoadBalancer']),
    host: z.string().optional(),
    port: z.int(),
  }),
  requests: z.partialRecord(z.enum(RUN_MEMBERS), requests),
});

const workloadRecord = z.strictObject({
  format: z.literal(1),
  cluster: z.string(),
  uid: z.string(),
  /** The Kubernetes version that it was created with. */
  version: z.string(),
  etcdVersion: z.string().optional(),
  settings: planeSettings,
  placement,
  isDestroying: z.boolean(),
  /** Whether etcd has had data. It is recorded before the first API server can write any. */
  isSealed: z.boolean(),
  /** The digests of the public keys. */
  keys: z.partialRecord(z.enum(PLANE_KEYS), z.string()).optional(),
  members: z.partialRecord(
    z.enum(MEMBERS),
    z.strictObject({ isRunning: z.boolean(), starts: z.array(z.iso.datetime()) }),
  ),
});
export type WorkloadRecord = Readonly<z.infer<typeof workloadRecord>>;

const FILE = 'record.json';
const MAX_STARTS = 10;

export function newRecord(
  { name, uid, version, settings, placement: chosen = DEFAULT_PLACEMENT }: PlaneSpec,
  etcdVersion: string | undefined,
): WorkloadRecord {
  const created = {
    cluster: name,
    uid,
    version,
    etcdVersion,
    settings,
    placement: chosen,
  };
  const fresh = { isDestroying: false, isSealed: false, members: {} };
  return workloadRecord.parse({ format: 1, ...created, ...fresh });
}

/** As the fields of a Cluster default. */
const DEFAULT_PLACEMENT = {
  storageGiB: 8,
  exposure: { type: 'ClusterIP', port: 6443 },
  requests: {},
} as const;

export function parseWorkloadRecord(object: KubeObject): WorkloadRecord {
  const { data } = workloadRecord.safeParse(parsed(textAt(object, 'data', FILE)));
  if (data) return data;
  const where = `ConfigMap ${object.metadata.namespace ?? ''}/${RECORD}`;
  throw new HostingError('CorruptRecord', `${where} is not a valid record of a control plane`, {
    where,
    hint: 'restore it from a backup, or delete the namespace with all its data and create the Cluster again',
  });
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function recordObject(record: WorkloadRecord, resourceVersion?: string): KubeObject {
  const { cluster } = record;
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: RECORD,
      namespace: planeNamespace(cluster),
      labels: planeLabels(cluster),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
    data: { [FILE]: JSON.stringify(record) },
  };
}

/** Records that a member is to run. A member that is to run already is not started again. */
export function withStart(record: WorkloadRecord, member: WorkloadMember, at: Date): WorkloadRecord {
  const before = record.members[member];
  if (before?.isRunning === true) return record;
  const starts = [...(before?.starts ?? []), at.toISOString()].slice(-MAX_STARTS);
  return { ...record, members: { ...record.members, [member]: { isRunning: true, starts } } };
}

export function withStop(record: WorkloadRecord, member: WorkloadMember): WorkloadRecord {
  const before = record.members[member];
  if (before?.isRunning !== true) return record;
  return { ...record, members: { ...record.members, [member]: { ...before, isRunning: false } } };
}

export function startsOf(record: WorkloadRecord | undefined, member: WorkloadMember): readonly Date[] {
  return (record?.members[member]?.starts ?? []).map((time) => new Date(time));
}
