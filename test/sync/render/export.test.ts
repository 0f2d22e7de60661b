import { describe, expect, it } from 'vitest';
import { GitError } from '../../../src/sync/git/errors.ts';
import type { GitRepository } from '../../../src/sync/git/transport.ts';
import { exportCommit } from '../../../src/sync/render/export.ts';
import { failureOf } from './results.ts';

const FOLDER = '/tmp/kubenode-render/a';

function exportWith(failure: Error): Promise<unknown> {
  const git: Pick<GitRepository, 'exportTree'> = {
    exportTree: async () => {
      throw failure;
    },
  };
  return exportCommit(git as GitRepository, 'c'.repeat(40), FOLDER);
}

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code, path: `${FOLDER}/clusters/test/a.yaml` });
}

describe('exportCommit', () => {
  it.each(['TooLarge', 'InvalidObject'] as const)('reports %s as an error of the commit', async (code) => {
    const error = await failureOf(exportWith(new GitError(code, 'a blob of 6 GiB', { hint: 'remove it' })));
    expect(error).toMatchObject({
      name: 'RenderError',
      code: 'NotExported',
      message: 'a blob of 6 GiB',
      hint: 'remove it',
    });
  });

  it.each(['EEXIST', 'ENAMETOOLONG'])('names the file that cannot be written because of %s', async (code) => {
    const error = await failureOf(exportWith(systemError(code)));
    expect(error).toMatchObject({ name: 'RenderError', code: 'NotExported', where: 'clusters/test/a.yaml' });
    expect(error.message).toContain(code);
  });

  it.each([new GitError('Unreachable', 'refused'), systemError('ENOSPC'), new Error('unknown')])(
    'leaves an error that may be over: %s',
    async (failure) => {
      await expect(exportWith(failure)).rejects.toBe(failure);
    },
  );
});
