/** Runs the git command without a shell, foreign configuration, hooks or prompts, and always within a time limit. */
import { type ChildProcess, spawn } from 'node:child_process';
import { killProcessGroup } from '../../../os/process/child.ts';
import { endWithParent } from '../../../os/worker/child-prefix.ts';
import { GitError } from '../errors.ts';

export interface GitCommand {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Called periodically while git runs; an error ends git. */
  readonly check?: () => Promise<GitError | undefined>;
}

export interface GitOutput {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const MAX_OUTPUT = 64 * 1024 * 1024;
const CHECK_EVERY_MS = 250;

// On the command line, because the configuration of a repository cannot override it there.
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
  // Always one pack: its size can be checked while it grows, that of loose objects cannot.
  'fetch.unpackLimit=1',
  // Larger files are streamed: git would hold them in memory.
  'core.bigFileThreshold=16m',
  'pack.threads=1',
];

/** `gitdir` is absent for commands without a repository. */
export function gitArguments(gitdir: string | undefined, args: readonly string[]): string[] {
  const where = gitdir === undefined ? [] : [`--git-dir=${gitdir}`];
  return [...SETTINGS.flatMap((setting) => ['-c', setting]), ...where, ...args];
}

/** `home` is an empty folder: git and ssh read no configuration, key or known hosts of the user. */
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
    // Errors are recognized by git's English messages.
    LC_ALL: 'C',
    LANGUAGE: 'C',
    ...extra,
  };
}

const STDERR = 2;

/**
 * It ends with this process, and until then it holds our stderr open as well: when that is closed, no git is left that writes
 * to a repository.
 */
export function spawnGit(args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
  const [program, ...rest] = [...endWithParent(), 'git', ...args] as [string, ...string[]];
  // In its own process group, so that ssh and index-pack are killed with it.
  return spawn(program, rest, { env, cwd: '/', stdio: ['pipe', 'pipe', 'pipe', STDERR], detached: true });
}

export function runGit(run: GitCommand): Promise<GitOutput> {
  return new Promise((resolve, reject) => {
    const child = spawnGit(run.args, run.env);
    const output = { stdout: '', stderr: '' };
    let ended: GitError | undefined;

    const end = (reason: GitError): void => {
      ended ??= reason;
      killProcessGroup(child);
    };
    const timer = setTimeout(() => end(timedOut(run.timeoutMs)), run.timeoutMs);
    const checking = setInterval(() => void check(), CHECK_EVERY_MS);
    const onAbort = (): void => end(new GitError('Aborted', 'the call was canceled'));
    run.signal?.addEventListener('abort', onAbort, { once: true });
    if (run.signal?.aborted) onAbort();

    collectOutput(child, output, () =>
      end(new GitError('TooLarge', `git printed more than ${MAX_OUTPUT} characters`)),
    );
    child.on('error', (error) => settle(() => reject(missingTool(error))));
    child.on('close', (code) =>
      settle(() => {
        const error = ended ?? notStarted(output.stderr);
        if (error) reject(error);
        else resolve({ code: code ?? -1, ...output });
      }),
    );
    child.stdin?.end();

    async function check(): Promise<void> {
      const error = await run.check?.().catch(() => undefined);
      if (error) end(error);
    }

    function settle(then: () => void): void {
      clearTimeout(timer);
      clearInterval(checking);
      run.signal?.removeEventListener('abort', onAbort);
      then();
    }
  });
}

function collectOutput(
  child: ChildProcess,
  output: { stdout: string; stderr: string },
  onTooLarge: () => void,
): void {
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      if (output[name].length + text.length > MAX_OUTPUT) onTooLarge();
      else output[name] += text;
    });
  }
}

function timedOut(timeoutMs: number): GitError {
  return new GitError('Timeout', `git did not finish within ${timeoutMs / 1000} s`, {
    hint: 'sync retries. If this persists, the server is too slow or the repository too large',
  });
}

/** With a command in front of it, git is started by that command. */
function notStarted(stderr: string): GitError | undefined {
  return /^setpriv: failed to execute git/m.test(stderr) ? missingTool(new Error(stderr.trim())) : undefined;
}

export function missingTool(error: Error): GitError {
  return new GitError('MissingTool', 'the git command could not be started', {
    hint: 'install git, and ssh for ssh URLs, where kubenode runs; https URLs need neither',
    cause: error,
  });
}
