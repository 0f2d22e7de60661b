import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exportFolder } from '../../../src/sync/render/folder-export.ts';
import { createFleetFolder, createTestRenderer } from '../../support/fleet-repository.ts';
import { tempFolder } from '../../support/temp.ts';
import { failureOf } from './results.ts';

const CANARY = 'canary-of-the-host';
const MANIFEST = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {word: ${CANARY}}\n`;
const LINK = 'a symbolic link: a render contains no links';

/** A file and a folder of the host, which no render may contain. */
function outside(): { readonly file: string; readonly folder: string } {
  const folder = createFleetFolder({ 'web/settings.yaml': MANIFEST });
  return { folder, file: join(folder, 'web/settings.yaml') };
}

function git(folder: string, ...args: readonly string[]): void {
  execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a', ...args], {
    stdio: 'ignore',
  });
}

function repository(files: Readonly<Record<string, string>> = {}): string {
  const folder = createFleetFolder({ 'hub/a.yaml': 'a', ...files });
  git(folder, 'init', '--quiet');
  return folder;
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
}

async function exported(folder: string): Promise<{ files: string[]; skipped: string[]; target: string }> {
  const target = tempFolder('export');
  const skipped = await exportFolder(folder, target);
  return {
    files: filesIn(target),
    skipped: skipped.map(({ path, because }) => `${path}: ${because}`),
    target,
  };
}

describe('exporting a folder', () => {
  it('copies what git tracks or does not ignore, as it is now', async () => {
    const folder = repository({
      '.gitignore': 'ignored\nnode_modules\n',
      gone: '',
      'node_modules/x/y': '',
      ignored: '',
    });
    git(folder, 'add', '.');
    git(folder, 'commit', '-m', 'first');
    rmSync(join(folder, 'gone'));
    writeFileSync(join(folder, 'hub/a.yaml'), 'changed');
    writeFileSync(join(folder, 'hub/new: \n.yaml'), 'new');
    const { files, skipped, target } = await exported(folder);
    expect(files).toEqual(['.gitignore', 'hub/a.yaml', 'hub/new: \n.yaml']);
    expect(readFileSync(join(target, 'hub/a.yaml'), 'utf8')).toBe('changed');
    expect(skipped).toEqual([]);
  });

  it.each<[name: string, make: () => string]>([
    ['a repository', () => repository()],
    ['a folder without git', () => createFleetFolder({ 'hub/a.yaml': 'a' })],
  ])('SAF-12 skips every link of %s, wherever it leads', async (_, make) => {
    const folder = make();
    const { file, folder: other } = outside();
    symlinkSync(file, join(folder, 'hub/file.yaml'));
    symlinkSync(other, join(folder, 'clusters'));
    symlinkSync('a.yaml', join(folder, 'hub/inside.yaml'));
    symlinkSync('nothing', join(folder, 'hub/nowhere.yaml'));
    symlinkSync('/proc/self/environ', join(folder, 'hub/process.yaml'));
    const { files, skipped } = await exported(folder);
    expect(files).toEqual(['hub/a.yaml']);
    const links = ['clusters', 'hub/file.yaml', 'hub/inside.yaml', 'hub/nowhere.yaml', 'hub/process.yaml'];
    expect(skipped).toEqual(links.map((path) => `${path}: ${LINK}`));
  });

  it('skips files below a folder that has become a link', async () => {
    const folder = repository({ 'deep/below/web/settings.yaml': 'ours' });
    git(folder, 'add', '.');
    renameSync(join(folder, 'deep'), join(folder, 'moved'));
    mkdirSync(join(folder, 'deep'));
    symlinkSync(outside().folder, join(folder, 'deep/below'));
    const { files, skipped } = await exported(folder);
    expect(files).toEqual(['hub/a.yaml', 'moved/below/web/settings.yaml']);
    expect(skipped).toEqual([`deep/below: ${LINK}`]);
  });

  it('skips submodules, pipes, and the folders that git does not list', async () => {
    const folder = repository();
    const inner = join(folder, 'inner');
    mkdirSync(inner);
    git(inner, 'init', '--quiet');
    writeFileSync(join(inner, 'file'), '');
    const { files, skipped } = await exported(folder);
    expect(files).toEqual(['hub/a.yaml']);
    expect(skipped).toEqual(['inner: a submodule or a git repository of its own']);

    const plain = createFleetFolder({ 'hub/a.yaml': 'a', 'node_modules/x': '', '.git/config': '' });
    execFileSync('mkfifo', [join(plain, 'hub/pipe.yaml')]);
    const found = await exported(plain);
    expect(found.files).toEqual(['hub/a.yaml']);
    expect(found.skipped).toEqual(['hub/pipe.yaml: neither a file nor a folder']);
  });

  it('runs nothing that the repository configures', async () => {
    const folder = repository({ '.gitattributes': '* filter=evil\n' });
    const marker = join(tempFolder('marker'), 'ran');
    for (const name of ['core.fsmonitor', 'filter.evil.clean', 'filter.evil.smudge', 'filter.evil.process']) {
      git(folder, 'config', name, `touch ${marker}`);
    }
    expect((await exported(folder)).files).toEqual(['.gitattributes', 'hub/a.yaml']);
    expect(readdirSync(dirname(marker))).toEqual([]);
  });

  it.each<[name: string, limits: { maxFiles: number; maxBytes: number }]>([
    ['files', { maxFiles: 1, maxBytes: 100 }],
    ['bytes', { maxFiles: 10, maxBytes: 3 }],
  ])('refuses a folder with too many %s', async (unit, limits) => {
    const folder = createFleetFolder({ a: '12', b: '34' });
    await expect(exportFolder(folder, tempFolder('export'), limits)).rejects.toMatchObject({
      code: 'TooLarge',
      message: expect.stringContaining(unit) as string,
    });
  });
});

describe('a render of a working tree', () => {
  const renderer = createTestRenderer();

  it('SAF-12 contains no file that a committed link names, and reports each link', async () => {
    const folder = repository({ 'hub/a.yaml': MANIFEST.replace(CANARY, 'ours') });
    const { file, folder: other } = outside();
    symlinkSync(file, join(folder, 'hub/stolen.yaml'));
    symlinkSync(other, join(folder, 'clusters'));
    const { targets, warnings } = await renderer.folder({ folder });
    expect(JSON.stringify(targets)).not.toContain(CANARY);
    expect(warnings).toEqual([`clusters was skipped: ${LINK}`, `hub/stolen.yaml was skipped: ${LINK}`]);
  });

  it('names a skipped file when it fails without it', async () => {
    const folder = createFleetFolder({ 'README.md': '' });
    symlinkSync(outside().file, join(folder, 'main.ts'));
    const error = await failureOf(renderer.folder({ folder }));
    expect(error.code).toBe('NoEntry');
    expect(error.problems.at(-1)).toEqual({ message: `skipped: ${LINK}`, file: 'main.ts' });
  });
});
