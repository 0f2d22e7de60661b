/** The Jobs of a hub in memory with the volume of backups: what each would leave in the volume, and what its pod would report. */
import { formatBackupList } from '../../../src/controllers/hosting/drivers/etcd/backup/list.ts';
import { taskOf } from '../../../src/controllers/hosting/drivers/workload/backup/job.ts';
import { listAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { optional } from '../../../src/kube/objects/optional.ts';
import { DRILLED } from './objects.ts';

export interface MemoryHubBackups {
  /** The names of the backups in the volume, whichever claim has it. */
  names: string[];
  /** Takes the report of the next Job away, as a node that is removed with its pod does. */
  losesReport: boolean;
  /** How far the clock of the node is ahead. */
  aheadMs: number;
}

/** Returns the report of the last container. Undefined: the Job fails. */
export function endBackupJob(
  job: KubeObject,
  { backups, now }: { readonly backups: MemoryHubBackups; readonly now: Date },
): string | undefined {
  const pod = ['spec', 'template', 'spec'] as const;
  const containers = [...listAt(job, ...pod, 'initContainers'), ...listAt(job, ...pod, 'containers')];
  const args = containers.flatMap((container) => listAt(container, 'args').map(String));
  const flag = (name: string): string | undefined =>
    args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
  const task = taskOf(job);
  const newest = backups.names.at(-1);
  if (task === 'Drill') return newest && JSON.stringify({ ...DRILLED, backup: newest });
  if (task === 'Restore') return named(backups.names, flag('from'));
  return keep(backups, now, { keep: Number(flag('keep')), request: flag('request') });
}

function named(names: readonly string[], from: string | undefined): string | undefined {
  return from === 'latest' ? names.at(-1) : names.find((name) => name === from);
}

function keep(
  backups: MemoryHubBackups,
  now: Date,
  { keep: count, request }: { readonly keep: number; readonly request: string | undefined },
): string {
  const time = now
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(/[-:]/g, '');
  const number = Number(backups.names.at(-1)?.slice(0, 6) ?? 0) + 1;
  backups.names.push(`${String(number).padStart(6, '0')}-${time}`);
  backups.names = backups.names.slice(-count);
  const list = {
    names: backups.names,
    takenAt: new Date(+now + backups.aheadMs).toISOString(),
    ...optional('request', request),
  };
  return formatBackupList(list);
}
