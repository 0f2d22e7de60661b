/** Files in memory, with what the agent relies on in a real file system. */
import { createHash } from 'node:crypto';
import { HostError } from '../errors.ts';
import type { DiskUsage, FileAttributes, FileStat, HostFiles, UnpackLimits } from '../port.ts';
import { MemoryTree, notFound, statOf } from './tree.ts';

/** The test or the simulation defines what an archive is. */
export type UnpackInMemory = (archive: Uint8Array) => ReadonlyMap<string, Uint8Array>;

type Watcher = (path: string) => void;

const EMPTY_FILE = { content: new Uint8Array(), mode: '0600', owner: 'root:root' };

export class MemoryFiles implements HostFiles {
  readonly #unpack: UnpackInMemory;
  readonly #tree: MemoryTree;
  readonly #watchers = new Map<Watcher, readonly string[]>();

  constructor(unpack: UnpackInMemory, capacityBytes: number) {
    this.#unpack = unpack;
    this.#tree = new MemoryTree(capacityBytes);
  }

  /** Returns every path with a text that differs when anything about it differs. */
  tree(): ReadonlyMap<string, string> {
    return this.#tree.describe();
  }

  async stat(path: string): Promise<FileStat | undefined> {
    const entry = this.#tree.get(path);
    return entry && statOf(entry);
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    return this.#tree.openFile(path)?.content;
  }

  async digest(path: string): Promise<string | undefined> {
    const file = this.#tree.openFile(path);
    return file && createHash('sha256').update(file.content).digest('hex');
  }

  async list(directory: string): Promise<readonly string[]> {
    return this.#tree.children(directory);
  }

  async write(path: string, content: Uint8Array, { mode, owner }: FileAttributes): Promise<void> {
    this.#tree.set(path, { type: 'File', content, mode, owner });
    this.#notify(path);
  }

  async setAttributes(path: string, { mode, owner }: FileAttributes): Promise<void> {
    const entry = this.#tree.get(path);
    if (!entry || entry.type === 'Link') throw notFound(path);
    this.#tree.set(path, { ...entry, mode, owner });
    this.#notify(path);
  }

  async append(path: string, content: Uint8Array): Promise<void> {
    const before = this.#tree.openFile(path) ?? EMPTY_FILE;
    await this.write(path, Buffer.concat([before.content, content]), before);
  }

  async link(path: string, target: string): Promise<void> {
    this.#tree.set(path, { type: 'Link', target });
    this.#notify(path);
  }

  async makeDirectory(path: string, mode = '0755'): Promise<void> {
    if (!this.#tree.get(path)) this.#tree.set(path, { type: 'Directory', mode, owner: 'root:root' });
  }

  async copy(from: string, to: string, attributes: FileAttributes): Promise<void> {
    const file = this.#tree.openFile(from);
    if (!file) throw notFound(from);
    await this.write(to, file.content, attributes);
  }

  async rename(from: string, to: string): Promise<void> {
    this.#tree.rename(from, to);
    this.#notify(to);
  }

  async remove(path: string): Promise<void> {
    this.#tree.remove(path);
    this.#notify(path);
  }

  async usage(): Promise<DiskUsage> {
    const [usedBytes, freeBytes] = [this.#tree.usedBytes(), this.#tree.freeBytes()];
    return { usedBytes, freeBytes, usedInodes: 0, freeInodes: 0 };
  }

  async unpack(archive: string, directory: string, { maxBytes, maxEntries }: UnpackLimits): Promise<void> {
    const file = this.#tree.openFile(archive);
    if (!file) throw notFound(archive);
    const contents = [...this.#unpack(file.content)];
    const bytes = contents.reduce((sum, [, content]) => sum + content.length, 0);
    if (bytes > maxBytes || contents.length > maxEntries) {
      throw new HostError('TooLarge', `${archive} is larger than ${maxBytes} bytes or ${maxEntries} entries`);
    }
    for (const [path, content] of contents) {
      await this.write(`${directory}/${path}`, content, { mode: '0755', owner: 'root:root' });
    }
  }

  watch(paths: readonly string[], onChange: Watcher): AsyncDisposable {
    this.#watchers.set(onChange, paths);
    return {
      [Symbol.asyncDispose]: async () => {
        this.#watchers.delete(onChange);
      },
    };
  }

  retryWatches(): undefined {
    return undefined;
  }

  #notify(path: string): void {
    for (const [onChange, paths] of this.#watchers) {
      if (paths.some((each) => path === each || path.startsWith(`${each}/`))) onChange(path);
    }
  }
}
