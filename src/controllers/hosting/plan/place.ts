/** Names where a control plane is, in the words of its driver. Pure. */
import type { PlaneMember, PlaneReport } from '../drivers/driver.ts';

type Place = Pick<PlaneReport, 'where' | 'place'>;

export function placeOf({ where, place = 'Folder' }: Place): readonly [kind: string, name: string] {
  return [place, where.replace(/^namespace /, '')];
}

export function isNamespace({ place }: Place): boolean {
  return place === 'Namespace';
}

/** Tells where the log of a member is. */
export function logPlace(plane: Place, member: PlaneMember): string {
  const [, name] = placeOf(plane);
  return isNamespace(plane)
    ? `with kubectl -n ${name} logs -l kubenode.dev/part=${member}`
    : `in ${name}/logs`;
}
