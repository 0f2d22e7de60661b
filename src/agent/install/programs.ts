/**
 * The programs of a version and what they contain: those that its units start or pass to an interpreter, and those that it links
 * into the host.
 */
import type { ObservedProgram } from '../component/observation.ts';
import { createFileCache } from '../host/file-cache.ts';
import type { Host, HostFiles } from '../host/port.ts';
import type { Target } from '../target/target.ts';

/** In the directory of a version: the digests of its programs when they were unpacked. */
const MANIFEST = '.kubenode-programs.json';
const ATTRIBUTES = { mode: '0600', owner: 'root:root' };

/** By path. A file is read again only after it changed: programs have hundreds of megabytes. */
export type DigestReader = (path: string) => Promise<string | undefined>;

export function createDigestReader(files: Pick<HostFiles, 'stat' | 'digest'>): DigestReader {
  return createFileCache(
    files,
    (path) => path,
    (path) => files.digest(path),
  );
}

/** Paths of the host, in the directory of the version. */
export function programPaths(
  host: Pick<Host, 'directory'>,
  { artifact, directory, units }: Target,
): readonly string[] {
  if (!artifact) return [];
  const linked = artifact.install.map(({ from }) => `${directory}/${from}`);
  const started = units.flatMap(({ exec }) => exec?.argv ?? []).map((path) => onHost(host, path));
  return [...new Set([...linked, ...started.filter((path) => path.startsWith(`${directory}/`))])];
}

/** A path as programs use it, as a path of the host. */
export function onHost({ directory }: Pick<Host, 'directory'>, path: string): string {
  return directory !== '/' && path.startsWith(`${directory}/`) ? path.slice(directory.length) : path;
}

/** `at` is the directory in which the version is being prepared. */
export async function writeManifest(
  host: Pick<Host, 'directory' | 'files'>,
  target: Target,
  at: string,
): Promise<void> {
  const digests: Record<string, string> = {};
  for (const path of programPaths(host, target)) {
    const name = path.slice(target.directory.length + 1);
    const digest = await host.files.digest(`${at}/${name}`);
    if (digest !== undefined) digests[name] = digest;
  }
  await host.files.write(`${at}/${MANIFEST}`, new TextEncoder().encode(JSON.stringify(digests)), ATTRIBUTES);
}

export async function observePrograms(
  host: Host,
  targets: readonly Target[],
  digest: DigestReader,
): Promise<ReadonlyMap<string, ObservedProgram>> {
  const found = new Map<string, ObservedProgram>();
  for (const target of targets) {
    const expected = await readManifest(host.files, target);
    for (const path of programPaths(host, target)) {
      const [is, should] = [await digest(path), expected[path.slice(target.directory.length + 1)]];
      found.set(path, {
        ...(is !== undefined && { found: is }),
        ...(should !== undefined && { expected: should }),
      });
    }
  }
  return found;
}

/** A damaged manifest counts as missing. */
async function readManifest(
  files: HostFiles,
  { directory }: Target,
): Promise<Readonly<Record<string, string>>> {
  const content = await files.read(`${directory}/${MANIFEST}`);
  try {
    return content ? (JSON.parse(new TextDecoder().decode(content)) as Record<string, string>) : {};
  } catch {
    return {};
  }
}
