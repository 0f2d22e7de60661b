/** Compares versions of components: numbers by value, other parts as text, as in `1.10.2` > `1.9`. Pure. */
import { byCode } from '../../kube/objects/digest.ts';

export interface VersionRange {
  readonly minVersion?: string;
  readonly maxVersion?: string;
}

export function isVersionInRange(version: string, { minVersion, maxVersion }: VersionRange): boolean {
  return (
    (minVersion === undefined || compareVersions(version, minVersion) >= 0) &&
    (maxVersion === undefined || compareVersions(version, maxVersion) <= 0)
  );
}

/** A part after `-` is a pre-release: 1.0.0-rc.1 comes before 1.0.0. */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [split(a), split(b)];
  return (
    compareParts(first.release, second.release) || comparePreReleases(first.preRelease, second.preRelease)
  );
}

function split(version: string): { release: readonly string[]; preRelease: readonly string[] } {
  const [release = '', ...rest] = version.split('-');
  return { release: release.split('.'), preRelease: rest.join('-').split('.').filter(Boolean) };
}

function comparePreReleases(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return Number(a.length === 0) - Number(b.length === 0);
  return compareParts(a, b);
}

function compareParts(a: readonly string[], b: readonly string[]): number {
  for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
    const compared = comparePart(a[index] ?? '', b[index] ?? '');
    if (compared !== 0) return compared;
  }
  return 0;
}

function comparePart(a: string, b: string): number {
  if (isNumber(a) && isNumber(b)) return Math.sign(Number(a) - Number(b));
  return byCode(a, b);
}

/** A missing part counts as 0: 1.2 equals 1.2.0. */
function isNumber(part: string): boolean {
  return /^\d*$/.test(part);
}
