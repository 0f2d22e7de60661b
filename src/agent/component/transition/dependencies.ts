/** Checks what a version needs of the other components of the machine, and whether the machine has it. Pure. */
import type { ComponentProgress } from '../../journal/progress.ts';
import type { Target } from '../../target/target.ts';
import { isVersionInRange, type VersionRange } from '../../target/version-range.ts';
import type { ComponentInput, OtherComponent } from '../input.ts';
import type { ComponentWait } from '../operation.ts';

/**
 * Returns what other components may know of this one. While a component is between two versions, it has no version that others may rely on.
 */
export function otherComponent({ transition, state }: ComponentProgress, current: Target): OtherComponent {
  const isCommitted = !transition && (state === 'Committed' || state === 'RolledBack');
  const dependsOn = current.dependsOn.map(({ component }) => component);
  return { dependsOn, ...(isCommitted && { committedVersion: current.version }) };
}

export interface UnmetDependency {
  readonly component: string;
  /** The requirement, such as `containerd ≥ 1.7`. */
  readonly needed: string;
  /** The version that is committed; absent while there is none. */
  readonly version?: string;
}

export function unmetDependencies(
  { dependsOn }: Pick<Target, 'dependsOn'>,
  others: ComponentInput['others'],
): readonly UnmetDependency[] {
  return dependsOn.flatMap(({ component, ...range }) => {
    const needed = `${component}${rangeText(range)}`;
    const version = others.get(component)?.committedVersion;
    if (version === undefined) return [{ component, needed }];
    return isVersionInRange(version, range) ? [] : [{ component, needed, version }];
  });
}

function rangeText({ minVersion, maxVersion }: VersionRange): string {
  return `${minVersion === undefined ? '' : ` ≥ ${minVersion}`}${maxVersion === undefined ? '' : ` ≤ ${maxVersion}`}`;
}

/**
 * Returns the wait of a version that was compatible when it was activated, and no longer is: what it depends on was changed since. To
 * change that back needs a grant, so only git can decide it.
 */
export function mismatchWait({ progress, targets, others }: ComponentInput): ComponentWait | undefined {
  const target = targets.get(progress.current ?? '');
  const unmet = target && unmetDependencies(target, others).find(({ version }) => version !== undefined);
  if (!unmet) return undefined;
  const { component, needed, version } = unmet;
  return {
    reason: 'DependencyMismatch',
    message: `${target.ref} needs ${needed}, but ${component} has version ${version}: revert both in git, or release a version of ${target.component} for ${component} ${version}`,
  };
}
