/** Keeps what the host had under the name of a unit before the agent first wrote it, so that a removal brings it back. */
import { createHash } from 'node:crypto';
import { optional } from '../../../kube/objects/optional.ts';
import { unitBackupDirectory } from '../../layout.ts';
import type { HostFiles } from '../port.ts';
import { hasAgentHeader } from './unit-files.ts';

export interface OriginalUnit {
  /** The state of the unit before; undefined when the host had no such unit. */
  readonly state?: { readonly enabled: boolean; readonly running: boolean };
  /** The paths that we write, each with whether there was a file that is not ours. */
  readonly files: Readonly<Record<string, boolean>>;
}

const ATTRIBUTES = { mode: '0600', owner: 'root:root' };

export class UnitOriginals {
  readonly #files: HostFiles;

  constructor(files: HostFiles) {
    this.#files = files;
  }

  async read(name: string): Promise<OriginalUnit | undefined> {
    const content = await this.#files.read(recordFile(name));
    return content && (JSON.parse(new TextDecoder().decode(content)) as OriginalUnit);
  }

  /** Moves away what is in the place of our files. State and paths are judged once: what is there later is drift. */
  async keep(name: string, state: OriginalUnit['state'], paths: readonly string[]): Promise<void> {
    const known = await this.read(name);
    const unknown = paths.filter((path) => known?.files[path] === undefined);
    if (!known || unknown.length > 0) {
      const found: Record<string, boolean> = { ...known?.files };
      for (const path of unknown) found[path] = await this.#isForeign(path);
      const record = { files: found, ...optional('state', known ? known.state : state) };
      const content = new TextEncoder().encode(JSON.stringify(record));
      await this.#files.write(recordFile(name), content, ATTRIBUTES);
    }
    await this.#moveAway(name, paths);
  }

  /** Tells whether the path has again what it had before. */
  async isPutBack(name: string, { files }: OriginalUnit, path: string): Promise<boolean> {
    return files[path] === true && !(await this.#files.stat(backupOf(name, path)));
  }

  async putBack(name: string, { files }: OriginalUnit): Promise<void> {
    for (const path of Object.keys(files)) {
      const backup = backupOf(name, path);
      if (await this.#files.stat(backup)) await this.#files.rename(backup, path);
    }
  }

  async forget(name: string): Promise<void> {
    await this.#files.remove(unitBackupDirectory(name));
  }

  async #moveAway(name: string, paths: readonly string[]): Promise<void> {
    const record = await this.read(name);
    for (const path of paths.filter((each) => record?.files[each])) {
      const backup = backupOf(name, path);
      if (!(await this.#files.stat(backup))) await this.#files.rename(path, backup);
    }
  }

  async #isForeign(path: string): Promise<boolean> {
    const stat = await this.#files.stat(path);
    return stat !== undefined && !(stat.type === 'File' && hasAgentHeader(await this.#files.read(path)));
  }
}

function recordFile(name: string): string {
  return `${unitBackupDirectory(name)}/original.json`;
}

function backupOf(name: string, path: string): string {
  return `${unitBackupDirectory(name)}/${createHash('sha256').update(path).digest('hex')}`;
}
