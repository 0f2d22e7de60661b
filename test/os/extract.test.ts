import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { extractFile } from '../../src/os/extract.ts';
import { tempFolder } from '../support/temp.ts';

describe('extractFile', () => {
  let folder: string;
  let to: string;

  beforeEach(() => {
    folder = tempFolder('archive');
    to = join(folder, 'out');
  });

  it('extracts the first regular file with that name, executable, and nothing else', async () => {
    const archive = write([
      entry('x/tool', 'a folder', '5'),
      entry('x/other', 'other'),
      entry('y/tool', 'x'.repeat(1500)),
      entry('z/tool', 'second'),
    ]);
    await extractFile(archive, 'tool', to);
    expect(readFileSync(to, 'utf8')).toBe('x'.repeat(1500));
    expect(statSync(to).mode & 0o777).toBe(0o755);
  });

  it.each<[name: string, blocks: Buffer[], message: string]>([
    ['does not contain the file', [entry('other', 'x')], 'the archive does not contain the file tool'],
    ['ends early', [entry('tool', 'x'.repeat(600)).subarray(0, 700)], 'the archive ends early'],
    ['has an invalid size', [entry('tool', 'x', '0', 'zzz')], 'the archive is corrupt'],
  ])('fails when the archive %s', async (name, blocks, message) => {
    const archive = name === 'ends early' ? write(blocks, Buffer.alloc(0)) : write(blocks);
    await expect(extractFile(archive, 'tool', to)).rejects.toMatchObject({ code: 'Download', message });
  });

  it('does not overwrite a file', async () => {
    writeFileSync(to, 'old');
    await expect(extractFile(write([entry('tool', 'new')]), 'tool', to)).rejects.toThrow('EEXIST');
    expect(readFileSync(to, 'utf8')).toBe('old');
    expect(existsSync(join(folder, 'tool'))).toBe(false);
  });

  function write(blocks: readonly Buffer[], end = Buffer.alloc(1024)): string {
    const path = join(folder, 'archive.tar.gz');
    writeFileSync(path, gzipSync(Buffer.concat([...blocks, end])));
    return path;
  }
});

function entry(path: string, content: string, type = '0', size = content.length.toString(8)): Buffer {
  const header = Buffer.alloc(512);
  header.write(path, 0);
  header.write(size, 124);
  header.write(type, 156);
  const padding = Buffer.alloc((512 - (content.length % 512)) % 512);
  return Buffer.concat([header, Buffer.from(content), padding]);
}
