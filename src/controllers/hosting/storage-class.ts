/** Words how claims differ from the StorageClass that is asked for. Pure. The difference changes nothing by itself: data is never moved to another volume. */
import type { ClaimClass, PlaneReport } from './drivers/driver.ts';

export const CLASS_DIFFERS = 'StorageClassDiffers';
const MAX_CLAIMS = 3;

/** Returns the claims and what to do, of the volumes of etcd or of that of the backups. Undefined: all have the class that is asked for. */
export function classDifference(
  { otherClasses = [] }: Pick<PlaneReport, 'otherClasses'>,
  volumes: 'etcd' | 'backups',
): string | undefined {
  const claims = otherClasses.filter(({ isBackup }) => isBackup === (volumes === 'backups'));
  if (claims.length === 0) return undefined;
  const more = claims.length > MAX_CLAIMS ? [`and ${claims.length - MAX_CLAIMS} more`] : [];
  return `${[...claims.slice(0, MAX_CLAIMS).map(claimText), ...more].join(', ')}: ${HINTS[volumes]}`;
}

function claimText({ claim, found, expected }: ClaimClass): string {
  const has = found === undefined ? 'no StorageClass' : `StorageClass ${found}`;
  return `PersistentVolumeClaim ${claim} has ${has}, and the file of images names ${expected}`;
}

const HINTS = {
  etcd: 'a claim keeps its class; take a backup and create the Cluster again with restoreFrom to move the data, or name the former class',
  backups:
    'a claim keeps its class; to move to the other one, set the volume of this claim to Retain and delete the claim: hosting creates it again, without the former backups; or name the former class',
} as const;
