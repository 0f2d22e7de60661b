/**
 * Runs git in the repository of the demo, without the hooks and signatures that a user requires everywhere: those are for commits of the
 * user.
 */
import { execFile } from 'node:child_process';
import { CliError, EXIT } from '../../cli/errors.ts';
import { systemCode } from '../../os/errors.ts';

const SETTINGS = ['-c', 'commit.gpgSign=false', '-c', 'core.hooksPath=/dev/null'] as const;

/** Runs git in the folder and resolves to what it printed. Rejects with what git printed about its failure. */
export async function demoGit(folder: string, ...args: readonly string[]): Promise<string> {
  return await new Promise((resolve, reject) => {
    execFile('git', ['-C', folder, ...SETTINGS, ...args], (error, stdout, stderr) => {
      if (!error) resolve(stdout.trim());
      else reject(gitError(error, { folder, args, printed: stderr.trim() || stdout.trim() }));
    });
  });
}

interface FailedGit {
  readonly folder: string;
  readonly args: readonly string[];
  readonly printed: string;
}

function gitError(cause: Error, { folder, args, printed }: FailedGit): CliError {
  const isMissing = systemCode(cause) === 'ENOENT';
  const hint = isMissing ? 'install git' : 'remove this cause';
  return new CliError(isMissing ? 'git is not installed' : `git ${args.join(' ')} failed: ${printed}`, {
    where: folder,
    hint: `${hint}, and run the command again`,
    exitCode: EXIT.unavailable,
    cause,
  });
}
