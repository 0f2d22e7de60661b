/** The first steps of a user with only the package, outside of the checkout. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KUBENODE_VERSION } from '../../src/cli/commands/version.ts';
import { npm, npx, packedTarball, unpackBeside } from '../support/packed.ts';
import { tempFolder } from '../support/temp.ts';

const MINUTES = 60_000;

describe('a fleet repository from the package', { timeout: 10 * MINUTES }, () => {
  const home = tempFolder('user');
  const fleet = join(home, 'my-fleet');

  beforeAll(async () => {
    const tarball = await packedTarball();
    kubenode(unpackBeside(tarball, tempFolder('unpacked')), home, 'init', fleet);
    npm(fleet, 'ci');
  }, 20 * MINUTES);

  // Tens of thousands of files take longer than the default timeout of hooks.
  afterAll(() => rmSync(home, { recursive: true, force: true }), 10 * MINUTES);

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
    expect(npx(fleet, 'kubenode', 'render', '.')).toMatch(/prod +components +7/);
  });

  it('passes its own tests and synthesizes', () => {
    expect(npm(fleet, 'test')).toMatch(/pass 3/);
    npm(fleet, 'run', 'synth');
    expect(existsSync(join(fleet, 'rendered'))).toBe(true);
  });

  it('renders the commit with the toolchain of the package, whether npm installed it or not', () => {
    const git = (...args: string[]): string => execFileSync('git', args, { cwd: fleet, encoding: 'utf8' });
    git('add', '.');
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'The fleet');
    const commit = kubenode(installed, fleet, 'render', '--commit', 'HEAD');
    expect(commit).toMatch(/prod +components +7/);
    expect(kubenode(installed, fleet, 'render', '.')).toBe(commit);
    expect(git('status', '--porcelain')).toBe('');
  });
});

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
