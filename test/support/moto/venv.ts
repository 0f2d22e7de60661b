/** The moto server, an emulator of EC2, in a Python environment of its own, installed once for each machine. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheFolder } from '../../../src/local/folders.ts';
import { withLock } from '../../../src/os/lock.ts';
import { run } from '../node-kit/shell.ts';

const VERSION = '5.2.5';
/** From an empty cache of pip and with one free core. */
const INSTALL_MS = 15 * 60_000;

/** Why this machine has no moto; undefined if it has it, or can install it. */
export const noMotoReason: string | undefined =
  isInstalled() || hasVenv()
    ? undefined
    : 'EC2 is emulated by moto, which needs Python: apt-get install python3-venv';

function folder(): string {
  return join(cacheFolder(process.env), 'moto', VERSION);
}

function isInstalled(): boolean {
  return existsSync(join(folder(), 'installed'));
}

function hasVenv(): boolean {
  return spawnSync('python3', ['-c', 'import ensurepip, venv']).status === 0;
}

/** Path of the server. */
export async function motoServer(): Promise<string> {
  const target = folder();
  await withLock(target, {}, async () => {
    if (isInstalled()) return;
    process.stderr.write(`installing moto ${VERSION} with pip: ${target}\n`);
    // An environment contains its own path: it is complete only with the mark.
    rmSync(target, { recursive: true, force: true });
    mkdirSync(dirname(target), { recursive: true });
    await run('python3', ['-m', 'venv', target], INSTALL_MS);
    const packages = [`moto[server,ec2]==${VERSION}`];
    await run(
      join(target, 'bin', 'pip'),
      ['install', '--quiet', '--disable-pip-version-check', ...packages],
      INSTALL_MS,
    );
    const mark = join(target, 'installed');
    writeFileSync(`${mark}.new`, VERSION);
    renameSync(`${mark}.new`, mark);
  });
  return join(target, 'bin', 'moto_server');
}
