/** Artifacts on the host: downloaded into the cache, verified, unpacked into the directory of their version. */
import { messageOf, OsError } from '../../os/errors.ts';
import { HostError, RetryLater } from '../host/errors.ts';
import type { DownloadLimits, Host, HostFiles, HostNetwork } from '../host/port.ts';
import { cachedArtifact } from '../layout.ts';
import type { Target } from '../target/target.ts';
import type { DownloadTerms } from './downloads.ts';
import { writeManifest } from './programs.ts';
import { NO_SETTINGS, urlAtMirror } from './settings.ts';

type Artifact = NonNullable<Target['artifact']>;

/** The limit for an artifact without a declared size. */
const MAX_BYTES = 4 * 1024 ** 3;
const MAX_ENTRIES = 100_000;
/** Unpacked content may be larger than the archive by this factor: binaries compress to a fifth. */
const MAX_EXPANSION = 20;
const DOWNLOAD_TIMEOUT_MS = 30 * 60_000;
const ATTRIBUTES = { mode: '0600', owner: 'root:root' };
const PROGRAM_MODE = '0755';

export async function findArtifact(
  files: HostFiles,
  sha256: string,
): Promise<'Complete' | 'Downloaded' | undefined> {
  if (await files.stat(cachedArtifact(sha256))) return 'Complete';
  return (await files.stat(partFile(sha256))) ? 'Downloaded' : undefined;
}

/**
 * Tries the mirrors of the host, then each URL in order, until one has the content. Nothing outside of the cache changes. What the last URL
 * serves is verified by the next operation.
 */
export async function downloadArtifact(
  files: HostFiles,
  network: HostNetwork,
  artifact: Artifact,
  terms: Partial<DownloadTerms> = {},
): Promise<void> {
  const { sha256, url: declared, mirrors } = artifact;
  const { settings = NO_SETTINGS } = terms;
  const [loading, limits] = [loadingFile(sha256), limitsFor(artifact, terms)];
  await requireSpace(files, artifact);
  const atMirrors = settings.mirrors.map((mirror) => urlAtMirror(mirror, sha256));
  const failures: unknown[] = [];
  const urls = [...atMirrors, declared, ...mirrors];
  for (const [index, url] of urls.entries()) {
    try {
      await network.download(url, loading, limits);
      if (index < urls.length - 1) await requireContent(files, sha256, url);
      // Half a download, which a crash leaves, must not look like one with a wrong checksum.
      return await files.rename(loading, partFile(sha256));
    } catch (error) {
      await requireOtherUrl(error, files, sha256);
      failures.push(error);
    }
  }
  throw allFailed(declared, failures);
}

/** A mirror may serve the page of a proxy, or what a disk changed: another URL may have the content. */
async function requireContent(files: HostFiles, sha256: string, url: string): Promise<void> {
  const found = await files.digest(loadingFile(sha256));
  if (found === sha256) return;
  await files.remove(loadingFile(sha256));
  throw new HostError('Checksum', `${url} serves sha256 ${found ?? 'none'}, expected ${sha256}`, {
    where: url,
    hint: 'check what the URL serves',
  });
}

function limitsFor(
  { sha256, sizeBytes: maxBytes = MAX_BYTES }: Artifact,
  { bytesPerSecond, signal }: Partial<DownloadTerms>,
): DownloadLimits {
  const pacedMs = bytesPerSecond === undefined ? 0 : (maxBytes / bytesPerSecond) * 1000;
  return { maxBytes, sha256, bytesPerSecond, signal, timeoutMs: DOWNLOAD_TIMEOUT_MS + pacedMs };
}

/** Throws what another URL does not help with. */
async function requireOtherUrl(error: unknown, files: HostFiles, sha256: string): Promise<void> {
  if (!(error instanceof OsError)) throw error;
  if (error.code !== 'DiskFull') return;
  // What arrived takes the space that is missing.
  for (const file of loadingFiles(sha256)) await files.remove(file);
  throw error;
}

/** The artifact may be loaded later if that is so for one of its URLs: when each server that asked to wait has had its time. */
function allFailed(where: string, failures: readonly unknown[]): HostError {
  const message = `the artifact could not be downloaded: ${failures.map(messageOf).join('; ')}`;
  const hints = failures.flatMap((error) => (error instanceof OsError && error.hint ? [error.hint] : []));
  const details = { where, hint: hints[0] ?? REACH_HINT };
  const later = failures.filter((error) => error instanceof RetryLater);
  if (later.length === 0) return new HostError('Download', message, details);
  const waits = later.flatMap(({ retryAfterMs }) => (retryAfterMs === undefined ? [] : [retryAfterMs]));
  const retryAfterMs = waits.length === 0 ? undefined : Math.max(...waits);
  return new RetryLater(message, { ...details, retryAfterMs });
}

const REACH_HINT = 'check that the machine reaches the URL, or add a mirror';

/** A full disk is found before the download and not in the middle of it. */
async function requireSpace(files: HostFiles, { sizeBytes, format }: Artifact): Promise<void> {
  if (sizeBytes === undefined) return;
  const needed = sizeBytes * (format === 'Raw' ? 2 : 1 + TYPICAL_EXPANSION);
  const { freeBytes: free } = await files.usage(cachedArtifact(''));
  if (free >= needed) return;
  throw new HostError('DiskFull', `the disk is full: ${needed} bytes are needed, ${free} are free`, {
    where: cachedArtifact(''),
    hint: 'free some space',
  });
}

const TYPICAL_EXPANSION = 5;

/** Verifies an artifact. One in the cache is verified again before it is used: a disk may have changed it. */
export async function verifyArtifact(files: HostFiles, { sha256, url, sizeBytes }: Artifact): Promise<void> {
  const cached = cachedArtifact(sha256);
  const path = (await files.stat(cached)) ? cached : partFile(sha256);
  const found = await files.digest(path);
  if (found === sha256) {
    if (path !== cached) await files.rename(path, cached);
    return;
  }
  const size = (await files.stat(path))?.sizeBytes;
  await files.remove(path);
  const sizes =
    sizeBytes !== undefined && size !== sizeBytes ? `, and ${size} bytes instead of ${sizeBytes}` : '';
  throw new HostError('Checksum', `the artifact has sha256 ${found ?? 'none'}, expected ${sha256}${sizes}`, {
    where: url,
    hint: 'check what the URL serves, or correct sha256 in the MachineComponent',
  });
}

/** The directory gets its name last, so that it is complete when it exists. */
export async function unpackArtifact(host: Pick<Host, 'directory' | 'files'>, target: Target): Promise<void> {
  const { files } = host;
  const { artifact, directory, component } = target;
  if (!artifact) return;
  const staging = `${directory}.staging`;
  const cached = cachedArtifact(artifact.sha256);
  await files.remove(staging);
  await files.makeDirectory(staging);
  if (artifact.format !== 'Raw') {
    const size = (await files.stat(cached))?.sizeBytes ?? 0;
    await files.unpack(cached, staging, {
      maxBytes: size * MAX_EXPANSION + 1024 ** 2,
      maxEntries: MAX_ENTRIES,
      isLayer: artifact.format === 'Oci',
    });
  } else {
    await files.copy(cached, `${staging}/${component}`, { ...ATTRIBUTES, mode: PROGRAM_MODE });
  }
  for (const link of artifact.install) await prepareLinked(files, staging, link, target);
  await writeManifest(host, target, staging);
  await files.rename(staging, directory);
}

async function prepareLinked(
  files: HostFiles,
  staging: string,
  { from, mode }: Artifact['install'][number],
  { ref }: Target,
): Promise<void> {
  const path = `${staging}/${from}`;
  const stat = await files.stat(path);
  if (!stat) {
    throw new HostError('BadArchive', `the artifact of ${ref} does not contain ${from}`, {
      where: from,
      hint: 'correct install[].from in the MachineComponent: it is a path in the archive',
    });
  }
  if (stat.type === 'File') {
    await files.setAttributes(path, { owner: stat.owner, mode: mode.padStart(4, '0') });
  }
}

function partFile(sha256: string): string {
  return `${cachedArtifact(sha256)}.part`;
}

function loadingFile(sha256: string): string {
  return `${cachedArtifact(sha256)}.loading`;
}

/** Returns the files of an artifact in the cache, also while it is downloaded and before it is verified. */
export function artifactFiles(sha256: string): readonly string[] {
  return [cachedArtifact(sha256), partFile(sha256), ...loadingFiles(sha256)];
}

/** Returns the part of an artifact that arrived, and the file that tells from where. */
function loadingFiles(sha256: string): readonly string[] {
  return [loadingFile(sha256), `${loadingFile(sha256)}.source`];
}
