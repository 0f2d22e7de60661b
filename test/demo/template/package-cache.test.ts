import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createNpm } from '../../../src/demo/template/npm.ts';
import { digestPackage, packedPackage } from '../../../src/demo/template/package-cache.ts';
import { fakeNpm } from '../../support/fake-npm.ts';
import { tempFolder } from '../../support/temp.ts';

const { signal } = new AbortController();
const CHECKOUT = [
  'src/cli/main.ts',
  'scripts/build.js',
  'docs/guide.md',
  'dist/main.js',
  'test/x.test.ts',
].concat(['tsconfig.json', 'tsconfig.build.json', 'README.md', 'LICENSE']);

function checkout(): string {
  const root = tempFolder('checkout');
  for (const path of CHECKOUT) write(root, path, path);
  write(root, 'package.json', JSON.stringify({ files: ['docs', 'dist'] }));
  mkdirSync(join(root, 'node_modules'));
  return root;
}

function write(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** The tarball, and whether it was packed for this call. */
async function packed(packageRoot: string, cache: string): Promise<{ tarball: string; packs: number }> {
  let packs = 0;
  const npm = createNpm({ env: { PATH: fakeNpm() }, signal });
  const onPack = (): void => void (packs += 1);
  return { tarball: await packedPackage({ packageRoot, cache, npm, signal, onPack }), packs };
}

describe('the package of the kubenode that runs', () => {
  it('is packed once, and again when a source changes', async () => {
    const [root, cache] = [checkout(), tempFolder('cache')];
    const first = await packed(root, cache);
    expect({ packs: first.packs, name: basename(first.tarball) }).toEqual({
      packs: 1,
      name: 'kubenode-9.9.9.tgz',
    });
    expect(await packed(root, cache)).toEqual({ tarball: first.tarball, packs: 0 });

    write(root, 'src/cli/main.ts', 'other');
    const second = await packed(root, cache);
    expect(second.packs).toBe(1);
    expect(second.tarball).not.toBe(first.tarball);
  });

  it('is packed again when its file in the cache was changed', async () => {
    const [root, cache] = [checkout(), tempFolder('cache')];
    const { tarball } = await packed(root, cache);
    const whole = readFileSync(tarball, 'utf8');
    appendFileSync(tarball, 'x');
    expect(await packed(root, cache)).toEqual({ tarball, packs: 1 });
    expect(readFileSync(tarball, 'utf8').length).toBeLessThan(whole.length + 60);
    expect(readFileSync(tarball, 'utf8').endsWith('x')).toBe(false);
  });

  it('leaves nothing in the cache where npm fails', async () => {
    const cache = tempFolder('cache');
    const npm = createNpm({ env: { PATH: tempFolder('no-npm') }, signal });
    const request = { packageRoot: checkout(), cache, npm, signal, onPack: () => undefined };
    await expect(packedPackage(request)).rejects.toThrow('npm is not installed');
    expect(readdirSync(cache)).toEqual([]);
  });
});

it.each([
  ['a source', 'src/cli/main.ts', true],
  ['a new source', 'src/cli/other.ts', true],
  ['a page of the package', 'docs/guide.md', true],
  ['a setting of the build', 'tsconfig.build.json', true],
  ['what the build writes', 'dist/main.js', false],
  ['a test', 'test/x.test.ts', false],
])('the digest of a checkout depends on what gets into the package: %s', async (_, path, changes) => {
  const root = checkout();
  const before = await digestPackage(root);
  write(root, path, 'changed');
  expect((await digestPackage(root)) !== before).toBe(changes);
});

it('the digest of an installed package depends on its files', async () => {
  const root = tempFolder('package');
  write(root, 'package.json', JSON.stringify({ files: ['dist'] }));
  write(root, 'dist/main.js', 'a');
  const before = await digestPackage(root);
  write(root, 'dist/main.js', 'b');
  expect(await digestPackage(root)).not.toBe(before);
});
