/**
 * Decides whether git takes over the fields of other managers, because `spec.forceManagers` of the Pipeline names all of them.
 * Pure.
 */
import type { KubeObject } from '../../../kube/objects/object.ts';
import { ownersOfDrift } from './field-owners.ts';

/**
 * Tells whether every manager that owns a field with another value than git is named. One that is not named keeps its fields, and
 * an unknown owner is not one that is named.
 */
export function isOwnedByForced(
  desired: KubeObject,
  live: KubeObject,
  forceManagers: readonly string[],
): boolean {
  const owners = ownersOfDrift(desired, live);
  return owners.length > 0 && owners.every(({ manager }) => forceManagers.includes(manager));
}
