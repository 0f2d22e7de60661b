import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createNpm } from '../../../src/demo/template/npm.ts';
import { packKubenode } from '../../../src/demo/template/vendor.ts';
import { fakeNpm } from '../../support/fake-npm.ts';
import { tempFolder } from '../../support/temp.ts';

const CHECKOUT = ['src/cli', 'scripts', 'bin', 'dist', 'test', 'node_modules'];
const FILES = ['tsconfig.json', 'tsconfig.build.json', 'README.md', 'LICENSE', 'src/cli/main.ts'];

function packageFolder(isCheckout: boolean): string {
  const root = tempFolder('package');
  const folders = isCheckout ? CHECKOUT : ['bin', 'dist'];
  for (const name of folders) mkdirSync(join(root, name), { recursive: true });
  for (const name of isCheckout ? FILES : []) writeFileSync(join(root, name), '');
  writeFileSync(join(root, 'package.json'), JSON.stringify({ files: ['bin', 'dist'] }));
  return root;
}

function npm(): ReturnType<typeof createNpm> {
  return createNpm({ env: { PATH: fakeNpm() }, signal: new AbortController().signal });
}

describe('pack kubenode', () => {
  it('FST-4 packs an installed package as it is, without its build scripts', async () => {
    const root = packageFolder(false);
    const packed = await packKubenode(root, npm());
    expect(readFileSync(packed.tarball, 'utf8')).toContain(`pack ${root} --ignore-scripts`);
    packed[Symbol.dispose]();
    expect(existsSync(dirname(packed.tarball))).toBe(false);
  });

  it('FST-4 builds a checkout in a copy, which other programs do not use', async () => {
    using packed = await packKubenode(packageFolder(true), npm());
    expect(readFileSync(packed.tarball, 'utf8')).not.toContain('--ignore-scripts');
    expect(readdirSync(dirname(packed.tarball)).toSorted()).toEqual(
      [
        'LICENSE',
        'README.md',
        'bin',
        'kubenode-9.9.9.tgz',
        'node_modules',
        'package.json',
        'scripts',
        'src',
      ].concat(['tsconfig.build.json', 'tsconfig.json']),
    );
  });
});
