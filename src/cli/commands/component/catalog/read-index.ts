/** Reads which versions a publisher lists. */
import { messageOf } from '../../../../os/errors.ts';
import type { FetchSettings } from '../download/http.ts';
import { readText } from '../download/http.ts';
import type { VersionIndex } from './catalog.ts';
import { stableVersion, versionsInReleases } from './newer.ts';

export type IndexAnswer =
  | { readonly url: string; readonly versions: readonly string[]; readonly unknown?: never }
  /** The reason why no versions are known. */
  | { readonly url: string; readonly unknown: string; readonly versions?: never };

/** The newest releases come first: one page has those of about a year. */
const RELEASES = 'releases?per_page=50';
/** One page of release notes has up to 60 KB for each release. */
const MAX_INDEX_BYTES = 16 * 1024 * 1024;
/** Kubernetes has three minor versions a year: more in between is a wrong answer, or a version that no upgrade leaves in one step. */
const MAX_MINORS = 16;

/** Never rejects: an index that does not answer as expected is unknown. */
export async function readVersionIndex(
  index: VersionIndex,
  selected: string,
  settings: FetchSettings,
): Promise<IndexAnswer> {
  const url =
    index.kind === 'GitHub'
      ? `https://api.github.com/repos/${index.repository}/${RELEASES}`
      : 'https://dl.k8s.io/release/stable.txt';
  try {
    const versions =
      index.kind === 'GitHub'
        ? await readGitHub(url, settings)
        : await readKubernetes(url, selected, settings);
    return { url, versions };
  } catch (error) {
    settings.signal.throwIfAborted();
    return { url, unknown: messageOf(error) };
  }
}

async function readGitHub(url: string, settings: FetchSettings): Promise<readonly string[]> {
  const versions = versionsInReleases(parseJson(await readText(url, MAX_INDEX_BYTES, settings)));
  if (versions !== undefined && versions.length > 0) return versions;
  throw new Error('the answer lists no releases: it may be the page of a proxy');
}

/** Returns undefined for other content. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Only the newest patch of each minor version is published in these files. */
async function readKubernetes(
  url: string,
  selected: string,
  settings: FetchSettings,
): Promise<readonly string[]> {
  const newest = await readStable(url, settings);
  const [major = '', minor = ''] = newest.split('.');
  const last = Number(minor);
  const first = selected.startsWith(`${major}.`) ? Number(selected.split('.')[1]) : last;
  const minors = Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index);
  if (minors.length > MAX_MINORS) {
    throw new Error(`${newest} is more than ${MAX_MINORS} minor versions newer`);
  }
  const older = minors.map((each) => readStable(url.replace('.txt', `-${major}.${each}.txt`), settings));
  return [...(await Promise.all(older)), newest];
}

async function readStable(url: string, settings: FetchSettings): Promise<string> {
  const text = await readText(url, MAX_INDEX_BYTES, settings);
  const version = stableVersion(text);
  if (version !== undefined) return version;
  throw new Error(`${url}: expected a version such as v1.36.4: the answer may be the page of a proxy`);
}
