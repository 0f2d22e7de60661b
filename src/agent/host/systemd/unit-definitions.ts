/** Reads and writes definitions of units on the disk: what is written, what is there, what was there before. */
import { decodeText } from '../../files/text.ts';
import type { HostFiles, UnitDefinition } from '../port.ts';
import {
  definitionFile,
  dropInDirectory,
  hasAgentHeader,
  type UnitFile,
  unitFiles,
  withoutHeader,
} from './unit-files.ts';
import { type OriginalUnit, UnitOriginals } from './unit-originals.ts';

const ATTRIBUTES = { mode: '0644', owner: 'root:root' };

export class UnitDefinitions {
  readonly #files: HostFiles;
  readonly #originals: UnitOriginals;

  constructor(files: HostFiles) {
    this.#files = files;
    this.#originals = new UnitOriginals(files);
  }

  /** Tells whether the files of a unit are exactly ours. A unit that the host has is ours as soon as it was noted how it was before. */
  async isWritten(unit: UnitDefinition): Promise<boolean> {
    if (!(await this.#originals.read(unit.name))) return false;
    for (const file of unitFiles(unit)) if (!(await this.#isSame(file))) return false;
    return (await this.#staleDropIns(unit)).length === 0;
  }

  /** Writes the files of a unit, and tells whether anything changed. `state` is how the unit is now, if the host has it. */
  async write(unit: UnitDefinition, state: OriginalUnit['state']): Promise<boolean> {
    const files = unitFiles(unit);
    await this.#originals.keep(
      unit.name,
      state,
      files.map(({ path }) => path),
    );
    let isChanged = false;
    for (const file of files) {
      if (await this.#isSame(file)) continue;
      await this.#files.write(file.path, new TextEncoder().encode(file.content), ATTRIBUTES);
      isChanged = true;
    }
    const stale = await this.#staleDropIns(unit);
    for (const path of stale) await this.#files.remove(path);
    return isChanged || stale.length > 0;
  }

  /** Records how the unit of the host is before we touch it. Only the first call for a unit counts. */
  async note(name: string, state: OriginalUnit['state']): Promise<void> {
    await this.#originals.keep(name, state, []);
  }

  /** Records how a unit of the host is before it ends because one that it requires is stopped: later it looks as if it had not run. */
  async noteDependent(name: string, state: OriginalUnit['state']): Promise<void> {
    if (!hasAgentHeader(await this.#files.read(definitionFile(name)))) await this.note(name, state);
  }

  /** Returns what was there before; undefined when none of our files is left. */
  async original(name: string): Promise<OriginalUnit | undefined> {
    const isOurs = hasAgentHeader(await this.#files.read(definitionFile(name)));
    return (await this.#originals.read(name)) ?? (isOurs ? { files: {} } : undefined);
  }

  /**
   * Tells whether an interrupted removal got as far as the definition: what runs under the name is the unit that the host had. A person may
   * have masked, edited or removed a definition that is still ours.
   */
  async isRemoved(name: string, original: OriginalUnit): Promise<boolean> {
    const definition = definitionFile(name);
    if (!(await this.#files.stat(definition))) return original.state !== undefined;
    return await this.#originals.isPutBack(name, original, definition);
  }

  /** Removes our files, and puts back what was in their place. */
  async remove({ name, existing }: UnitDefinition, original: OriginalUnit): Promise<void> {
    const definition = definitionFile(name);
    // Also a link to /dev/null in the place of our definition, but not what was put back already.
    const isPutBack = await this.#originals.isPutBack(name, original, definition);
    if (!existing && !isPutBack) await this.#files.remove(definition);
    for (const path of await this.#ourDropIns(name)) await this.#files.remove(path);
    await this.#originals.putBack(name, original);
    const directory = dropInDirectory(name);
    if ((await this.#files.list(directory)).length === 0) await this.#files.remove(directory);
  }

  /** Returns why the files of a unit of the host are not these. The text that is made from exec is not compared: its command is. */
  async hostDifference(
    unit: UnitDefinition,
    definitionPath: string | undefined,
  ): Promise<string | undefined> {
    const definition = definitionFile(unit.name);
    for (const { path, content } of unitFiles(withoutReload(unit))) {
      if (path === definition && unit.exec) continue;
      const found = await this.#files.read(path === definition ? (definitionPath ?? definition) : path);
      if (found === undefined) return `has no ${path}`;
      const isSame = withoutHeader(decodeText(found)) === withoutHeader(content);
      if (!isSame) return `has another definition in ${path}`;
    }
    return undefined;
  }

  async forget(name: string): Promise<void> {
    await this.#originals.forget(name);
  }

  async #isSame({ path, content }: UnitFile): Promise<boolean> {
    const stat = await this.#files.stat(path);
    const isFile = stat?.type === 'File' && stat.mode === ATTRIBUTES.mode && stat.owner === ATTRIBUTES.owner;
    return isFile && decodeText((await this.#files.read(path)) ?? new Uint8Array()) === content;
  }

  /** Returns the drop-ins of an earlier version. Drop-ins of other people stay. */
  async #staleDropIns(unit: UnitDefinition): Promise<readonly string[]> {
    const expected = new Set(unitFiles(unit).map(({ path }) => path));
    return (await this.#ourDropIns(unit.name)).filter((path) => !expected.has(path));
  }

  async #ourDropIns(name: string): Promise<readonly string[]> {
    const directory = dropInDirectory(name);
    const ours: string[] = [];
    for (const each of await this.#files.list(directory)) {
      const path = `${directory}/${each}`;
      if (hasAgentHeader(await this.#files.read(path))) ours.push(path);
    }
    return ours;
  }
}

/** How a unit reloads changes nothing of the process that runs. */
function withoutReload({ reload: _reload, ...unit }: UnitDefinition): UnitDefinition {
  return unit;
}
