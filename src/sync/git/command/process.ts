/** Runs the git command: no shell, no configuration but ours, no hooks, no questions, and always an end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { killProcessGroup } from '../../../os/process-group.ts';
import { GitError } from '../errors.ts';

export interface GitCommand {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Asked now and then while git runs; an error ends it. */
  readonly watch?: () => Promise<GitError | undefined>;
}

export interface GitOutput {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const MAX_OUTPUT = 64 * 1024 * 1024;
const WATCH_EVERY_MS = 250;

// On the command line, because nothing that lies in a repository can override it there.
const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.askPass=',
  'credential.helper=',
  'gc.auto=0',
  'maintenance.auto=false',
  'protocol.allow=never',
  'protocol.file.allow=always',
  'protocol.ssh.allow=always',
  'transfer.fsckObjects=true',
  'fetch.recurseSubmodules=false',
  // One pack, whose growth can be watched; loose objects cannot.
  'fetch.unpackLimit=1',
];

/** `gitdir` is absent for what needs no repository. */
export function gitArguments(gitdir: string | undefined, args: readonly string[]): string[] {
  const where = gitdir === undefined ? [] : [`--git-dir=${gitdir}`];
  return [...SETTINGS.flatMap((setting) => ['-c', setting]), ...where, ...args];
}

/** `home` is an empty folder of ours: no configuration, key or known host of a person is read. */
export function gitEnvironment(
  home: string,
  extra: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: home,
    XDG_CONFIG_HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '/bin/false',
    SSH_ASKPASS: '/bin/false',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    // Errors are told apart by git's own words: those of no other language.
    LC_ALL: 'C',
    LANGUAGE: 'C',
    ...extra,
  };
}

export function spawnGit(args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
  // A process group of its own, so that ssh and index-pack end with it.
  return spawn('git', [...args], { env, cwd: '/', stdio: ['pipe', 'pipe', 'pipe'], detached: true });
}

export function runGit(run: GitCommand): Promise<GitOutput> {
  return new Promise((resolve, reject) => {
    const child = spawnGit(run.args, run.env);
    const output = { stdout: '', stderr: '' };
    let ended: GitError | undefined;

    const end = (because: GitError): void => {
      ended ??= because;
      killProcessGroup(child);
    };
    const timer = setTimeout(() => end(timedOut(run.timeoutMs)), run.timeoutMs);
    const watching = setInterval(() => void watchOnce(), WATCH_EVERY_MS);
    const onAbort = (): void => end(new GitError('Aborted', 'the call was given up'));
    run.signal?.addEventListener('abort', onAbort, { once: true });
    if (run.signal?.aborted) onAbort();

    gather(child, output, () => end(new GitError('TooLarge', 'git printed more than we can hold')));
    child.on('error', (error) => settle(() => reject(missingTool(error))));
    child.on('close', (code) =>
      settle(() => (ended ? reject(ended) : resolve({ code: code ?? -1, ...output }))),
    );
    child.stdin?.end();

    async function watchOnce(): Promise<void> {
      const problem = await run.watch?.().catch(() => undefined);
      if (problem) end(problem);
    }

    function settle(then: () => void): void {
      clearTimeout(timer);
      clearInterval(watching);
      run.signal?.removeEventListener('abort', onAbort);
      then();
    }
  });
}

function gather(
  child: ChildProcess,
  output: { stdout: string; stderr: string },
  onTooMuch: () => void,
): void {
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      if (output[name].length + text.length > MAX_OUTPUT) onTooMuch();
      else output[name] += text;
    });
  }
}

function timedOut(timeoutMs: number): GitError {
  return new GitError('Timeout', `git was not done within ${timeoutMs / 1000} s`, {
    hint: 'sync tries again; if it stays, the server is too slow or the repository too large',
  });
}

export function missingTool(error: Error): GitError {
  return new GitError('MissingTool', 'the git command could not be started', {
    hint: 'install git (and ssh for ssh URLs) where kubenode runs; https URLs need neither',
    cause: error,
  });
}
