/** `npm start` and `npm test` of a fresh clone: what installs the packages, with an npm that only notes how it was called. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { tempFolder } from '../support/temp.ts';

const SCRIPT = join(import.meta.dirname, '../../scripts/install.js');
const LOCKED = {
  '': { version: '1.0.0' },
  'node_modules/ajv': { version: '8.20.0', integrity: 'sha512-ajv' },
  'node_modules/other-platform': { version: '1.0.0', optional: true },
};
const INSTALLED = { 'node_modules/ajv': { version: '8.20.0', integrity: 'sha512-ajv' } };
const FAILS = 'exit 7';

describe('scripts/install.js', () => {
  let root: string;

  beforeEach(() => {
    root = tempFolder('clone');
    mkdirSync(join(root, 'scripts'));
    copyFileSync(SCRIPT, join(root, 'scripts/install.js'));
    writeJson('package-lock.json', { packages: LOCKED });
  });

  it.each<[what: string, installed: object]>([
    ['everything is installed', INSTALLED],
    [
      'a package of another platform is installed, too',
      { ...INSTALLED, 'node_modules/other-platform': { version: '1.0.0', integrity: 'sha512-any' } },
    ],
  ])('does and prints nothing when %s', (_what, installed) => {
    install(installed);
    expect(run()).toEqual({ status: 0, output: '', calls: '' });
  });

  it.each<[what: string, installed: object | undefined, reason: string]>([
    ['there is no node_modules', undefined, 'node_modules is missing or incomplete'],
    ['a package is missing', {}, 'node_modules/ajv is not as in package-lock.json'],
    [
      'a package has another version',
      { 'node_modules/ajv': { version: '8.0.0' } },
      'node_modules/ajv is not as in package-lock.json',
    ],
    [
      'a package of the same version has another content',
      { 'node_modules/ajv': { version: '8.20.0', integrity: 'sha512-other' } },
      'node_modules/ajv is not as in package-lock.json',
    ],
    [
      'a package was removed from the lock file',
      { ...INSTALLED, 'node_modules/old': { version: '1.0.0' } },
      'node_modules/old is not in package-lock.json',
    ],
  ])('runs npm ci and tells why when %s', (_what, installed, reason) => {
    if (installed) install(installed);
    expect(run()).toEqual({
      status: 0,
      output: `${reason}: running npm ci, which takes about 20 seconds\n`,
      calls: 'ci --no-audit --no-fund\n',
    });
  });

  it('runs npm ci when the record of npm is half written, or the program of the package node is missing', () => {
    install(INSTALLED);
    writeFileSync(join(root, 'node_modules/.package-lock.json'), '{"packa');
    expect(run().calls).toBe('ci --no-audit --no-fund\n');
    writeJson('node_modules/.package-lock.json', { packages: INSTALLED });
    execFileSync('rm', [join(root, 'node_modules/.bin/node')]);
    expect(run().calls).toBe('ci --no-audit --no-fund\nci --no-audit --no-fund\n');
  });

  it('fails as npm does, and with a hint when npm may run no install scripts', () => {
    expect(run(FAILS)).toMatchObject({ status: 7 });
    const { status, output } = run('exit 0');
    expect(status).toBe(1);
    expect(output).toContain('the npm package "node" did not install its program');
    expect(output).toContain('hint: allow install scripts');
  });

  it('fails with a hint without npm', () => {
    const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts/install.js')], {
      encoding: 'utf8',
      env: { PATH: tempFolder('empty') },
    });
    expect(status).toBe(1);
    expect(stderr).toContain(`hint: run npm ci in ${root}`);
  });

  /** What npm leaves. */
  function install(packages: object): void {
    mkdirSync(join(root, 'node_modules/.bin'), { recursive: true });
    writeFileSync(join(root, 'node_modules/.bin/node'), '');
    writeJson('node_modules/.package-lock.json', { packages });
  }

  function run(outcome = `mkdir -p node_modules/.bin; touch node_modules/.bin/node`): {
    readonly status: number | null;
    readonly output: string;
    readonly calls: string;
  } {
    const folder = tempFolder('npm');
    const npm = join(folder, 'npm');
    writeFileSync(npm, `#!/bin/sh\necho "$@" >> ${root}/calls\n${outcome}\n`);
    chmodSync(npm, 0o755);
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'scripts/install.js')], {
      encoding: 'utf8',
      cwd: dirname(root),
      env: { PATH: `${folder}:/usr/bin:/bin` },
    });
    const calls = existsSync(join(root, 'calls')) ? readFileSync(join(root, 'calls'), 'utf8') : '';
    return { status, output: `${stdout}${stderr}`, calls };
  }

  function writeJson(name: string, value: object): void {
    writeFileSync(join(root, name), JSON.stringify(value));
  }
});
