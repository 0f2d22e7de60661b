/** Names objects and places in messages. Pure. */
import { API_SERVERS, isApiServer, type PlaneMember, type PlaneReport } from '../drivers/driver.ts';

const MAX_NAMES = 20;

export function namesOf(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).join(', ');
  return names.length > MAX_NAMES ? `${shown} and ${names.length - MAX_NAMES} more` : shown;
}

type Place = Pick<PlaneReport, 'where' | 'place'>;

export function planePlace({ where, place = 'Folder' }: Place): readonly [kind: string, name: string] {
  return [place, where.replace(/^namespace /, '')];
}

export function isNamespace({ place }: Place): boolean {
  return place === 'Namespace';
}

type LogPlace = Place & Partial<Pick<PlaneReport, 'members'>>;

/** Tells where the log of a member is. */
export function logPlace(plane: LogPlace, member: PlaneMember): string {
  const [, name] = planePlace(plane);
  return isNamespace(plane)
    ? `with kubectl -n ${name} logs -l ${podSelector(plane, member)}`
    : `in ${name}/logs`;
}

/** The pods of several API servers are of one part, and all but the first have a label of their own. */
function podSelector({ members = [] }: LogPlace, member: PlaneMember): string {
  if (isFurtherServer(member)) return `kubenode.dev/member=${member}`;
  const isFirstOfSeveral = member === API_SERVERS[0] && members.some((each) => isFurtherServer(each.member));
  const part = `kubenode.dev/part=${member}`;
  return isFirstOfSeveral ? `'${part},!kubenode.dev/member'` : part;
}

function isFurtherServer(member: PlaneMember): boolean {
  return isApiServer(member) && member !== API_SERVERS[0];
}

/** Tells where the snapshot is that was taken before the last change of a version. */
export function snapshotPlace(plane: Place): string {
  const [, name] = planePlace(plane);
  return isNamespace(plane)
    ? `the snapshot in the volume of PersistentVolumeClaim ${name}/etcd-snapshot`
    : `${name}/snapshots/upgrade`;
}

/** Tells how a person takes the data of a member of etcd away. */
export function removalOf(plane: Place, member: PlaneMember): string {
  const [, name] = planePlace(plane);
  return isNamespace(plane)
    ? `delete PersistentVolumeClaim ${name}/${member}, then its pod`
    : `move ${name}/${member} away`;
}

/** Tells where the certificate of a client of etcd is. */
export function clientPlace(plane: Place): string {
  const [, name] = planePlace(plane);
  return isNamespace(plane)
    ? `the certificate in Secret ${name}/etcd-client`
    : `the certificates in ${name}/etcd-pki`;
}
