/** A real repository on disk, made by the real git. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface TestRepository {
  /** The working tree. What clients fetch from is `bare`. */
  readonly dir: string;
  readonly bare: string;
  git(...args: string[]): string;
  /** Writes, removes (undefined) and commits; pushes to the bare repository. */
  commit(message: string, files?: Readonly<Record<string, string | undefined>>): string;
  push(...args: string[]): void;
  head(): string;
}

// Nothing of the machine's own configuration, and no clock of ours in what is asserted.
const ENV = {
  PATH: process.env['PATH'] ?? '/usr/bin:/bin',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Ann',
  GIT_AUTHOR_EMAIL: 'ann@example.com',
  GIT_COMMITTER_NAME: 'Bob',
  GIT_COMMITTER_EMAIL: 'bob@example.com',
};

export function createTestRepository(folder: string, name = 'fleet'): TestRepository {
  const dir = join(folder, 'work');
  const bare = join(folder, `${name}.git`);
  mkdirSync(dir, { recursive: true });
  let time = 1_900_000_000;

  git('init', '--quiet', '--initial-branch=main');
  run(folder, 'init', '--quiet', '--bare', '--initial-branch=main', bare);
  run(bare, 'config', 'http.receivepack', 'true');
  run(bare, 'config', 'receive.denyDeleteCurrent', 'ignore');
  git('remote', 'add', 'origin', bare);
  return { dir, bare, git, commit, push, head: () => git('rev-parse', 'HEAD') };

  function run(cwd: string, ...args: string[]): string {
    time += 1;
    const env = { ...ENV, GIT_AUTHOR_DATE: `${time} +0000`, GIT_COMMITTER_DATE: `${time} +0000` };
    return execFileSync('git', args, {
      cwd,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  }

  function git(...args: string[]): string {
    return run(dir, ...args);
  }

  function commit(message: string, files: Readonly<Record<string, string | undefined>> = {}): string {
    for (const [path, content] of Object.entries(files)) write(join(dir, path), content);
    git('add', '--all');
    git('commit', '--quiet', '--allow-empty', '-m', message);
    push('--force', 'origin', 'HEAD');
    return git('rev-parse', 'HEAD');
  }

  function push(...args: string[]): void {
    git('push', '--quiet', ...args);
  }
}

function write(path: string, content: string | undefined): void {
  if (content === undefined) rmSync(path, { recursive: true });
  else {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
}
