import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createLockFile } from '../../../src/demo/template/lock-file.ts';
import { createNpm } from '../../../src/demo/template/npm.ts';
import { createScaffold, PACKAGE_ROOT } from '../../../src/demo/template/scaffold.ts';
import { tempFolder } from '../../support/temp.ts';

interface Lock {
  readonly name: string;
  readonly packages: Readonly<
    Record<string, { version?: string; resolved?: string; integrity?: string; dev?: boolean }>
  >;
}

/** Only what npm reads to resolve dependencies. */
function tarball(): string {
  const folder = tempFolder('tarball');
  mkdirSync(join(folder, 'package'));
  writeFileSync(join(folder, 'package/package.json'), readFileSync(join(PACKAGE_ROOT, 'package.json')));
  const file = join(folder, 'kubenode-0.1.0.tgz');
  execFileSync('tar', ['-czf', file, '-C', folder, 'package']);
  return file;
}

it('FST-4 a checkout writes the lock file of a new repository without a registry, with the versions of its own', async () => {
  const kubenode = 'file:vendor/kubenode-0.1.0.tgz';
  const scaffold = createScaffold({
    content: 'Plain',
    repository: 'file:///srv/fleet',
    kubenode,
    name: 'fleet',
  });
  const packageJson = scaffold.get('package.json') ?? '';
  const env = { ...process.env, npm_config_offline: 'true', npm_config_cache: tempFolder('npm-cache') };
  const npm = createNpm({ env, signal: new AbortController().signal });
  const text = await createLockFile({ packageJson, tarball: tarball(), npm, packageRoot: PACKAGE_ROOT });
  const { name, packages } = JSON.parse(text) as Lock;
  const own = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package-lock.json'), 'utf8')) as Lock;

  const { 'node_modules/kubenode': vendored, '': root, ...others } = packages;
  expect({ name, root }).toMatchObject({ name: 'fleet', root: { dependencies: { kubenode } } });
  expect(vendored).toMatchObject({
    resolved: kubenode,
    integrity: expect.stringMatching(/^sha512-/) as string,
  });
  const paths = Object.keys(others);
  expect(paths.map((path) => packages[path]?.integrity)).toEqual(
    paths.map((path) => own.packages[path]?.integrity),
  );
  expect(paths).toEqual(expect.arrayContaining(['node_modules/cdk8s', 'node_modules/commander']));
  expect(packages['node_modules/typescript']?.dev).toBe(true);
  expect(paths).not.toContain('node_modules/vitest');
});
