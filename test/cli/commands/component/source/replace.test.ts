import { chmodSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  type FileReplacement,
  replaceFiles,
} from '../../../../../src/cli/commands/component/source/replace.ts';
import { writeFileAtomic } from '../../../../../src/os/files.ts';
import { tempFolder } from '../../../../support/temp.ts';

let files: readonly FileReplacement[];
const pathOf = (index: number): string => files[index]?.path ?? '';
const texts = (): readonly string[] => files.map(({ path }) => readFileSync(path, 'utf8'));

beforeEach(() => {
  const folder = tempFolder('replace');
  files = ['a', 'b'].map((name) => ({ path: join(folder, name), before: name, text: `new ${name}` }));
  for (const { path, before } of files) writeFileSync(path, before);
});

describe('replaceFiles', () => {
  it('replaces all files, which keep their modes', async () => {
    chmodSync(pathOf(1), 0o600);
    await replaceFiles(files);
    expect(texts()).toEqual(['new a', 'new b']);
    expect(files.map(({ path }) => statSync(path).mode & 0o777)).toEqual([0o644, 0o600]);
  });

  it.each<[what: string, change: (path: string) => void]>([
    ['was edited', (path) => writeFileSync(path, 'edited')],
    ['was removed', (path) => rmSync(path)],
    [
      'became a link',
      (path) => {
        renameSync(path, `${path}-elsewhere`);
        symlinkSync(`${path}-elsewhere`, path);
      },
    ],
  ])('writes no file when the last one %s', async (_, change) => {
    change(pathOf(1));
    await expect(replaceFiles(files)).rejects.toMatchObject({
      message: 'the file was changed during the download',
      where: pathOf(1),
    });
    expect(readFileSync(pathOf(0), 'utf8')).toBe('a');
  });

  it('gives the first file its text back when the second one cannot be written', async () => {
    const failing = replaceFiles(files, async (path, text, mode) => {
      if (path === pathOf(1)) throw new Error('the disk is full');
      await writeFileAtomic(path, text, mode);
    });
    await expect(failing).rejects.toThrow('the disk is full');
    expect(texts()).toEqual(['a', 'b']);
  });
});
