/** Finds claims of a control plane whose StorageClass is not the one that the file of images names. Pure. A claim keeps its class as long as it exists. */
import { textAt } from '../../../../../kube/objects/json.ts';
import { optional } from '../../../../../kube/objects/optional.ts';
import type { ClaimClass } from '../../driver.ts';
import type { FoundPlane } from '../hub.ts';
import type { WorkloadImages } from '../images.ts';
import { BACKUPS, etcdMembersOf, planeNamespace, SNAPSHOT } from '../names.ts';

export type NamedClasses = Pick<WorkloadImages, 'storageClass' | 'backupStorageClass'>;

/** A class that is not named is the default of the hub, which may be another one each day. A claim that is missing has none. Undefined: none differs. */
export function otherClasses(
  { owner, record, objects }: Pick<FoundPlane, 'owner' | 'record' | 'objects'>,
  { storageClass, backupStorageClass }: NamedClasses = {},
): readonly ClaimClass[] | undefined {
  const asked = [
    ...[...etcdMembersOf(record), SNAPSHOT].map((claim) => [claim, storageClass] as const),
    [BACKUPS, backupStorageClass] as const,
  ];
  const differing = asked.flatMap(([name, expected]) => {
    const claim = objects.claims.get(name);
    const found = claim && textAt(claim, 'spec', 'storageClassName');
    if (!claim || expected === undefined || found === expected) return [];
    return [
      {
        claim: `${planeNamespace(owner.name)}/${name}`,
        isBackup: name === BACKUPS,
        expected,
        ...optional('found', found === '' ? undefined : found),
      },
    ];
  });
  return differing.length > 0 ? differing : undefined;
}
