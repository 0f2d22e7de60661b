/**
 * Finds the programs of a version and what they contain: those that its units start or pass to an interpreter, and those that it links into
 * the host.
 */
import { optional } from '../../kube/objects/optional.ts';
import type { ObservedProgram } from '../component/observe.ts';
import { createFileCache } from '../host/file-cache.ts';
import type { FileAttributes, Host, HostFiles } from '../host/port.ts';
import type { Target } from '../target/target.ts';

/** The file in the directory of a version with the digests of its programs when they were unpacked. */
const MANIFEST = '.kubenode-programs.json';
/** The file with their modes and owners. It is beside the first one, so that an earlier agent can read that one. */
const ATTRIBUTES_MANIFEST = '.kubenode-attributes.json';
const ATTRIBUTES = { mode: '0600', owner: 'root:root' };

/** Returns the digest of the file at a path. A file is read again only after it changed: programs have hundreds of megabytes. */
export type DigestReader = (path: string) => Promise<string | undefined>;

export function createDigestReader(files: Pick<HostFiles, 'stat' | 'digest'>): DigestReader {
  return createFileCache(
    files,
    (path) => path,
    (path) => files.digest(path),
  );
}

/** Returns the paths of the programs on the host, in the directory of the version. */
export function programPaths(
  host: Pick<Host, 'directory'>,
  { artifact, directory, units }: Target,
): readonly string[] {
  if (!artifact) return [];
  const linked = artifact.install.map(({ from }) => `${directory}/${from}`);
  const started = units.flatMap(({ exec }) => exec?.argv ?? []).map((path) => onHost(host, path));
  return [...new Set([...linked, ...started.filter((path) => path.startsWith(`${directory}/`))])];
}

/** Converts a path as programs use it to a path of the host. */
export function onHost({ directory }: Pick<Host, 'directory'>, path: string): string {
  return directory !== '/' && path.startsWith(`${directory}/`) ? path.slice(directory.length) : path;
}

/** Writes the manifests. `at` is the directory in which the version is being prepared. */
export async function writeManifest(
  host: Pick<Host, 'directory' | 'files'>,
  target: Target,
  at: string,
): Promise<void> {
  const digests: Record<string, string> = {};
  const attributes: Record<string, FileAttributes> = {};
  for (const path of programPaths(host, target)) {
    const name = path.slice(target.directory.length + 1);
    const digest = await host.files.digest(`${at}/${name}`);
    const found = await readAttributes(host.files, `${at}/${name}`);
    if (digest !== undefined) digests[name] = digest;
    if (found) attributes[name] = found;
  }
  const write = (name: string, content: object): Promise<void> =>
    host.files.write(`${at}/${name}`, new TextEncoder().encode(JSON.stringify(content)), ATTRIBUTES);
  await write(ATTRIBUTES_MANIFEST, attributes);
  await write(MANIFEST, digests);
}

/** Reads the attributes of a file. The owner is in numbers, where the host has them: names may change. */
async function readAttributes(
  files: Pick<HostFiles, 'stat'>,
  path: string,
): Promise<FileAttributes | undefined> {
  const stat = await files.stat(path);
  return stat?.type === 'File' ? { mode: stat.mode, owner: stat.ownerIds ?? stat.owner } : undefined;
}

export async function observePrograms(
  host: Host,
  targets: readonly Target[],
  digest: DigestReader,
): Promise<ReadonlyMap<string, ObservedProgram>> {
  const found = new Map<string, ObservedProgram>();
  for (const target of targets) {
    const expected = await readManifest<string>(host.files, target, MANIFEST);
    const attributes = await readManifest<FileAttributes>(host.files, target, ATTRIBUTES_MANIFEST);
    for (const path of programPaths(host, target)) {
      const name = path.slice(target.directory.length + 1);
      found.set(path, {
        ...optional('found', await digest(path)),
        ...optional('expected', expected[name]),
        ...optional('attributes', await readAttributes(host.files, path)),
        ...optional('expectedAttributes', attributes[name]),
      });
    }
  }
  return found;
}

/** Reads a manifest. A damaged one counts as missing. */
async function readManifest<T>(
  files: HostFiles,
  { directory }: Target,
  name: string,
): Promise<Readonly<Record<string, T>>> {
  const content = await files.read(`${directory}/${name}`);
  try {
    return content ? (JSON.parse(new TextDecoder().decode(content)) as Record<string, T>) : {};
  } catch {
    return {};
  }
}
