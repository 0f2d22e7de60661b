/** Commits one changed file of the local fleet repository, with the git, the hooks and the key of its user, and pushes it if asked to. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { shortCommit } from '../../views/text/age.ts';
import { CliError } from '../errors.ts';
import type { FileText } from './edit.ts';
import type { LocalRepository } from './repository.ts';

export interface CommitText {
  readonly subject: string;
  readonly reason: string;
  /** Whether it is signed also where the configuration of git asks for no signature. */
  readonly sign?: boolean;
}

/** Returns the commit. After an error the file is as it was. */
export async function writeAndCommit(
  { root, git }: LocalRepository,
  { path, text }: FileText,
  { subject, reason, sign = false }: CommitText,
): Promise<string> {
  await writeFile(join(root, path), text);
  try {
    await git('commit', '--quiet', ...(sign ? ['-S'] : []), '-m', subject, '-m', reason, '--', path);
  } catch (error) {
    await git('checkout', '--quiet', 'HEAD', '--', path);
    const signing = sign ? 'check gpg.format and user.signingkey of git, and ' : '';
    throw new CliError('nothing was committed: git refused the commit', {
      where: root,
      hint: `${signing}see what git printed: ${stderrOf(error)}`,
      cause: error,
    });
  }
  return git('rev-parse', 'HEAD');
}

/** Pushes as the user's git is configured. To push again what is there changes nothing. */
export async function push({ root, branch, git }: LocalRepository): Promise<void> {
  try {
    await git('push', '--quiet');
  } catch (error) {
    const head = await git('rev-parse', 'HEAD');
    throw new CliError(`git did not push ${branch}: ${shortCommit(head)} is committed here only`, {
      where: root,
      hint: `see what git printed, then run git push: ${stderrOf(error)}`,
      cause: error,
    });
  }
}

function stderrOf(error: unknown): string {
  const { stderr } = (error ?? {}) as { readonly stderr?: unknown };
  return typeof stderr === 'string' ? stderr.trim().slice(0, 500) : String(error);
}
