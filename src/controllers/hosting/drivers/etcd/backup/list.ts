/** Describes the backups of a control plane in a few bytes, for those who cannot read their volume: the last words of a pod, an annotation. Pure. */
import { z } from 'zod';
import { optional } from '../../../../../kube/objects/optional.ts';
import type { PlaneBackup } from '../../driver.ts';

const NAME = /^\d{6}-(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/;

export function isBackupName(text: string): boolean {
  return NAME.test(text);
}

/** 100 names of 24 bytes fit in the 4096 bytes of a message of a container. */
const list = z.object({
  /** Oldest first. */
  names: z.array(z.string().regex(NAME)),
  /** When the newest one was taken. */
  takenAt: z.iso.datetime(),
  /** The request of a person that the newest one answers. */
  request: z.string().optional(),
});
export type BackupList = Readonly<z.infer<typeof list>>;

export function formatBackupList(backups: BackupList): string {
  return JSON.stringify(backups);
}

/** Undefined: it is not the list of backups. */
export function parseBackupList(text: string | undefined): BackupList | undefined {
  try {
    return text === undefined ? undefined : list.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Returns the backups. The name of one has the second in which it was taken. */
export function backupsOf({ names, takenAt, request }: BackupList): readonly PlaneBackup[] {
  return names.map((name, index) =>
    index === names.length - 1
      ? { name, takenAt: new Date(takenAt), ...optional('request', request) }
      : { name, takenAt: new Date(name.replace(NAME, '$1-$2-$3T$4:$5:$6Z')) },
  );
}
