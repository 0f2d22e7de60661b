/** Reads what is known of the backups of a control plane of pods: the list that the last Job left on their claim, and the record of attempts. Pure. */
import { listAt, textAt } from '../../../../../kube/objects/json.ts';
import type { KubeObject } from '../../../../../kube/objects/object.ts';
import { optional } from '../../../../../kube/objects/optional.ts';
import type { BackupReport, UpkeepStep } from '../../driver.ts';
import { backupsOf, parseBackupList } from '../../etcd/backup/list.ts';
import type { FoundPlane } from '../hub.ts';
import { ANNOTATION_BACKUPS, BACKUPS } from '../names.ts';
import { attemptOf } from '../record.ts';

/** Undefined before the control plane is prepared. */
export function reportPodBackups({ record, objects }: FoundPlane): BackupReport | undefined {
  if (!record) return undefined;
  const list = parseBackupList(objects.claims.get(BACKUPS)?.metadata.annotations?.[ANNOTATION_BACKUPS]);
  return {
    backups: list ? backupsOf(list) : [],
    ...optional('attempt', attemptOf(record, 'backup')),
    ...optional('drill', attemptOf(record, 'drill')),
    ...optional('restoredFrom', record.restored),
  };
}

/** Returns what the last container of a Job has reported. Undefined: its pod was removed, or it has reported nothing. */
export function reportedBy(pods: readonly KubeObject[]): string | undefined {
  const ended = pods.flatMap((pod) => listAt(pod, 'status', 'containerStatuses'));
  const words = ended.map((status) => textAt(status, 'state', 'terminated', 'message'));
  return words.find((text) => text !== undefined && text !== '');
}

/** The first container copies, and everything after it reads the copy; the last one of a drill does so through an API server. */
export function stepOf(container: string | undefined): UpkeepStep {
  if (container === undefined) return 'Waiting';
  if (container === 'check') return 'Serving';
  return container === 'copy' || container === 'open' ? 'Copying' : 'Opening';
}
