/** The files of a host on the disk of this machine: atomic, durable, and never outside of its root. */
import { type BigIntStats, constants } from 'node:fs';
import {
  chmod,
  chown,
  copyFile,
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  rename,
  rm,
  statfs,
  symlink,
  unlink,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path/posix';
import { optional } from '../../../kube/objects/optional.ts';
import { systemCode } from '../../../os/errors.ts';
import { sha256OfFile } from '../../../os/files.ts';
import { HostError } from '../errors.ts';
import type { DiskUsage, FileAttributes, FileStat, HostFiles, UnpackLimits } from '../port.ts';
import { inodeOf } from './inode.ts';
import type { FileOwners } from './owners.ts';
import { type HostRoot, toHostError } from './root.ts';
import { syncPath, unpackTarGz } from './unpack.ts';
import { type PathWatch, watchPaths } from './watch.ts';

const PERMISSION_BITS = 0o7777n;
const MISSING = ['ENOENT', 'ENOTDIR'];

export class DiskFiles implements HostFiles {
  readonly #root: HostRoot;
  readonly #owners: FileOwners;
  readonly #watches = new Set<PathWatch>();

  constructor(root: HostRoot, owners: FileOwners) {
    this.#root = root;
    this.#owners = owners;
  }

  async stat(path: string): Promise<FileStat | undefined> {
    const disk = this.#root.toDisk(path);
    const stats = await ifExists(disk, () => lstat(disk, { bigint: true }));
    if (!stats) return undefined;
    const target = stats.isSymbolicLink() ? await readlink(disk) : undefined;
    return {
      type: typeOf(stats),
      mode: (stats.mode & PERMISSION_BITS).toString(8).padStart(4, '0'),
      owner: await this.#owners.read(path, stats),
      ...optional('ownerIds', this.#owners.readIds?.(stats)),
      sizeBytes: Number(stats.size),
      revision: [stats.dev, stats.ino, stats.size, stats.ctimeNs].join('-'),
      modifiedAt: stats.mtime,
      names: Number(stats.nlink),
      inode: inodeOf(stats),
      ...(target !== undefined && {
        target: target.startsWith('/') ? this.#root.toHost(target) : target,
      }),
    };
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    return await ifFile(this.#root.toDisk(path), (file) => file.readFile());
  }

  async digest(path: string): Promise<string | undefined> {
    const disk = this.#root.toDisk(path);
    return await ifFile(disk, () => sha256OfFile(disk));
  }

  async list(directory: string): Promise<readonly string[]> {
    const disk = this.#root.toDisk(directory);
    return ((await ifExists(disk, () => readdir(disk))) ?? []).toSorted();
  }

  async write(path: string, content: Uint8Array, attributes: FileAttributes): Promise<void> {
    await this.#replace(path, async (temporary) => {
      await using file = await open(temporary, 'wx', 0o600);
      await file.writeFile(content);
      await this.#finish(path, file, attributes);
    });
  }

  async setAttributes(path: string, { mode, owner }: FileAttributes): Promise<void> {
    const disk = this.#root.toDisk(path);
    await acting(path, async () => {
      await this.#root.requireInside(disk);
      await this.#owners.apply(path, { chown: (uid, gid) => chown(disk, uid, gid) }, owner);
      await chmod(disk, Number.parseInt(mode, 8));
    });
  }

  async append(path: string, content: Uint8Array): Promise<void> {
    const disk = this.#root.toDisk(path);
    await acting(path, async () => {
      await this.#makeParents(disk);
      await appendDurably(disk, content);
    });
  }

  async link(path: string, target: string): Promise<void> {
    const to = target.startsWith('/') ? this.#root.toDisk(target) : target;
    await this.#replace(path, (temporary) => symlink(to, temporary));
  }

  async makeDirectory(path: string, mode = '0755'): Promise<void> {
    const disk = this.#root.toDisk(path);
    await acting(path, async () => {
      await this.#makeParents(disk);
      await mkdir(disk, { mode: Number.parseInt(mode, 8), recursive: true });
      await syncPath(dirname(disk));
    });
  }

  async copy(from: string, to: string, attributes: FileAttributes): Promise<void> {
    await this.#replace(to, async (temporary) => {
      const { COPYFILE_EXCL, COPYFILE_FICLONE, O_NOFOLLOW, O_RDONLY } = constants;
      await copyFile(this.#root.toDisk(from), temporary, COPYFILE_FICLONE | COPYFILE_EXCL);
      await using file = await open(temporary, O_RDONLY | O_NOFOLLOW);
      await this.#finish(to, file, attributes);
    });
  }

  async rename(from: string, to: string): Promise<void> {
    const [source, target] = [this.#root.toDisk(from), this.#root.toDisk(to)];
    await acting(from, async () => {
      await this.#makeParents(target);
      await lstat(source);
      await removeDirectory(target);
      await rename(source, target);
      await syncPath(dirname(target));
      if (dirname(source) !== dirname(target)) await syncPath(dirname(source));
    });
  }

  async remove(path: string): Promise<void> {
    const disk = this.#root.toDisk(path);
    await acting(path, async () => {
      await this.#root.requireInside(dirname(disk));
      await rm(disk, { recursive: true, force: true });
      await ifExists(dirname(disk), () => syncPath(dirname(disk)));
    });
  }

  async usage(path: string): Promise<DiskUsage> {
    return await acting(path, () => readUsage(this.#root.toDisk(path)));
  }

  async unpack(archive: string, directory: string, limits: UnpackLimits): Promise<void> {
    const disk = this.#root.toDisk(directory);
    await acting(archive, async () => {
      await this.#makeParents(join(disk, 'any'));
      await unpackTarGz(this.#root.toDisk(archive), disk, limits);
    });
  }

  watch(paths: readonly string[], onChange: (path: string) => void): AsyncDisposable {
    const onDisk = paths.map((path) => this.#root.toDisk(path));
    const watching = watchPaths(onDisk, (path) => onChange(this.#root.toHost(path)));
    this.#watches.add(watching);
    return {
      [Symbol.asyncDispose]: async () => {
        this.#watches.delete(watching);
        await watching[Symbol.asyncDispose]();
      },
    };
  }

  retryWatches(): string | undefined {
    return [...this.#watches].map((each) => each.retry()).find((because) => because !== undefined);
  }

  /** Makes the file under another name, then gives it its own. The name repeats, so that a crash leaves one at most. */
  async #replace(path: string, make: (temporary: string) => Promise<void>): Promise<void> {
    const disk = this.#root.toDisk(path);
    const temporary = join(dirname(disk), `.${basename(disk)}.kubenode`);
    await acting(path, async () => {
      await this.#makeParents(disk);
      await rm(temporary, { recursive: true, force: true });
      try {
        await make(temporary);
        await rename(temporary, disk);
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
      await syncPath(dirname(disk));
    });
  }

  async #makeParents(disk: string): Promise<void> {
    await this.#root.requireInside(dirname(disk));
    await mkdir(dirname(disk), { recursive: true });
  }

  /** Works on the open file: the owner of the directory may be another user, who puts a link to a file of root in its place. */
  async #finish(path: string, file: FileHandle, { mode, owner }: FileAttributes): Promise<void> {
    await this.#owners.apply(path, file, owner);
    // After chown, which clears setuid bits.
    await file.chmod(Number.parseInt(mode, 8));
    await file.sync();
  }
}

function typeOf(stats: BigIntStats): FileStat['type'] {
  if (stats.isFile()) return 'File';
  if (stats.isDirectory()) return 'Directory';
  return stats.isSymbolicLink() ? 'Link' : 'Other';
}

async function acting<T>(path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') {
      throw new HostError('NoAccess', `${path} does not exist`, { where: path, cause: error });
    }
    throw toHostError(error, path);
  }
}

async function ifExists<T>(path: string, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (MISSING.includes(systemCode(error) ?? '')) return undefined;
    throw toHostError(error, path);
  }
}

/** Through links, as open(2). A directory, a pipe and a circle of links have no content. */
async function ifFile<T>(path: string, read: (file: FileHandle) => Promise<T>): Promise<T | undefined> {
  return await ifExists(path, async () => {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
      if (systemCode(error) === 'ELOOP' || systemCode(error) === 'ENXIO') return undefined;
      throw error;
    });
    try {
      return file && (await file.stat()).isFile() ? await read(file) : undefined;
    } finally {
      await file?.close();
    }
  });
}

/** Half of a record would spoil the next one: what could not be written as a whole is cut off again. */
async function appendDurably(path: string, content: Uint8Array): Promise<void> {
  const file = await open(path, 'a', 0o600);
  try {
    const { size } = await file.stat();
    try {
      await file.writeFile(content);
      await file.sync();
    } catch (error) {
      await file.truncate(size).catch(() => undefined);
      throw error;
    }
    if (size === 0) await syncPath(dirname(path));
  } finally {
    await file.close();
  }
}

/** rename(2) replaces files only. */
async function removeDirectory(path: string): Promise<void> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats?.isDirectory()) await rm(path, { recursive: true });
  else if (stats?.isSymbolicLink()) await unlink(path);
}

async function readUsage(path: string): Promise<DiskUsage> {
  const found = await ifExists(path, () => statfs(path));
  if (!found) return await readUsage(dirname(path));
  const { bsize, blocks, bfree, bavail, files, ffree } = found;
  return {
    usedBytes: (blocks - bfree) * bsize,
    freeBytes: bavail * bsize,
    usedInodes: files - ffree,
    freeInodes: ffree,
  };
}
