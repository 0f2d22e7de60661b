/** What a user does first, with nothing but the package: outside the checkout, by the package's own command. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { npm, packedTarball } from '../../support/packed.ts';
import { tempFolder } from '../../support/temp.ts';

const MINUTES = 60_000;

describe('a fleet repository from the package', { timeout: 10 * MINUTES }, () => {
  const home = tempFolder('user');
  const first = join(home, 'tools');
  const fleet = join(home, 'my-fleet');
  let tarball: string;

  beforeAll(() => {
    tarball = packedTarball();
    npm(home, 'install', '--prefix', first, tarball);
    kubenode(home, 'init', fleet, '--kubenode', `file:${tarball}`);
    npm(fleet, 'install');
  }, 20 * MINUTES);

  function kubenode(cwd: string, ...args: string[]): string {
    const bin = join(first, 'node_modules', '.bin', 'kubenode');
    return execFileSync(bin, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  }

  it('passes its own test, and synthesises', () => {
    expect(npm(fleet, 'test')).toMatch(/pass 3/);
    npm(fleet, 'run', 'synth');
    expect(existsSync(join(fleet, 'rendered'))).toBe(true);
  });

  it('renders the commit with the toolchain of the package, installed or not', () => {
    const git = (...args: string[]): string => execFileSync('git', args, { cwd: fleet, encoding: 'utf8' });
    git('add', '.');
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'The fleet');
    const commit = kubenode(fleet, 'render', '--commit', 'HEAD');
    expect(commit).toMatch(/prod +components +6/);
    expect(kubenode(fleet, 'render', '.')).toBe(commit);
    expect(git('status', '--porcelain')).toBe('');
  });

  it('installs again from its lock file', () => {
    npm(fleet, 'ci');
    const lock = JSON.parse(readFileSync(join(fleet, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { version?: string }>;
    };
    expect(lock.packages['node_modules/kubenode']?.version).toEqual(expect.any(String));
  });
});
