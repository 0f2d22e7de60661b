/**
 * The files without which an agent cannot reach its API server: what a running agent has read once, it writes again when somebody
 * removes it. A new start would need a token of a person otherwise.
 */
import type { Log } from '../../kube/process/log.ts';
import type { FileAttributes, HostFiles } from '../host/port.ts';

export interface KeptFile {
  readonly path: string;
  readonly attributes: FileAttributes;
}

export interface KeptFiles {
  /** Reads each file, or writes what was read last when it is missing. Returns the paths that were written. */
  keep(): Promise<readonly string[]>;
}

export function createKeptFiles(
  files: Pick<HostFiles, 'read' | 'write' | 'makeDirectory'>,
  kept: readonly KeptFile[],
  log: Log,
): KeptFiles {
  const contents = new Map<string, Uint8Array>();

  async function keepOne({ path, attributes }: KeptFile): Promise<boolean> {
    const found = await files.read(path);
    if (found !== undefined && found.length > 0) {
      contents.set(path, found);
      return false;
    }
    const content = contents.get(path);
    if (!content) return false;
    await files.makeDirectory(path.slice(0, path.lastIndexOf('/')), '0700');
    await files.write(path, content, attributes);
    log.warn('file written again', {
      path,
      because: 'it was removed, and the agent needs it to reach the API server',
    });
    return true;
  }

  return {
    async keep() {
      const written: string[] = [];
      for (const file of kept) if (await keepOne(file)) written.push(file.path);
      return written;
    },
  };
}
