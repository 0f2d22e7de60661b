/** Maps paths of a host into a directory: the whole host of a sandbox, `/` on a real node. */
import { realpath } from 'node:fs/promises';
import { dirname, normalize } from 'node:path/posix';
import { OsError, systemCode } from '../../../os/errors.ts';
import { toDiskError } from '../../../os/files.ts';
import { HostError } from '../errors.ts';

export interface HostRoot {
  /** Returns the path on the disk of this machine. */
  toDisk(path: string): string;
  /** Returns the path of the host; a path outside of the directory stays as it is. */
  toHost(diskPath: string): string;
  /** Rejects when a link leads the path out of the directory. */
  requireInside(diskPath: string): Promise<void>;
}

export function createHostRoot(root: string): HostRoot {
  const prefix = root === '/' ? '' : normalize(root).replace(/\/$/, '');

  function isInside(path: string): boolean {
    return path === prefix || path.startsWith(`${prefix}/`);
  }

  async function requireInside(diskPath: string): Promise<void> {
    if (prefix === '') return;
    const [found, top] = await Promise.all([realpathOfExisting(diskPath), realpath(prefix)]);
    if (found === top || found.startsWith(`${top}/`)) return;
    throw new HostError('NoAccess', `${diskPath} leaves the directory of the sandbox through a link`, {
      where: diskPath,
      hint: 'remove the link',
    });
  }

  return {
    toDisk: (path) => prefix + normalize(path),
    toHost: (diskPath) =>
      prefix !== '' && isInside(diskPath) ? diskPath.slice(prefix.length) || '/' : diskPath,
    requireInside,
  };
}

/** Returns the real path of the nearest path above that exists. */
async function realpathOfExisting(path: string): Promise<string> {
  for (let existing = path; ; existing = dirname(existing)) {
    try {
      return await realpath(existing);
    } catch (error) {
      if (systemCode(error) !== 'ENOENT' || existing === '/') throw toHostError(error, path);
    }
  }
}

/** Converts an error. What the operating system refuses is an answer of the host. Every other error is a fault of the agent. */
export function toHostError(error: unknown, path: string): unknown {
  if (error instanceof OsError) return error;
  const known = toDiskError(error, path);
  const code = systemCode(error);
  if (known !== error || code === undefined) return known;
  return new HostError('NoAccess', `${path} cannot be accessed (${code})`, { where: path, cause: error });
}
