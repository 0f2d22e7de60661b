import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  checkFreeSpace,
  ensurePrivateFolder,
  fileExists,
  PRIVATE_MODE,
  readFileIfExists,
  toDiskError,
  writeFileAtomic,
} from '../../src/os/files.ts';
import { tempFolder } from '../support/temp.ts';

describe('fileExists', () => {
  it('tells files and folders that exist from those that do not, and throws when it cannot be known', async () => {
    const root = tempFolder('files');
    writeFileSync(join(root, 'file'), '');
    expect(await fileExists(root)).toBe(true);
    expect(await fileExists(join(root, 'file'))).toBe(true);
    expect(await fileExists(join(root, 'missing'))).toBe(false);
    await expect(fileExists(join(root, 'file/below'))).rejects.toThrow('ENOTDIR');
  });
});

describe('writeFileAtomic', () => {
  it('creates missing folders, accessible to this user only', async () => {
    const root = tempFolder('files');
    await writeFileAtomic(join(root, 'a/b/file'), 'text', PRIVATE_MODE);
    expect(readFileSync(join(root, 'a/b/file'), 'utf8')).toBe('text');
    expect(statSync(join(root, 'a/b/file')).mode & 0o777).toBe(0o600);
    expect(statSync(join(root, 'a')).mode & 0o777).toBe(0o700);
  });

  it('replaces a symbolic link and leaves its target unchanged', async () => {
    const root = tempFolder('files');
    writeFileSync(join(root, 'target'), 'theirs');
    symlinkSync('target', join(root, 'link'));
    await writeFileAtomic(join(root, 'link'), 'ours');
    expect(readFileSync(join(root, 'target'), 'utf8')).toBe('theirs');
    expect(readFileSync(join(root, 'link'), 'utf8')).toBe('ours');
  });

  it('leaves the old file and no temporary file when it fails', async () => {
    const root = tempFolder('files');
    mkdirSync(join(root, 'taken/full'), { recursive: true });
    await expect(writeFileAtomic(join(root, 'taken'), 'text')).rejects.toThrow(/EISDIR|ENOTEMPTY|EEXIST/);
    expect(readdirSync(root)).toEqual(['taken']);
    expect(existsSync(join(root, 'taken/full'))).toBe(true);
  });
});

describe('readFileIfExists', () => {
  it('returns undefined for a missing file and rejects for an unreadable one', async () => {
    const root = tempFolder('files');
    expect(await readFileIfExists(join(root, 'nothing'))).toBeUndefined();
    await expect(readFileIfExists(root)).rejects.toThrow('EISDIR');
  });
});

describe('ensurePrivateFolder', () => {
  it('lets only the owner into a folder, also into one that exists, and reports why it cannot', async () => {
    const parent = tempFolder('private');
    const [existing, created] = [join(parent, 'existing'), join(parent, 'a', 'b')];
    mkdirSync(existing, { mode: 0o755 });
    for (const folder of [existing, created]) {
      await ensurePrivateFolder(folder);
      expect(statSync(folder).mode & 0o777).toBe(0o700);
    }
    writeFileSync(join(parent, 'file'), '');
    await expect(ensurePrivateFolder(join(parent, 'file', 'x'))).rejects.toThrow('ENOTDIR');
  });
});

describe('checkFreeSpace', () => {
  it('reports the free and the needed space', async () => {
    const promise = checkFreeSpace('/fleet', 200e6, () => Promise.resolve(12.3e6));
    await expect(promise).rejects.toMatchObject({
      code: 'DiskFull',
      message: 'the disk is full: /fleet has 12 MB left, 200 MB are needed',
      hint: 'free some space',
    });
  });

  it('resolves while there is enough space', async () => {
    await expect(checkFreeSpace('/fleet', 200, () => Promise.resolve(200))).resolves.toBeUndefined();
    await expect(checkFreeSpace(tempFolder('files'), 1)).resolves.toBeUndefined();
  });
});

describe('toDiskError', () => {
  it.each([
    ['ENOSPC', 'DiskFull', /free some space/],
    ['EDQUOT', 'DiskFull', /free some space/],
    ['EACCES', 'NoAccess', /accessible for this user/],
    ['EROFS', 'NoAccess', /accessible for this user/],
  ])('turns %s into %s with a hint', (code, expected, hint) => {
    const error = toDiskError(Object.assign(new Error('no'), { code }), '/x/file');
    expect(error).toMatchObject({
      code: expected,
      where: '/x/file',
      hint: expect.stringMatching(hint) as string,
    });
  });

  it('returns every other error unchanged', () => {
    const error = Object.assign(new Error('no'), { code: 'EISDIR' });
    expect(toDiskError(error, '/x')).toBe(error);
  });
});
