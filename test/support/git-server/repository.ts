/** A real repository on disk, created with git. */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

export interface TestRepository {
  /** The working tree. What clients fetch from is `bare`. */
  readonly dir: string;
  readonly bare: string;
  git(...args: string[]): string;
  /** Writes the files, removes those that are undefined, commits, and pushes to the bare repository. */
  commit(message: string, files?: Readonly<Record<string, string | undefined>>): string;
  /** Adds commits in one step and pushes them. Returns them, oldest first. */
  commitMany(count: number): string[];
  push(...args: string[]): void;
  /** Writes a commit object as it is given, moves main to it, and pushes it. */
  pushCommitObject(content: string): string;
  head(): string;
}

// No configuration of the machine, no hooks from its template, and fixed authors.
const ENV = {
  PATH: process.env['PATH'] ?? '/usr/bin:/bin',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: join(import.meta.dirname, 'gitconfig'),
  GIT_TEMPLATE_DIR: '',
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
  appendFileSync(join(bare, 'config'), SERVED);
  appendFileSync(join(dir, '.git/config'), remoteAt(bare));
  return { dir, bare, git, commit, commitMany, push, pushCommitObject, head: () => git('rev-parse', 'HEAD') };

  function run(cwd: string, ...args: string[]): string {
    return runWithInput('', cwd, ...args);
  }

  function runWithInput(input: string, cwd: string, ...args: string[]): string {
    time += 1;
    const env = { ...ENV, GIT_AUTHOR_DATE: `${time} +0000`, GIT_COMMITTER_DATE: `${time} +0000` };
    return execFileSync('git', args, { cwd, env, input, encoding: 'utf8', stdio: 'pipe' }).trim();
  }

  function git(...args: string[]): string {
    return run(dir, ...args);
  }

  function commit(message: string, files: Readonly<Record<string, string | undefined>> = {}): string {
    for (const [path, content] of Object.entries(files)) write(join(dir, path), content);
    git('add', '--all');
    git('commit', '--quiet', '--allow-empty', '-m', message);
    return publish();
  }

  /** Does what `push --force origin HEAD` does, which takes five processes and more than the commit. Returns the commit. */
  function publish(): string {
    const own = join(dir, '.git');
    const ref = readFileSync(join(own, 'HEAD'), 'utf8').replace('ref: ', '').trim();
    const line = readFileSync(join(own, ref), 'utf8');
    linkMissing(join(own, 'objects'), join(bare, 'objects'));
    const tracking = join(own, ref.replace('refs/heads', 'refs/remotes/origin'));
    for (const path of [join(bare, ref), tracking]) write(path, line);
    return line.trim();
  }

  function commitMany(count: number): string[] {
    const isEmpty = git('for-each-ref', 'refs/heads/main') === '';
    const commits = Array.from({ length: count }, (_, index) => {
      time += 1;
      const message = `c${index}`;
      const parent = index === 0 && !isEmpty ? 'from refs/heads/main^0\n' : '';
      return `commit refs/heads/main
committer Bob <bob@example.com> ${time} +0000
data ${message.length}
${message}
${parent}M 100644 inline n
data ${message.length}
${message}
`;
    });
    runWithInput(commits.join(''), dir, 'fast-import', '--quiet');
    git('reset', '--quiet', '--hard');
    push('--force', 'origin', 'HEAD');
    return git('rev-list', '--reverse', `--max-count=${count}`, 'HEAD').split('\n');
  }

  function pushCommitObject(content: string): string {
    const oid = runWithInput(content, dir, 'hash-object', '-t', 'commit', '-w', '--stdin', '--literally');
    git('reset', '--quiet', '--hard', oid);
    push('--force', 'origin', 'HEAD');
    return oid;
  }

  function push(...args: string[]): void {
    git('push', '--quiet', ...args);
  }
}

const SERVED = '[http]\n\treceivepack = true\n[receive]\n\tdenyDeleteCurrent = ignore\n';

function remoteAt(bare: string): string {
  return `[remote "origin"]\n\turl = ${bare}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n`;
}

/** Links the objects and packs that only the first folder has into the second one. */
function linkMissing(from: string, to: string): void {
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const linked = `${to}${path.slice(from.length)}`;
    if (existsSync(linked)) continue;
    mkdirSync(dirname(linked), { recursive: true });
    linkSync(path, linked);
  }
}

function write(path: string, content: string | undefined): void {
  if (content === undefined) rmSync(path, { recursive: true });
  else {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
}
