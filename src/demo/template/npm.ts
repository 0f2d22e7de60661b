/** Runs npm, and turns its failures into errors with the line that explains them. */
import { type ExecFileException, execFile } from 'node:child_process';
import { CliError, EXIT } from '../../cli/errors.ts';
import type { Io } from '../../cli/io.ts';

/** Runs npm in a folder, and returns its stdout. */
export type RunNpm = (cwd: string, ...args: string[]) => Promise<string>;

/** Set by an npm that started kubenode: about its command and folder, not about ours. */
const OF_THE_CALLER =
  /^npm_(command|lifecycle_.*|package_.*|config_(local_prefix|prefix|global_prefix|package|call|yes))$/i;

export function createNpm({ env, signal }: Pick<Io, 'env' | 'signal'>): RunNpm {
  const own = Object.entries(env).filter(([name]) => !OF_THE_CALLER.test(name));
  const options = {
    env: Object.fromEntries(own),
    signal,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  } as const;
  return async (cwd, ...args) =>
    await new Promise((resolve, reject) => {
      execFile('npm', args, { ...options, cwd }, (error, stdout, stderr) => {
        if (error) reject(npmError(args, error, stderr));
        else resolve(stdout);
      });
    });
}

function npmError(args: readonly string[], error: ExecFileException, stderr: string): CliError {
  if (error.code === 'ENOENT') {
    return new CliError('npm is not installed: the new repository contains this kubenode, which npm packs', {
      hint: 'install npm, or pass --kubenode SPEC with a version or a tarball that your npm finds',
      exitCode: EXIT.unavailable,
    });
  }
  return new CliError(`npm ${args[0] ?? ''} failed: ${explanation(stderr) ?? error.message}`, {
    cause: error,
  });
}

/** npm prints its code, the reason, and then advice and the name of a log. */
function explanation(stderr: string): string | undefined {
  const lines = [...stderr.matchAll(/^npm (?:error|ERR!) (?<text>.+)$/gm)].map(
    ({ groups }) => groups?.['text'],
  );
  return lines.find((line) => line !== undefined && !/^(code|errno|syscall|path) /.test(line));
}
