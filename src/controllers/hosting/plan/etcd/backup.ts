/** Decides when a backup of etcd is taken, and when the data of one is restored. Pure. */
import { ANNOTATION_BACKUP_REQUEST } from '../../../../api/names.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import { wholeSeconds } from '../../../../os/dates.ts';
import type { BackupAttempt, BackupReport } from '../../drivers/driver.ts';
import type { HostingAct, HostingDecision, HostingInput } from '../input.ts';
import { etcdReports, isEtcdServing } from './quorum.ts';

/** A backup that failed reads the whole database again, and mostly fails again. */
const RETRY_MS = 300_000;
/** Backups on request only: as many as the default of spec.hosted.etcd.backup.keep. */
const KEEP = 7;
/** The length of status.hosted.etcd.backupRequest. */
const MAX_REQUEST = 64;

export type UpkeepAct = Extract<HostingAct, { readonly type: 'Backup' | 'Drill' }>;

/** Tells whether the act runs beside the reconcile that begins it. */
export function isUpkeep(act: HostingAct): act is UpkeepAct {
  return act.type === 'Backup' || act.type === 'Drill';
}

/** Adds a backup that is due to what is waited for: it interrupts no client, and a person may take long. Every other act goes first. */
export function withBackup(input: HostingInput, decision: HostingDecision): HostingDecision {
  return decision.act ? decision : { ...decision, ...optional('act', planBackup(input)) };
}

/** Adds a drill that is due. It needs memory and time, and is planned again while it is postponed, so that every other act goes first. */
export function withDrill(input: HostingInput, decision: HostingDecision): HostingDecision {
  return decision.act ? decision : { ...decision, ...optional('act', planDrill(input)) };
}

function planBackup(input: HostingInput): HostingAct | undefined {
  if (input.upkeep || !isEtcdServing(input) || hasJustFailed(input)) return undefined;
  const because = backupReason(input);
  if (because === undefined) return undefined;
  const { keep = KEEP } = input.hosted.etcd.backup ?? {};
  return { type: 'Backup', options: { keep, ...optional('request', requestOf(input)) }, because };
}

function hasJustFailed({ plane, now }: HostingInput): boolean {
  return isRetryEarly(plane.backup?.attempt, now);
}

function isRetryEarly(attempt: BackupAttempt | undefined, now: Date): boolean {
  return attempt?.problem !== undefined && isWithin(attempt.at, RETRY_MS, now);
}

function planDrill({ plane, hosted, upkeep, now }: HostingInput): HostingAct | undefined {
  const { drillEverySeconds } = hosted.etcd.backup ?? {};
  if (drillEverySeconds === undefined || !plane.backup || upkeep) return undefined;
  const { backups, drill } = plane.backup;
  const last = backups.at(-1);
  if (!last || isRetryEarly(drill, now) || isPassed(drill, drillEverySeconds, now)) return undefined;
  return { type: 'Drill', because: `${last.name} has to be restored for a test` };
}

function isPassed(drill: BackupAttempt | undefined, everySeconds: number, now: Date): boolean {
  return drill !== undefined && drill.problem === undefined && isWithin(drill.at, everySeconds * 1000, now);
}

/** Returns why etcd is not defragmented, and no member of it changed: a backup reads from one, and would begin again. */
export function backupRunning({ upkeep }: Pick<HostingInput, 'upkeep'>): string | undefined {
  if (upkeep?.type !== 'Backup') return undefined;
  return `a backup of etcd is being taken since ${wholeSeconds(upkeep.startedAt)}`;
}

function backupReason({ plane, hosted, ...input }: HostingInput): string | undefined {
  if (!plane.backup) return undefined;
  const last = plane.backup.backups.at(-1);
  const request = requestOf(input);
  if (request !== undefined && request !== last?.request) return `a person asked for it: ${request}`;
  const { everySeconds } = hosted.etcd.backup ?? {};
  return everySeconds === undefined ? undefined : dueReason(plane.backup, everySeconds, input.now);
}

/**
 * A backup of the future tells nothing: the clock was set back since. The last attempt limits how often one is taken, whatever its result: each
 * one more removes an older one.
 */
function dueReason({ backups, attempt }: BackupReport, everySeconds: number, now: Date): string | undefined {
  const last = backups.at(-1);
  if (!last) return 'etcd has no backup';
  if (attempt && isWithin(attempt.at, RETRY_MS, now)) return undefined;
  if (isWithin(last.takenAt, everySeconds * 1000, now)) return undefined;
  return `the last one is of ${last.takenAt.toISOString()}, and one is due every ${everySeconds} s`;
}

function isWithin(since: Date, milliseconds: number, now: Date): boolean {
  const ageMs = +now - +since;
  return ageMs >= 0 && ageMs < milliseconds;
}

function requestOf({ cluster }: Pick<HostingInput, 'cluster'>): string | undefined {
  const request = cluster.metadata.annotations?.[ANNOTATION_BACKUP_REQUEST];
  return request !== undefined && request !== '' && request.length <= MAX_REQUEST ? request : undefined;
}

/**
 * Restores at creation only, before etcd starts for the first time. Data that is lost later is not replaced by older data without a person:
 * clients rely on writes that the backup does not have.
 */
export function planBackupRestore({ plane, hosted, cluster }: HostingInput): HostingDecision | undefined {
  const from = hosted.etcd.restoreFrom;
  if (from === undefined || plane.data !== 'Empty') return undefined;
  if (cluster.status?.hosted?.readyAt !== undefined) return undefined;
  // The first of several members has begun the etcd, and the others have no data yet.
  if (etcdReports({ plane }).some(({ data }) => data === 'Own')) return undefined;
  return {
    act: { type: 'Restore', from, because: 'etcd has no data, and spec.hosted.etcd.restoreFrom is set' },
  };
}
