/** Programs of Python that tests use, each in an environment of its own, installed once for each machine. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheFolder } from '../../src/local/folders.ts';
import { withLock } from '../../src/os/lock.ts';
import { run } from './node-kit/shell.ts';

export interface PythonTool {
  /** The package and its version, as pip installs it. */
  readonly name: string;
  readonly version: string;
  /** Optional parts of the package. */
  readonly extras?: readonly string[];
}

/** From an empty cache of pip and with one free core. */
const INSTALL_MS = 15 * 60_000;

/** Why this machine has no such program; undefined if it has it, or can install it. */
export function noPythonToolReason(tool: PythonTool): string | undefined {
  return isInstalled(tool) || hasVenv()
    ? undefined
    : `${tool.name} needs Python: apt-get install python3-venv`;
}

/** Returns the folder of the programs of the environment. */
export async function pythonTool(tool: PythonTool): Promise<string> {
  const target = folderOf(tool);
  await withLock(target, {}, async () => {
    if (isInstalled(tool)) return;
    process.stderr.write(`installing ${tool.name} ${tool.version} with pip: ${target}\n`);
    // An environment contains its own path: it is complete only with the mark.
    rmSync(target, { recursive: true, force: true });
    mkdirSync(dirname(target), { recursive: true });
    await run('python3', ['-m', 'venv', target], INSTALL_MS);
    const extras = tool.extras ? `[${tool.extras.join(',')}]` : '';
    const requirement = `${tool.name}${extras}==${tool.version}`;
    const quiet = ['--quiet', '--disable-pip-version-check'];
    await run(join(target, 'bin', 'pip'), ['install', ...quiet, requirement], INSTALL_MS);
    const mark = join(target, 'installed');
    writeFileSync(`${mark}.new`, tool.version);
    renameSync(`${mark}.new`, mark);
  });
  return join(target, 'bin');
}

function folderOf({ name, version }: PythonTool): string {
  return join(cacheFolder(process.env), name, version);
}

function isInstalled(tool: PythonTool): boolean {
  return existsSync(join(folderOf(tool), 'installed'));
}

function hasVenv(): boolean {
  return spawnSync('python3', ['-c', 'import ensurepip, venv']).status === 0;
}
