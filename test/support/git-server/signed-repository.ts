/** A real repository whose commits are signed by git, and the verdict of sync on them. */
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createBackend } from '../../../src/sync/git/backend.ts';
import { createGitTransport } from '../../../src/sync/git/repository.ts';
import type { GitTransport, SignatureQuestion } from '../../../src/sync/git/transport.ts';
import { tempFolder } from '../temp.ts';
import { createTestRepository, type TestRepository } from './repository.ts';
import type { TestSigner } from './signer.ts';

type Files = Readonly<Record<string, string | undefined>>;

export interface SignedRepository {
  readonly repository: TestRepository;
  readonly git: GitTransport;
  /** Commits with the signature of a person, or without one. */
  readonly commit: (signer: TestSigner | undefined, message: string, files?: Files) => string;
  /** Merges a branch into the one that is checked out. */
  readonly merge: (signer: TestSigner | undefined, branch: string, ...options: string[]) => string;
  /** Returns "ok N", or the subject and the reason of each problem. */
  readonly verify: (before: string | undefined, question?: Partial<SignatureQuestion>) => Promise<string[]>;
}

export const KEYS = 'keys/signers';
/** After the times of all test commits. */
export const NOW = new Date('2031-01-01T00:00:00Z');

export function createSignedRepository(): SignedRepository {
  const folder = tempFolder('signed');
  const repository = createTestRepository(folder);
  const cache = { repository: `file://${repository.bare}`, folder: join(folder, 'cache') };
  const git = createGitTransport(createBackend(cache));
  onTestFinished(() => git.close());
  return { repository, git, commit, merge, verify };

  function commit(signer: TestSigner | undefined, message: string, files: Files = {}): string {
    repository.commit(message, files);
    return signed(signer, 'commit', '--quiet', '--amend', '--allow-empty', '--no-edit');
  }

  function merge(signer: TestSigner | undefined, branch: string, ...options: string[]): string {
    repository.git('merge', '--quiet', '--no-ff', '-m', `merge ${branch}`, ...options, branch);
    return signed(signer, 'commit', '--quiet', '--amend', '--no-edit');
  }

  function signed(signer: TestSigner | undefined, ...args: string[]): string {
    repository.git(...(signer?.flags ?? []), ...args, ...(signer ? ['-S'] : []));
    repository.push('--force', 'origin', 'HEAD');
    return repository.head();
  }

  async function verify(
    before: string | undefined,
    question: Partial<SignatureQuestion> = {},
  ): Promise<string[]> {
    const ref = 'refs/heads/main';
    const head = await git.fetch(ref);
    const signers = [{ name: 'people', keysPath: KEYS, paths: [] }];
    const asked = { mode: 'Range', head, ref, signers, now: NOW, ...question } as const;
    const report = await git.signatures(before === undefined ? asked : { ...asked, before });
    if (report.refused === 0) return [`ok ${report.commits}`];
    return report.problems.map(({ subject, because }) => `${subject}: ${because}`);
  }
}
