/** Extracts a .tar.gz, or a layer of an image, into a directory. The whole archive is checked before the first entry is written. */
import { chmod, link, mkdir, open, symlink } from 'node:fs/promises';
import { basename, dirname, join, normalize } from 'node:path/posix';
import { optional } from '../../../kube/objects/optional.ts';
import { OsError } from '../../../os/errors.ts';
import { type TarEntry, tarEntries } from '../../../os/tar.ts';
import { HostError } from '../errors.ts';
import type { UnpackLimits } from '../port.ts';

const MODE_BITS = 0o777;

/** Paths of this machine's disk. `directory` exists. */
export async function unpackTarGz(archive: string, directory: string, limits: UnpackLimits): Promise<void> {
  const leftOut = await checkEntries(archive, limits).catch((error: unknown) => {
    // Its digest was right: downloading it again cannot help.
    throw error instanceof OsError && error.code === 'Download'
      ? corruptArchive(archive, error as OsError)
      : error;
  });
  const directories: string[] = [directory];
  for await (const entry of tarEntries(archive)) {
    if (leftOut.has(normalize(entry.path))) continue;
    const path = join(directory, entry.path);
    await mkdir(entry.type === 'Directory' ? path : dirname(path), { recursive: true });
    if (entry.type === 'Directory') directories.push(path);
    else await writeEntry(entry, path, directory);
  }
  for (const each of directories.toReversed()) await syncPath(each);
}

async function writeEntry(entry: TarEntry, path: string, directory: string): Promise<void> {
  if (entry.type === 'Link') return await symlink(entry.target, path);
  if (entry.type === 'HardLink') return await link(join(directory, entry.target), path);
  const file = await open(path, 'wx', entry.mode & MODE_BITS);
  try {
    await entry.read((piece) => file.writeFile(piece));
    await file.sync();
  } finally {
    await file.close();
  }
  await chmod(path, entry.mode & MODE_BITS);
}

/** Durable: the names in a directory, or the content of a file. */
export async function syncPath(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Returns the paths that are left out. */
async function checkEntries(
  archive: string,
  { maxBytes, maxEntries, isLayer = false }: UnpackLimits,
): Promise<ReadonlySet<string>> {
  const [links, leftOut] = [new Set<string>(), new Set<string>()];
  let [bytes, count] = [0, 0];
  for await (const entry of tarEntries(archive)) {
    bytes += entry.size;
    count += 1;
    if (bytes > maxBytes || count > maxEntries) {
      const message = `${archive} is larger than ${maxBytes} bytes or ${maxEntries} entries`;
      throw new HostError('TooLarge', message, { where: archive });
    }
    if (isLayer && isOnlyForRoot(entry, links, leftOut)) leftOut.add(normalize(entry.path));
    else checkEntry(archive, entry, links);
  }
  return leftOut;
}

function checkEntry(archive: string, entry: TarEntry, links: Set<string>): void {
  const problem = entryProblem(entry, links);
  if (problem) throw badArchive(archive, `${entry.path} ${problem}`);
  if (entry.type === 'Link') links.add(normalize(entry.path));
}

/**
 * Tells what of a layer makes sense only in the root of a container: devices, links that leave the layer, and marks of files that layers below
 * have. A path that leaves the directory is refused in a layer, too.
 */
export function isOnlyForRoot(
  { path, type, target }: Pick<TarEntry, 'path' | 'type' | 'target'>,
  links: ReadonlySet<string>,
  leftOut: ReadonlySet<string>,
): boolean {
  if (type === 'Other' || basename(path).startsWith('.wh.')) return true;
  if (type === 'HardLink' && leftOut.has(normalize(target))) return true;
  return linkProblem({ path, type, target }, links) !== undefined;
}

/** Why an entry must not be extracted. `links` are the symbolic links before it: nothing is written through one. */
export function entryProblem(
  { path, type, target }: Pick<TarEntry, 'path' | 'type' | 'target'>,
  links: ReadonlySet<string>,
): string | undefined {
  if (leaves(path)) return 'leaves the directory';
  if (type === 'Other') return 'is not a file, a directory or a link';
  return linkProblem({ path, type, target }, links) ?? behindLink(path, links);
}

function linkProblem(
  { path, type, target }: Pick<TarEntry, 'path' | 'type' | 'target'>,
  links: ReadonlySet<string>,
): string | undefined {
  if (type === 'Link' && (leaves(join(dirname(path), target), target) || turnsBack(target))) {
    return 'is a link out of the directory';
  }
  if (type !== 'HardLink') return undefined;
  if (leaves(target)) return 'is a hard link out of the directory';
  // A relative link leads elsewhere from another directory.
  return links.has(normalize(target)) ? `is a hard link to the link ${target}` : undefined;
}

/** After a name, which may be a link itself, `..` is not the directory that the text shows. */
function turnsBack(target: string): boolean {
  const names = target.split('/').filter((each) => each !== '' && each !== '.');
  const first = names.findIndex((each) => each !== '..');
  return first !== -1 && names.includes('..', first);
}

function behindLink(path: string, links: ReadonlySet<string>): string | undefined {
  for (let parent = dirname(normalize(path)); parent !== '.'; parent = dirname(parent)) {
    if (links.has(parent)) return `is behind the link ${parent}`;
  }
  return undefined;
}

function leaves(path: string, written = path): boolean {
  const normal = normalize(path);
  return written.startsWith('/') || normal === '..' || normal.startsWith('../') || path.includes('\0');
}

function corruptArchive(archive: string, { message, hint }: OsError): HostError {
  return new HostError('BadArchive', message, { where: archive, ...optional('hint', hint) });
}

function badArchive(archive: string, problem: string): HostError {
  return new HostError('BadArchive', `the archive is refused: ${problem}`, {
    where: archive,
    hint: 'build the archive from plain files, directories and relative links',
  });
}
