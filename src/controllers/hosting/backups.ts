/** Tells whether etcd has a recent backup: as a condition, and in the status. Pure. */
import type { HostedDrill, HostedEtcdStatus } from '../../api/generated/types.ts';
import { type ConditionUpdate, conditionOf } from '../../kube/objects/conditions.ts';
import { optional } from '../../kube/objects/optional.ts';
import { truncate } from '../../kube/objects/truncate.ts';
import { wholeSeconds } from '../../os/dates.ts';
import { type BackupAttempt, type BackupReport, INTERRUPTED } from './drivers/driver.ts';
import { type DrillCheck, drillText } from './drivers/etcd/drill/check.ts';
import { backupRunning } from './plan/etcd/backup.ts';
import { isEtcdServing } from './plan/etcd/quorum.ts';
import type { HostingInput } from './plan/input.ts';
import { CLASS_DIFFERS, classDifference } from './storage-class.ts';

const TYPE = 'BackupReady';
const MAX_PROBLEM = 512;
/** A backup may take as long as until the next one is due. */
const MISSED = 2;

type Found = Pick<HostingInput, 'cluster' | 'now' | 'upkeep'> & { readonly plane?: HostingInput['plane'] };
type Answer = Omit<ConditionUpdate, 'type'>;

/** Empty: the spec has no schedule, and had none before, and the last backup that a person asked for did not fail. */
export function backupReady(input: Found): readonly ConditionUpdate[] {
  const { etcd } = input.cluster.spec.hosted ?? {};
  const answer = etcd?.backup ? judge(input, etcd.backup.everySeconds) : judgeRequest(input);
  return answer ? [{ type: TYPE, ...answer }] : [];
}

function judgeRequest(input: Found): Answer | undefined {
  const attempt = backupAttempt(input);
  if (attempt?.problem !== undefined) {
    return { status: 'False', reason: 'BackupFailed', message: failureText(attempt) };
  }
  if (!hadBefore(input)) return undefined;
  return { status: 'Unknown', reason: 'NotConfigured', message: 'spec.hosted.etcd.backup is not set' };
}

function hadBefore({ cluster }: Found): boolean {
  return conditionOf(cluster.status?.conditions, TYPE) !== undefined;
}

function judge(input: Found, everySeconds: number): Answer {
  const { plane, cluster, now } = input;
  const last = lastOf(input);
  if (!plane) return unobserved(last, everySeconds, now);
  if (!plane.isPrepared) {
    return { status: 'Unknown', reason: 'NotCreated', message: 'the control plane is not created yet' };
  }
  if (!plane.backup) {
    return {
      status: 'False',
      reason: 'NotSupported',
      message: 'the file of images of hosting names no backupStorageClass',
    };
  }
  if (last && isRecent(last, everySeconds, now)) return recent(last, input, plane.backup);
  const { reason, why } = whyNot(input);
  const since = last ? `the last backup is of ${wholeSeconds(last)}` : 'etcd has no backup';
  const paused = cluster.spec.paused ? '; none is taken while spec.paused is set' : '';
  return { status: 'False', reason, message: `${since}; ${why}${paused}` };
}

/** Only this hosting takes backups, so the one in the status is the last one. */
function unobserved(last: Date | undefined, everySeconds: number, now: Date): Answer {
  const text = last ? `the last backup known is of ${wholeSeconds(last)}` : 'no backup is known';
  const isKnown = last !== undefined && isRecent(last, everySeconds, now);
  const message = `${text}; the control plane cannot be observed`;
  return isKnown
    ? { status: 'True', reason: 'Recent', message: text }
    : { status: 'Unknown', reason: 'NotObserved', message };
}

function lastOf({ plane, cluster }: Found): Date | undefined {
  if (plane?.backup) return plane.backup.backups.at(-1)?.takenAt;
  const recorded = Date.parse(recordedOf(cluster).lastBackupAt ?? '');
  return Number.isNaN(recorded) ? undefined : new Date(recorded);
}

function recordedOf({ status }: Found['cluster']): Partial<HostedEtcdStatus> {
  return status?.hosted?.etcd ?? {};
}

function isRecent(last: Date, everySeconds: number, now: Date): boolean {
  const ageMs = +now - +last;
  // The status has whole seconds.
  return ageMs > -1000 && ageMs < MISSED * everySeconds * 1000;
}

function recent(last: Date, input: Found, { backups, drill: lastDrill }: BackupReport): Answer {
  const message = `${backups.length} backups; the last one is of ${wholeSeconds(last)}, and was opened`;
  const [attempt, drill] = [backupAttempt(input), ended(lastDrill)];
  if (drill?.problem !== undefined) {
    const text = truncate(`the restore drill fails: ${drill.problem}`, MAX_PROBLEM);
    return { status: 'False', reason: 'DrillFailed', message: `${message}; ${text}` };
  }
  const restored = drill?.checked ? `${message}; ${drilledText(drill.at, drill.checked)}` : message;
  if (attempt?.problem === undefined) return recentOn(input, restored);
  const problem = failureText(attempt);
  return { status: 'True', reason: 'LastAttemptFailed', message: `${restored}; ${problem}` };
}

function recentOn({ plane }: Found, message: string): Answer {
  const difference = plane && classDifference(plane, 'backups');
  if (difference === undefined) return { status: 'True', reason: 'Recent', message };
  return { status: 'True', reason: CLASS_DIFFERS, message: `${message}; ${difference}` };
}

function drilledText(at: Date, checked: DrillCheck): string {
  return `in the drill of ${wholeSeconds(at)} ${drillText(checked)}`;
}

type WhyNot = { readonly reason: string; readonly why: string };

/** The record of an attempt that runs is that of one that was interrupted. */
function backupAttempt({ plane, upkeep }: Found): BackupAttempt | undefined {
  const { attempt } = plane?.backup ?? {};
  return upkeep?.type === 'Backup' ? ended(attempt) : attempt;
}

/** Returns the attempt with the problem of the one before where it has not ended, or was interrupted. */
function ended(attempt: BackupAttempt | undefined): BackupAttempt | undefined {
  if (attempt?.problem !== INTERRUPTED) return attempt;
  const { at, since, former } = attempt;
  return { at, ...optional('since', since), ...optional('problem', former) };
}

function whyNot(input: Found): WhyNot {
  const { plane } = input;
  const attempt = backupAttempt(input);
  if (attempt?.problem !== undefined) return { reason: 'BackupFailed', why: failureText(attempt) };
  const running = backupRunning(input);
  if (running !== undefined) return { reason: 'BackupDue', why: running };
  return plane && isEtcdServing({ plane })
    ? { reason: 'BackupDue', why: 'the next one is under way' }
    : { reason: 'EtcdNotReady', why: 'etcd does not answer' };
}

function failureText({ problem = '', since }: NonNullable<BackupReport['attempt']>): string {
  const text = `backups fail${since ? ` since ${wholeSeconds(since)}` : ''}: ${problem}`;
  return `${truncate(text, MAX_PROBLEM)}; the next attempt is within 5 minutes`;
}

type BackupStatus = Pick<
  HostedEtcdStatus,
  'lastBackupAt' | 'lastBackup' | 'backupRequest' | 'restoredFrom' | 'lastDrillAt' | 'lastDrill' | 'upkeep'
>;

/** Returns the recorded status of what is not observed. */
export function backupStatus({ plane, cluster, upkeep }: HostingInput): BackupStatus {
  const { lastBackupAt, lastBackup, backupRequest, restoredFrom, lastDrillAt, lastDrill } =
    recordedOf(cluster);
  const { backup } = plane;
  const running = upkeep && { ...upkeep, startedAt: wholeSeconds(upkeep.startedAt) };
  const known = {
    lastBackupAt,
    lastBackup,
    backupRequest,
    restoredFrom,
    lastDrillAt,
    lastDrill,
    upkeep: running,
  };
  if (!backup) return defined(known);
  const last = backup.backups.at(-1);
  return defined({
    lastBackupAt: last && wholeSeconds(last.takenAt),
    lastBackup: last?.name,
    backupRequest: last?.request,
    restoredFrom: backup.restoredFrom ?? restoredFrom,
    ...drillStatus(backup, { lastDrillAt, lastDrill }),
    upkeep: running,
  });
}

type DrillStatus = { readonly [K in 'lastDrillAt' | 'lastDrill']: HostedEtcdStatus[K] | undefined };

/** Returns the recorded status unless a drill has restored a backup since. */
function drillStatus({ drill }: BackupReport, recorded: DrillStatus): DrillStatus {
  if (!drill || drill.problem !== undefined) return recorded;
  return { lastDrillAt: wholeSeconds(drill.at), lastDrill: drill.checked && statusOfCheck(drill.checked) };
}

function statusOfCheck({ ours, clusterUid, ...counts }: DrillCheck): HostedDrill {
  return { ...counts, ...optional('clusterUID', clusterUid), kubenodeObjects: ours };
}

function defined(
  fields: {
    readonly [K in keyof BackupStatus]-?: BackupStatus[K] | undefined;
  },
): BackupStatus {
  return {
    ...optional('lastBackupAt', fields.lastBackupAt),
    ...optional('lastBackup', fields.lastBackup),
    ...optional('backupRequest', fields.backupRequest),
    ...optional('restoredFrom', fields.restoredFrom),
    ...optional('lastDrillAt', fields.lastDrillAt),
    ...optional('lastDrill', fields.lastDrill),
    ...optional('upkeep', fields.upkeep),
  };
}
