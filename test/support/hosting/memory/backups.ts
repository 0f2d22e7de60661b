/** The backups of control planes in memory. They outlive their control planes. */
import {
  type BackupAttempt,
  type BackupOperations,
  type BackupReport,
  INTERRUPTED,
  type PlaneBackup,
  type PlaneOwner,
  type UpkeepControl,
} from '../../../../src/controllers/hosting/drivers/driver.ts';
import { HostingError } from '../../../../src/controllers/hosting/errors.ts';
import { optional } from '../../../../src/kube/objects/optional.ts';
import { OsError } from '../../../../src/os/errors.ts';
import { DRILLED } from '../objects.ts';
import { restoreEtcd } from './etcd.ts';
import type { MemoryPlane } from './plane.ts';

export interface MemoryBackups {
  /** By the name of the Cluster. */
  readonly stored: Map<string, readonly PlaneBackup[]>;
  readonly attempts: Map<string, BackupAttempt>;
  readonly drills: Map<string, BackupAttempt>;
  /** Why no backup can be taken. */
  problem?: string | undefined;
  isMemoryShort?: boolean;
  /** Whether backups and drills that begin wait for `release`. */
  isHeld?: boolean;
  release: () => void;
  /** Backups that do not open. */
  readonly damaged: Set<string>;
}

export function memoryBackups(): MemoryBackups {
  return {
    stored: new Map(),
    attempts: new Map(),
    drills: new Map(),
    damaged: new Set(),
    release: () => undefined,
  };
}

export interface BackupParts {
  readonly now: () => Date;
  readonly log: string[];
  readonly own: (owner: PlaneOwner) => MemoryPlane | undefined;
  readonly isDiskFull: boolean;
}

export function memoryBackupOperations(backups: MemoryBackups, parts: BackupParts): BackupOperations {
  const { now, log, own } = parts;
  return {
    take: async (owner, { keep, request }, control) => {
      const plane = own(owner);
      if (!plane || plane.isDestroying) throw refusal('NotPrepared', owner.name);
      await held(backups, control, () => begin(backups.attempts, owner, now()));
      attempt(backups, owner, parts);
      const stored = backups.stored.get(owner.name) ?? [];
      const taken = { name: nextName(stored, now()), takenAt: now(), ...optional('request', request) };
      backups.stored.set(owner.name, [...stored, taken].slice(-keep));
      log.push(`backup ${owner.name}`);
    },
    drill: async (owner, control) => {
      const { name } = owner;
      const last = backups.stored.get(name)?.at(-1)?.name ?? '';
      if (backups.isMemoryShort) {
        log.push(`postpone ${name}`);
        throw refusal('DrillPostponed', name);
      }
      await held(backups, control, () => begin(backups.drills, owner, now()));
      const isDamaged = backups.damaged.has(last);
      const result = isDamaged
        ? { problem: `${last} does not open` }
        : { checked: { ...DRILLED, backup: last } };
      backups.drills.set(name, { at: now(), ...result });
      if (isDamaged) throw refusal('DrillFailed', name);
      log.push(`drill ${name} ${last}`);
    },
    restore: async (owner, from) => {
      const plane = own(owner);
      if (!plane || plane.data === 'Own') return;
      const stored = backups.stored.get(owner.name) ?? [];
      const found = from === 'latest' ? stored.at(-1) : stored.find(({ name }) => name === from);
      if (!found) throw refusal('BackupMissing', owner.name);
      if (backups.damaged.has(found.name)) throw refusal('BackupUnusable', owner.name);
      if (!restoreEtcd(plane)) return;
      plane.restoredFrom = found.name;
      log.push(`restore ${owner.name} ${found.name}`);
    },
  };
}

/** Records the attempt as one that has not ended. */
function begin(attempts: Map<string, BackupAttempt>, { name }: PlaneOwner, at: Date): void {
  const before = attempts.get(name);
  const former = before?.problem === INTERRUPTED ? before.former : before?.problem;
  attempts.set(name, { at, problem: INTERRUPTED, since: before?.since ?? at, ...optional('former', former) });
}

async function held(backups: MemoryBackups, control: UpkeepControl, record: () => void): Promise<void> {
  record();
  control.onStep('Copying');
  control.signal.throwIfAborted();
  if (backups.isHeld !== true) return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  control.signal.addEventListener('abort', () => reject(control.signal.reason as Error));
  backups.release = resolve;
  await promise;
}

function attempt(backups: MemoryBackups, { name }: PlaneOwner, { now, isDiskFull }: BackupParts): void {
  const problem = isDiskFull ? 'the disk is full' : backups.problem;
  const since = backups.attempts.get(name)?.since ?? now();
  backups.attempts.set(name, { at: now(), ...(problem === undefined ? {} : { problem, since }) });
  if (problem !== undefined) throw new OsError('DiskFull', problem, { where: name });
}

function nextName(stored: readonly PlaneBackup[], now: Date): string {
  const number = Number(stored.at(-1)?.name.slice(0, 6) ?? 0) + 1;
  const time = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '');
  return `${String(number).padStart(6, '0')}-${time}Z`;
}

type Refusal = 'NotPrepared' | 'BackupMissing' | 'BackupUnusable' | 'DrillPostponed' | 'DrillFailed';

function refusal(code: Refusal, where: string): HostingError {
  return new HostingError(code, `the backup of ${where} cannot be restored`, {
    where,
    hint: 'create the Cluster again with another backup',
  });
}

export function reportBackups({ stored, attempts, drills }: MemoryBackups, plane: MemoryPlane): BackupReport {
  const { name } = plane.spec;
  return {
    backups: stored.get(name) ?? [],
    ...optional('attempt', attempts.get(name)),
    ...optional('drill', drills.get(name)),
    ...optional('restoredFrom', plane.restoredFrom),
  };
}
