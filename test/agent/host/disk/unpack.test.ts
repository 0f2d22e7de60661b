import { mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, zstdCompressSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { entryProblem, unpackTarGz } from '../../../../src/agent/host/disk/unpack.ts';
import { type ArchiveEntry, tarGz } from '../../../support/agent/archives.ts';
import { tempFolder } from '../../../support/temp.ts';

const LIMITS = { maxBytes: 100_000, maxEntries: 100 };
const GOOD: ArchiveEntry = { path: 'bin/run', content: 'run' };

let folder: string;
let into: string;

beforeEach(() => {
  folder = tempFolder('unpack');
  into = join(folder, 'into');
  mkdirSync(into);
});

async function unpackLayer(...entries: readonly ArchiveEntry[]): Promise<void> {
  const archive = join(folder, 'layer');
  writeFileSync(archive, zstdCompressSync(gunzipSync(tarGz(entries))));
  await unpackTarGz(archive, into, { ...LIMITS, isLayer: true });
}

async function unpack(...entries: readonly ArchiveEntry[]): Promise<void> {
  const archive = join(folder, 'archive.tar.gz');
  writeFileSync(archive, tarGz(entries));
  await unpackTarGz(archive, into, LIMITS);
}

describe('unpackTarGz', () => {
  it('extracts files, directories and both kinds of links, with their modes', async () => {
    await unpack(
      { path: './', flag: '5' },
      { path: './bin', flag: '5' },
      { ...GOOD, path: './bin/run', mode: '0750' },
      { path: 'link', flag: '2', target: 'bin/run' },
      { path: 'hard', flag: '1', target: 'bin/run' },
    );
    expect(readFileSync(join(into, 'hard'), 'utf8')).toBe('run');
    expect(readlinkSync(join(into, 'link'))).toBe('bin/run');
    expect(statSync(join(into, 'bin/run')).mode & 0o7777).toBe(0o750);
  });

  it('reads the long names of GNU tar and pax', async () => {
    const [gnu, pax] = ['g'.repeat(150), 'p'.repeat(150)];
    const record = ` path=${pax}\n`;
    await unpack(
      { path: '././@LongLink', flag: 'L', content: `${gnu}\0` },
      { path: 'short', content: 'a' },
      { path: 'pax', flag: 'x', content: `${record.length + 3}${record}` },
      { path: 'other', content: 'b' },
      { path: 'plain', content: 'c' },
    );
    expect(readdirSync(into).toSorted()).toEqual([gnu, 'plain', pax]);
  });

  it.each<[name: string, entry: ArchiveEntry, problem: string]>([
    ['an absolute path', { path: '/etc/passwd' }, 'leaves the directory'],
    ['a path with ..', { path: 'a/../../b' }, 'leaves the directory'],
    ['an absolute link', { path: 'a', flag: '2', target: '/etc/passwd' }, 'is a link out of the directory'],
    ['a link with ..', { path: 'a/b', flag: '2', target: '../../x' }, 'is a link out of the directory'],
    ['a hard link with ..', { path: 'a', flag: '1', target: '../x' }, 'is a hard link out of the directory'],
    ['a device', { path: 'a', flag: '3' }, 'is not a file, a directory or a link'],
    ['a pipe', { path: 'a', flag: '6' }, 'is not a file, a directory or a link'],
  ])('AGT-10 refuses %s, and writes nothing of the archive', async (_, entry, problem) => {
    await expect(unpack(GOOD, entry)).rejects.toMatchObject({
      code: 'BadArchive',
      message: `the archive is refused: ${entry.path} ${problem}`,
    });
    expect(readdirSync(into)).toEqual([]);
  });

  it('AGT-10 refuses an entry behind a link of the archive', async () => {
    const link = { path: 'dir', flag: '2', target: 'bin' };
    await expect(unpack(GOOD, link, { path: 'dir/a' })).rejects.toMatchObject({ code: 'BadArchive' });
    expect(readdirSync(into)).toEqual([]);
  });

  it.each([
    ['deep in it', { path: 'dir', flag: '2', target: 'bin' }, 'dir/deep/a', 'dir'],
    ['with another text of its path', { path: './dir', flag: '2', target: 'bin' }, 'dir/a', 'dir'],
    ['with another text of the path', { path: 'dir', flag: '2', target: 'bin' }, 'x/../dir/./a', 'dir'],
  ])('AGT-10 refuses an entry behind a link, %s', async (_, link, path, behind) => {
    await expect(unpack(GOOD, link, { path })).rejects.toMatchObject({
      message: `the archive is refused: ${path} is behind the link ${behind}`,
    });
    expect(readdirSync(into)).toEqual([]);
  });

  it('AGT-10 refuses a path with a NUL, where the system would end it', () => {
    const found = entryProblem({ path: 'a\0b', type: 'File', target: '' }, new Set());
    expect(found).toBe('leaves the directory');
  });

  it('AGT-10 refuses links that lead out of the directory only on the disk', async () => {
    const up = { path: 'a/b/up', flag: '2', target: '../..' };
    const text = { path: 'text', flag: '2', target: 'a/b/up/../..' };
    await expect(unpack(GOOD, up, text)).rejects.toMatchObject({ code: 'BadArchive' });
    const inside = { path: 'a/b/link', flag: '2', target: '../../bin' };
    const moved = { path: 'moved', flag: '1', target: './a/b/link' };
    await expect(unpack(GOOD, inside, moved)).rejects.toMatchObject({
      message: 'the archive is refused: moved is a hard link to the link ./a/b/link',
    });
    expect(readdirSync(into)).toEqual([]);
    await unpack(GOOD, up, inside, { path: 'a/same', flag: '2', target: 'b/link' });
    expect(readlinkSync(join(into, 'a/b/link'))).toBe('../../bin');
  });

  it.each([
    ['truncated', (all: Uint8Array) => all.subarray(0, all.length - 12)],
    ['not an archive', () => new TextEncoder().encode('<html>')],
  ])('AGT-10 refuses a file that is %s', async (_, change) => {
    const archive = join(folder, 'archive.tar.gz');
    writeFileSync(archive, change(tarGz([GOOD, { path: 'b', content: 'x'.repeat(5000) }])));
    await expect(unpackTarGz(archive, into, LIMITS)).rejects.toMatchObject({
      message: 'the archive is corrupt',
    });
    expect(readdirSync(into)).toEqual([]);
  });

  it('refuses more bytes than the limit before it writes any', async () => {
    await expect(unpack(GOOD, { path: 'big', content: 'x'.repeat(100_001) })).rejects.toMatchObject({
      code: 'TooLarge',
    });
    expect(readdirSync(into)).toEqual([]);
  });
});

describe('a layer of an image', () => {
  it('is unpacked without what makes sense only in the root of a container', async () => {
    await unpackLayer(
      GOOD,
      { path: 'bin/link', flag: '2', target: 'run' },
      { path: 'etc/absolute', flag: '2', target: '/etc/passwd' },
      { path: 'etc/hard', flag: '1', target: 'etc/absolute' },
      { path: 'etc/out', flag: '2', target: '../../x' },
      { path: 'dev/null', flag: '3' },
      { path: 'usr/.wh.removed' },
      { path: 'usr/kept', content: 'kept' },
    );
    expect(readdirSync(into, { recursive: true }).map(String).toSorted()).toEqual([
      'bin',
      'bin/link',
      'bin/run',
      'usr',
      'usr/kept',
    ]);
  });

  it.each<[name: string, entries: readonly ArchiveEntry[], problem: string]>([
    ['leaves the directory', [{ path: '../x' }], 'leaves the directory'],
    [
      'is behind a link',
      [
        { path: 'lib', flag: '2', target: 'usr' },
        { path: 'lib/x', content: 'x' },
      ],
      'is behind the link lib',
    ],
  ])('is refused when a path %s', async (_name, entries, problem) => {
    await expect(unpackLayer(GOOD, ...entries)).rejects.toThrow(problem);
    expect(readdirSync(into)).toEqual([]);
  });

  it('that is damaged is refused', async () => {
    const archive = join(folder, 'layer');
    const layer = zstdCompressSync(gunzipSync(tarGz([GOOD])));
    writeFileSync(archive, layer.subarray(0, layer.length - 8));
    await expect(unpackTarGz(archive, into, { ...LIMITS, isLayer: true })).rejects.toMatchObject({
      code: 'BadArchive',
    });
  });
});
