/** Compares the selected version of a component with those that its publisher lists. Pure. */
import { compareVersions } from '../../../../agent/target/version-range.ts';

/** The newest version of each kind of step, if it is newer than the selected one. */
export interface NewerVersions {
  readonly patch?: string;
  readonly minor?: string;
  readonly major?: string;
}

export function newerVersions(selected: string, published: readonly string[]): NewerVersions {
  const newest: { -readonly [Step in keyof NewerVersions]: string } = {};
  const ascending = published.filter((each) => compareVersions(each, selected) > 0).toSorted(compareVersions);
  for (const version of ascending) newest[stepTo(selected, version)] = version;
  return newest;
}

function stepTo(selected: string, version: string): keyof NewerVersions {
  const [from, to] = [selected.split('.'), version.split('.')];
  if (from[0] !== to[0]) return 'major';
  return from[1] === to[1] ? 'patch' : 'minor';
}

const STABLE = /^v?(?<version>\d+\.\d+\.\d+)$/;

/** `1.36.4` of the tag `v1.36.4`. Undefined for pre-releases, and for tags of other parts such as `api/v1.9.0`. */
export function stableVersion(tag: string): string | undefined {
  return STABLE.exec(tag.trim())?.groups?.['version'];
}

interface ListedRelease {
  readonly tag_name?: unknown;
  readonly draft?: unknown;
  readonly prerelease?: unknown;
}

/** The versions in a page of releases, as the API of GitHub lists them. Undefined: it is something else. */
export function versionsInReleases(page: unknown): readonly string[] | undefined {
  if (!Array.isArray(page)) return undefined;
  return page.flatMap((release: ListedRelease | null) => {
    const { tag_name: tag, draft, prerelease } = release ?? {};
    const isStable = typeof tag === 'string' && draft !== true && prerelease !== true;
    return isStable ? (stableVersion(tag) ?? []) : [];
  });
}
