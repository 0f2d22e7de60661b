/** The first steps of a user with only the package, outside of the checkout. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KUBENODE_VERSION } from '../../src/cli/version.ts';
import type { ensureDemoRepository } from '../../src/demo/template/demo-repository.ts';
import type { RunNpm } from '../../src/demo/template/npm.ts';
import { npm, npx, packedTarball, unpackBeside } from '../support/packed.ts';
import { tempFolder } from '../support/temp.ts';

const home = tempFolder('user');
let packed: string;
let unpacked: string;

beforeAll(async () => {
  packed = await packedTarball();
  unpacked = unpackBeside(packed, tempFolder('unpacked'));
});

// Tens of thousands of files take longer than the default timeout of hooks.
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe('a fleet repository from the package', () => {
  const fleet = join(home, 'my-fleet');

  beforeAll(() => {
    kubenode(unpacked, home, 'init', fleet);
    npm(fleet, 'ci');
  });

  const installed = join(fleet, 'node_modules', 'kubenode');

  it('FST-4 contains this very version, and runs by the commands that init prints', () => {
    const { version } = json(join(installed, 'package.json'));
    const lock = json(join(fleet, 'package-lock.json')) as {
      packages: Record<string, { resolved?: string }>;
    };
    const tarball = `vendor/kubenode-${String(version)}.tgz`;
    expect({ version, files: readdirSync(join(fleet, 'vendor')) }).toEqual({
      version: KUBENODE_VERSION,
      files: [`kubenode-${KUBENODE_VERSION}.tgz`],
    });
    expect(lock.packages['node_modules/kubenode']?.resolved).toBe(`file:${tarball}`);
    expect(npx(fleet, 'kubenode', 'render', '.')).toMatch(/prod +components +15/);
  });

  it('passes its own tests and synthesizes', () => {
    expect(npm(fleet, 'test')).toMatch(/pass 3/);
    npm(fleet, 'run', 'synth');
    expect(existsSync(join(fleet, 'rendered'))).toBe(true);
  });

  it('renders the commit with the toolchain of the package, whether npm installed it or not', () => {
    git(fleet, 'add', '.');
    git(fleet, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'The fleet');
    const commit = kubenode(installed, fleet, 'render', '--commit', 'HEAD');
    expect(commit).toMatch(/prod +components +15/);
    expect(kubenode(installed, fleet, 'render', '.')).toBe(commit);
    expect(git(fleet, 'status', '--porcelain')).toBe('');
  });
});

describe('the repository of kubenode start --demo', () => {
  const demo = join(home, 'demo');

  let warning: string | undefined;

  beforeAll(async () => {
    warning = await ensureDemo(demo, () => Promise.resolve(packed));
    npm(demo, 'ci');
  });

  it('FST-4 passes its own tests, with the lock file and this very version in git, and no dependency', () => {
    expect(warning).toBeUndefined();
    expect(npm(demo, 'test')).toMatch(/pass 3/);
    expect(git(demo, 'status', '--porcelain')).toBe('');
    expect(git(demo, 'log', '--format=%s')).toBe('The fleet\n');
    const files = git(demo, 'ls-files').split('\n');
    expect(files).toEqual(
      expect.arrayContaining(['package-lock.json', `vendor/kubenode-${KUBENODE_VERSION}.tgz`]),
    );
    expect(files.filter((path) => path.startsWith('node_modules/'))).toEqual([]);
  });

  it('has the types of kubenode, which an editor completes and checks', () => {
    const wrong = join(demo, 'fleet/wrong.ts');
    writeFileSync(
      wrong,
      "import type { PipelineSpec } from 'kubenode/constructs';\nexport const stages: PipelineSpec['stages'] = [{ nam: 'test' }];\n",
    );
    expect(failureOf(() => npx(demo, 'tsc'))).toMatch(/fleet\/wrong\.ts\(2,\d+\): error TS2561: .*'nam'/);
    rmSync(wrong);
  });

  it('is created without npm, too, with a warning that names the reason', async () => {
    const { createNpm } = await fromPackage<{ createNpm: (io: object) => RunNpm }>('npm');
    const without = createNpm({ env: { PATH: home } });
    const folder = join(home, 'demo-without-npm');
    expect(await ensureDemo(folder, () => without(home, 'pack'))).toMatch(
      /^warning: the repository does not contain kubenode.*npm is not installed/,
    );
    const { dependencies } = json(join(folder, 'package.json'));
    expect(dependencies).toMatchObject({ kubenode: `file:${unpacked}` });
    expect(git(folder, 'log', '--format=%s')).toBe('The fleet\n');
    // One that npm installed: a render may read no link to another folder.
    const installed = join(demo, 'node_modules', 'kubenode');
    expect(kubenode(installed, folder, 'render', '.')).toMatch(/prod +components +7/);
  });
});

interface DemoRepositoryModule {
  readonly ensureDemoRepository: typeof ensureDemoRepository;
}

/** What `kubenode start --demo` calls, in the package. Resolves to its warning. */
async function ensureDemo(folder: string, pack: () => Promise<string>): Promise<string | undefined> {
  const module = await fromPackage<DemoRepositoryModule>('demo-repository');
  const options = { progress: { step: () => undefined }, npm: runNpm, packed: pack };
  return await module.ensureDemoRepository(folder, options);
}

async function runNpm(cwd: string, ...args: string[]): Promise<string> {
  return await Promise.resolve(npm(cwd, ...args));
}

async function fromPackage<T>(name: string): Promise<T> {
  const file = join(unpacked, 'dist/demo/template', `${name}.js`);
  return (await import(pathToFileURL(file).href)) as T;
}

function git(cwd: string, ...args: readonly string[]): string {
  return execFileSync('git', args, { cwd, encoding: 'utf8' });
}

/** What a program printed that failed. */
function failureOf(run: () => string): string {
  try {
    return `no failure: ${run()}`;
  } catch (error) {
    return (error as { readonly stdout: string }).stdout;
  }
}

function json(file: string): Record<string, unknown> {
  return JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
}

function kubenode(pack: string, cwd: string, ...args: string[]): string {
  const command = [join(pack, 'bin', 'kubenode.js'), ...args];
  return execFileSync(process.execPath, command, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
