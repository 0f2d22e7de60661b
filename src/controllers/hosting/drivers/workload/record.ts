/**
 * The record of a control plane in its namespace: what it was created with, and which members run. It is changed by compare-and-swap, and
 * before the act that it is about, so that an interrupted act is repeated and never doubled.
 */
import { z } from 'zod';
import { canonicalJson } from '../../../../kube/objects/digest.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import { planeSettings } from '../../../../local/state.ts';
import { ROTATION_FIELDS } from '../authorities/record.ts';
import { signedRecord } from '../authorities/signed.ts';
import {
  API_SERVERS,
  type BackupAttempt,
  type EtcdMember,
  isEtcdMember,
  type MemberRun,
  OWN_CONTROLLERS,
  type PlaneSpec,
  RUN_MEMBERS,
  type SettledPlane,
} from '../driver.ts';
import { drillCheck } from '../etcd/drill/check.ts';
import { PLANE_KEYS } from '../keys.ts';
import { WORKLOAD_MEMBERS, type WorkloadMember } from './names.ts';

const requests = z.strictObject({ cpuMillis: z.int().optional(), memoryMiB: z.int().optional() });

const memberRun = z.strictObject({
  version: z.string().optional(),
  flags: z.record(z.string(), z.string()),
  requests: requests.optional(),
  image: z.string().optional(),
});

const placement = z.strictObject({
  storageGiB: z.int(),
  exposure: z.strictObject({
    type: z.enum(['ClusterIP', 'NodePort', 'LoadBalancer']),
    host: z.string().optional(),
    port: z.int(),
  }),
  requests: z.partialRecord(z.enum(RUN_MEMBERS), requests),
});

/** Notes are not strict, nor what they have: a later version of hosting may add to them. */
const attempt = z.object({
  at: z.iso.datetime(),
  problem: z.string().optional(),
  since: z.iso.datetime().optional(),
  former: z.string().optional(),
  checked: drillCheck.optional(),
});

/** A later version of hosting may add fields that change what a member is started with, so that unknown ones are refused. */
export const workloadRecord = z.strictObject({
  format: z.literal(1),
  cluster: z.string(),
  uid: z.string(),
  /** The Kubernetes version that it was created with, or that its last change was completed with; as etcdVersion, settings and placement. */
  version: z.string(),
  etcdVersion: z.string().optional(),
  settings: planeSettings,
  placement,
  /** The number of API servers. Absent: one. It is not a setting: a plan of its own changes it. */
  apiServers: z.int().optional(),
  /** The image of our own controllers. Absent: they were never started by a hosting that changes it. */
  controllers: z.string().optional(),
  isDestroying: z.boolean(),
  /** Whether etcd has had data. It is recorded before the first API server can write any. */
  isSealed: z.boolean(),
  /** The snapshot of etcd that was verified last. */
  snapshot: z.object({ takenAt: z.iso.datetime() }).optional(),
  /** The addresses of the Services, by name. One that is made again gets its address again: etcd keeps those of its members in its data. */
  addresses: z.record(z.string(), z.string()).optional(),
  /** The last attempts at the upkeep of etcd. */
  attempts: z
    .object({ space: attempt.optional(), backup: attempt.optional(), drill: attempt.optional() })
    .optional(),
  /** The backup that the data of etcd began with. */
  restored: z.string().optional(),
  /** The digests of the public keys. */
  keys: z.partialRecord(z.enum(PLANE_KEYS), z.string()).optional(),
  /** The rotation of the authorities that was begun, or completed last. Each phase is recorded before a Secret is changed for it. */
  rotation: z.strictObject(ROTATION_FIELDS).optional(),
  /** The document of the authorities that was signed last. Its order must never begin again. */
  signed: signedRecord.optional(),
  members: z.partialRecord(
    z.enum(WORKLOAD_MEMBERS),
    z.strictObject({
      isRunning: z.boolean(),
      starts: z.array(z.iso.datetime()),
      /** The run that it was changed to. Absent: it runs with what is settled. */
      run: memberRun.optional(),
      /** The image that it was started with last. Absent: by a hosting that did not record it. */
      image: z.string().optional(),
      /** Whether it was started before its starts were forgotten, so that etcd has data. */
      hasData: z.boolean().optional(),
      /** The members that it joins, which it learns from its flags until it counts for the majority. */
      initialCluster: z.string().optional(),
      /** Whether its volume was emptied. It is recorded before it is stopped, as its pod is what shows it. */
      isLost: z.boolean().optional(),
      /** The UID of the claim of that volume. A claim that was restored has another one. */
      lostClaim: z.string().optional(),
      /** The count of the phase of a rotation that it was started in last. It stays when the rotation is over, as its pod is made from it. */
      phase: z.int().optional(),
    }),
  ),
});
export type UpkeepKind = keyof NonNullable<WorkloadRecord['attempts']>;
export type WorkloadRecord = Readonly<z.infer<typeof workloadRecord>>;

const MAX_STARTS = 10;

export function newRecord(
  { name, uid, version, settings, apiServers, placement: chosen = DEFAULT_PLACEMENT }: PlaneSpec,
  etcdVersion: string | undefined,
): WorkloadRecord {
  const created = {
    cluster: name,
    uid,
    version,
    etcdVersion,
    settings,
    placement: chosen,
    ...(apiServers > 1 ? { apiServers } : {}),
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

/** Records that a member is to run with that image. A member that is to run already is not started again. */
export function withStart(
  record: WorkloadRecord,
  member: WorkloadMember,
  { at, image }: { readonly at: Date; readonly image: string },
): WorkloadRecord {
  if (record.members[member]?.isRunning === true) return withImage(record, member, image);
  const started = withMember(record, member, {
    isRunning: true,
    starts: startedAt(record, member, at),
    image,
    ...startedPhase(record),
  });
  return member === OWN_CONTROLLERS ? { ...started, controllers: record.controllers ?? image } : started;
}

/** Records that etcd has data from now on. */
export function withSeal(record: WorkloadRecord, image: string): WorkloadRecord {
  const named = withImage(record, 'etcd', image);
  return named.isSealed ? named : { ...named, isSealed: true };
}

/** Records that the first member of etcd has the data of a backup, which it never begins without from then on. */
export function withRestored(
  record: WorkloadRecord,
  { name, image }: { readonly name: string | undefined; readonly image: string },
): WorkloadRecord {
  const sealed = withMember(withSeal(record, image), 'etcd', { hasData: true });
  return { ...sealed, ...optional('restored', name) };
}

/** Records that the volume with the data of a backup was lost before etcd was ever started on it, so that it may begin without. */
export function withoutRestored(record: WorkloadRecord): WorkloadRecord {
  const { hasData, starts = [] } = record.members.etcd ?? {};
  if (hasData !== true || starts.length > 0) return record;
  const { restored: _, ...empty } = withMember(record, 'etcd', { hasData: undefined });
  return { ...empty, isSealed: false };
}

/** An earlier version of hosting recorded no image of a member that it started. */
function withImage(record: WorkloadRecord, member: WorkloadMember, image: string): WorkloadRecord {
  return record.members[member]?.image === undefined ? withMember(record, member, { image }) : record;
}

/** Records a start of a member that runs, and is to run as it was recorded. */
export function withCorrectedStart(record: WorkloadRecord, member: WorkloadMember, at: Date): WorkloadRecord {
  return withMember(record, member, { starts: startedAt(record, member, at) });
}

export function withStop(record: WorkloadRecord, member: WorkloadMember): WorkloadRecord {
  return record.members[member]?.isRunning === true
    ? withMember(record, member, { isRunning: false })
    : record;
}

/** Records that a member runs which is recorded as stopped: hosting was killed before it stopped it. */
export function withRunning(record: WorkloadRecord, member: WorkloadMember): WorkloadRecord {
  return record.members[member]?.isRunning === false
    ? withMember(record, member, { isRunning: true })
    : record;
}

interface RecordedChange {
  readonly run: MemberRun;
  readonly image: string;
  readonly at: Date;
  /** The image that our own controllers run before their first change. */
  readonly controllers?: string | undefined;
}

/**
 * Records what a member is to run with from now on. The starts are forgotten, as nothing is known about that. The same change again is not
 * another start.
 */
export function withRun(
  record: WorkloadRecord,
  member: WorkloadMember,
  { run, image, at, controllers }: RecordedChange,
): WorkloadRecord {
  const before = record.members[member];
  const isRunning = before?.isRunning === true;
  if (before?.image === image && canonicalJson(before.run) === canonicalJson(run)) return record;
  const starts = isRunning ? [at.toISOString()] : [];
  const changed = withMember(record, member, {
    isRunning,
    starts,
    run,
    image,
    ...keptData(record, member),
    ...startedPhase(record),
  });
  return member === OWN_CONTROLLERS
    ? { ...changed, ...optional('controllers', record.controllers ?? controllers) }
    : changed;
}

/**
 * Records that a member that runs is started again for the phase of a rotation, with the image that it has. The same phase again is not another
 * start.
 */
export function withRestart(
  record: WorkloadRecord,
  member: WorkloadMember,
  { at, image }: { readonly at: Date; readonly image: string | undefined },
): WorkloadRecord {
  const before = record.members[member];
  const { phase } = startedPhase(record);
  if (before?.isRunning !== true || phase === undefined || before.phase === phase) return record;
  const known = image === undefined ? record : withImage(record, member, image);
  return withMember(known, member, { starts: [at.toISOString()], phase });
}

/** A member that is started now reads the files of the phase. While they are being written nothing is known about that. */
function startedPhase({ rotation }: WorkloadRecord): Pick<MemberRecord, 'phase'> {
  if (!rotation?.isApplied || rotation.phase === 'Completed') return {};
  return { phase: rotation.sequence };
}

/** Forgets a rotation that was taken back. The phases that members were started in stay. */
export function withoutRotation(record: WorkloadRecord): WorkloadRecord {
  const { rotation: _, ...rest } = record;
  return rest;
}

/** Records what the control plane has from now on. What members emulate stays until each is changed. */
export function withSettled(record: WorkloadRecord, settled: SettledPlane): WorkloadRecord {
  const { version, etcdVersion, settings, requests: reserved, controllers } = settled;
  return {
    ...record,
    version,
    etcdVersion,
    settings,
    placement: { ...record.placement, ...optional('requests', reserved) },
    ...optional('controllers', controllers ?? record.controllers),
  };
}

/**
 * Records how many API servers there are. One that is not counted any more is forgotten, as it may be counted again with another version. With
 * one, an earlier version of hosting reads the record, too.
 */
export function withApiServers(record: WorkloadRecord, count: number): WorkloadRecord {
  const forgotten: readonly string[] = API_SERVERS.slice(count);
  const { apiServers: _, members, ...rest } = record;
  const kept = Object.entries(members).filter(([name]) => !forgotten.includes(name));
  return { ...rest, ...(count > 1 ? { apiServers: count } : {}), members: Object.fromEntries(kept) };
}

/** Records the members that one without data is to join. */
export function withInitialCluster(
  record: WorkloadRecord,
  member: EtcdMember,
  initialCluster: string | undefined,
): WorkloadRecord {
  if (record.members[member]?.initialCluster === initialCluster) return record;
  return withMember(record, member, { initialCluster });
}

/** Records that the volume of a member was emptied that is behind the claim with this UID. */
export function withLoss(
  record: WorkloadRecord,
  member: EtcdMember,
  claim: string | undefined,
): WorkloadRecord {
  const before = record.members[member];
  if (before?.isLost === true && before.lostClaim === claim) return record;
  return withMember(record, member, { isLost: true, lostClaim: claim });
}

/** Records that a member has no data and was not started yet: the starts of the one that lost its data do not count. */
export function withNewMember(record: WorkloadRecord, member: EtcdMember): WorkloadRecord {
  const before = record.members[member];
  if (!before || (!wasStarted(record, member) && !before.isLost)) return record;
  const { run, image } = before;
  const fresh = { isRunning: false, starts: [], ...optional('run', run), ...optional('image', image) };
  return { ...record, members: { ...record.members, [member]: fresh } };
}

/** Records that a snapshot was verified. An older one changes nothing. */
export function withSnapshot(record: WorkloadRecord, takenAt: Date): WorkloadRecord {
  const before = record.snapshot?.takenAt;
  if (before !== undefined && Date.parse(before) >= +takenAt) return record;
  return { ...record, snapshot: { takenAt: takenAt.toISOString() } };
}

export function attemptOf(record: WorkloadRecord, kind: UpkeepKind): BackupAttempt | undefined {
  const found = record.attempts?.[kind];
  if (!found) return undefined;
  const { at, since, ...problems } = found;
  return {
    at: new Date(at),
    ...problems,
    ...optional('since', since === undefined ? undefined : new Date(since)),
  };
}

export function withAttempt(
  record: WorkloadRecord,
  kind: UpkeepKind,
  { at, problem, since, former, checked }: BackupAttempt,
): WorkloadRecord {
  const recorded = {
    at: at.toISOString(),
    ...optional('problem', problem),
    ...optional('since', since?.toISOString()),
    ...optional('former', former),
    ...optional('checked', checked),
  };
  return { ...record, attempts: { ...record.attempts, [kind]: recorded } };
}

/** Records the addresses of Services that had none yet. One that is recorded stays. */
export function withAddresses(
  record: WorkloadRecord,
  found: Readonly<Record<string, string>>,
): WorkloadRecord {
  const { addresses = {} } = record;
  if (Object.keys(found).every((name) => Object.hasOwn(addresses, name))) return record;
  return { ...record, addresses: { ...found, ...addresses } };
}

/** The data of a stopped etcd stay when the starts are forgotten that have made them. */
function keptData(record: WorkloadRecord, member: WorkloadMember): Pick<MemberRecord, 'hasData'> {
  const isStopped = isEtcdMember(member) && record.members[member]?.isRunning !== true;
  return isStopped && wasStarted(record, member) ? { hasData: true } : {};
}

type MemberRecord = NonNullable<WorkloadRecord['members'][WorkloadMember]>;

function withMember(
  record: WorkloadRecord,
  member: WorkloadMember,
  parts: Partial<MemberRecord>,
): WorkloadRecord {
  const before = record.members[member] ?? { isRunning: false, starts: [] };
  return { ...record, members: { ...record.members, [member]: { ...before, ...parts } } };
}

function startedAt(record: WorkloadRecord, member: WorkloadMember, at: Date): string[] {
  return [...(record.members[member]?.starts ?? []), at.toISOString()].slice(-MAX_STARTS);
}

/** Tells whether the member was ever started, so that it may have data. */
export function wasStarted(record: WorkloadRecord | undefined, member: WorkloadMember): boolean {
  const found = record?.members[member];
  return found !== undefined && (found.starts.length > 0 || found.hasData === true);
}

export function startsOf(record: WorkloadRecord | undefined, member: WorkloadMember): readonly Date[] {
  return (record?.members[member]?.starts ?? []).map((time) => new Date(time));
}
