import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { completeRepository } from '../../../src/demo/template/demo-repository.ts';
import { tempFolder } from '../../support/temp.ts';

const FILES = new Map([
  ['package.json', '{"name": "demo"}\n'],
  ['fleet/main.ts', 'export const fleet = 1;\n'],
  ['fleet/local.json', '{"node": "/usr/bin/node"}\n'],
]);

afterEach(() => vi.unstubAllEnvs());

async function complete(folder: string): Promise<readonly string[]> {
  const steps: string[] = [];
  await completeRepository(folder, FILES, { step: (text) => void steps.push(text) });
  return steps;
}

function write(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

/** The content of each file in the first commit. */
function committed(folder: string): Map<string, string> {
  expect(gitIn(folder, 'status', '--porcelain')).toBe('');
  const paths = gitIn(folder, 'ls-tree', '-r', '--name-only', 'HEAD').trim().split('\n');
  return new Map(paths.map((path) => [path, gitIn(folder, 'show', `HEAD:${path}`)]));
}

function gitIn(folder: string, ...args: readonly string[]): string {
  return execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' });
}

function sorted(files: ReadonlyMap<string, string>): readonly (readonly string[])[] {
  return [...files].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

describe('the repository of the demo', () => {
  it.each<[string, readonly (readonly [string, string])[]]>([
    ['nothing', []],
    ['some files', [['package.json', '{"name": "demo"}\n']]],
    ['a file that is cut off', [['fleet/main.ts', 'export']]],
    [
      'a last file that is cut off',
      [...FILES].map(([path, text]) => [path, path.endsWith('local.json') ? '{"no' : text] as const),
    ],
    ['all files, without a commit', [...FILES]],
  ])('FST-10 is completed after a start that left %s', async (_, left) => {
    const folder = join(tempFolder('demo'), 'repository');
    for (const [path, text] of left) write(folder, path, text);
    await complete(folder);
    expect(sorted(committed(folder))).toEqual(sorted(FILES));
  });

  it('is completed after a start that ended between git init and the commit', async () => {
    const folder = tempFolder('demo');
    execFileSync('git', ['init', '--quiet', folder]);
    await complete(folder);
    expect(sorted(committed(folder))).toEqual(sorted(FILES));
  });

  it('is used as it is once it has a commit', async () => {
    const folder = tempFolder('demo');
    await complete(folder);
    write(folder, 'fleet/main.ts', 'edited');
    expect(await complete(folder)).toEqual([]);
    expect(readFileSync(join(folder, 'fleet/main.ts'), 'utf8')).toBe('edited');
    expect(gitIn(folder, 'status', '--porcelain')).toBe(' M fleet/main.ts\n');
  });

  it.each([
    ['another file', 'notes.txt', 'mine'],
    ['another file in one of its folders', 'fleet/other.ts', ''],
    ['a file with other content', 'package.json', '{"name": "mine"}\n'],
  ])('is never made of a folder with %s, which stays as it was', async (_, path, text) => {
    const folder = tempFolder('demo');
    write(folder, path, text);
    await expect(complete(folder)).rejects.toMatchObject({
      message: 'the folder is not empty, and not a repository of the demo',
      where: folder,
    });
    expect(readFileSync(join(folder, path), 'utf8')).toBe(text);
    expect(existsSync(join(folder, '.git'))).toBe(false);
  });

  it('is committed whatever the git config of the user signs, and runs no hook of it', async () => {
    const home = tempFolder('home');
    write(home, 'hooks/pre-commit', '#!/bin/sh\nexit 1\n');
    execFileSync('chmod', ['+x', join(home, 'hooks/pre-commit')]);
    const config = `[commit]\n gpgSign = true\n[gpg]\n program = /bin/false\n[core]\n hooksPath = ${home}/hooks\n`;
    write(home, 'config', config);
    vi.stubEnv('GIT_CONFIG_GLOBAL', join(home, 'config'));
    const folder = tempFolder('demo');
    await complete(folder);
    expect(committed(folder).size).toBe(FILES.size);
  });

  it('names git where it is missing; with it, the same command goes on', async () => {
    const folder = tempFolder('demo');
    vi.stubEnv('PATH', tempFolder('no-git'));
    await expect(complete(folder)).rejects.toMatchObject({
      message: 'git is not installed',
      hint: 'install git, and run the command again',
      exitCode: 69,
    });
    vi.unstubAllEnvs();
    await complete(folder);
    expect(committed(folder).size).toBe(FILES.size);
  });

  it('passes on the reason of git', async () => {
    const folder = tempFolder('demo');
    execFileSync('git', ['init', '--quiet', folder]);
    write(folder, '.git/index.lock', '');
    await expect(complete(folder)).rejects.toMatchObject({
      message: expect.stringMatching(/git .* failed: .*index\.lock': File exists/) as string,
    });
  });
});
