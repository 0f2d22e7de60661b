import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Pipeline } from '../../../src/api/generated/types.ts';
import { isSameRepository, openLocalRepository } from '../../../src/cli/commit/repository.ts';
import { createTestRepository, type TestRepository } from '../../support/git-server/repository.ts';
import { tempFolder } from '../../support/temp.ts';
import { testIo } from '../../support/test-io.ts';

const IO = testIo({ env: process.env });

function created(): TestRepository {
  const repository = createTestRepository(tempFolder('fleet'));
  repository.commit('first', { 'a.txt': 'a' });
  return repository;
}

function pipelineOf(repository: string, head?: string): Pipeline {
  const status = head === undefined ? {} : { status: { head: { commit: head } } };
  return { metadata: { name: 'fleet' }, spec: { source: { repository } }, ...status } as never;
}

async function refusal(
  { dir, bare }: TestRepository,
  pipeline = pipelineOf(`file://${bare}`),
): Promise<string> {
  return openLocalRepository(IO, dir, pipeline).then(
    () => 'opened',
    (error: unknown) => String(error),
  );
}

describe('openLocalRepository', () => {
  it('opens a clean branch of the repository, by its remote or by its folder', async () => {
    const repository = created();
    const opened = await openLocalRepository(
      IO,
      repository.dir,
      pipelineOf(repository.bare, repository.head()),
    );
    expect([opened.root, opened.branch]).toEqual([repository.dir, 'main']);
    expect(await refusal(repository, pipelineOf(`file://${repository.dir}`))).toBe('opened');
  });

  it('opens it from a folder below', async () => {
    const { dir, bare } = created();
    mkdirSync(join(dir, 'fleet'));
    expect((await openLocalRepository(IO, join(dir, 'fleet'), pipelineOf(bare))).root).toBe(dir);
  });

  it('refuses changes that are not committed, and names them', async () => {
    const repository = created();
    writeFileSync(join(repository.dir, 'b.txt'), 'b');
    expect(await refusal(repository)).toContain('the working tree has changes: ?? b.txt');
  });

  it('refuses a detached HEAD', async () => {
    const repository = created();
    repository.git('checkout', '--quiet', '--detach');
    expect(await refusal(repository)).toContain('no branch is checked out (detached HEAD)');
  });

  it('refuses another repository, and names both', async () => {
    const repository = created();
    expect(await refusal(repository, pipelineOf('https://git.example.com/fleet'))).toContain(
      `expected https://git.example.com/fleet, found ${repository.bare}`,
    );
  });

  it('refuses a branch without the head of the Pipeline', async () => {
    const repository = created();
    const behind = pipelineOf(repository.bare, 'a'.repeat(40));
    expect(await refusal(repository, behind)).toContain(`HEAD does not contain ${'a'.repeat(40)}`);
  });

  it('refuses a folder that is not in a repository', async () => {
    const outside = { ...created(), dir: tempFolder('outside') };
    expect(await refusal(outside)).toContain('this folder is not in a git repository');
  });
});

describe('isSameRepository', () => {
  it.each([
    ['https://git.example.com/fleet', 'https://git.example.com/fleet.git', true],
    ['https://git.example.com/fleet', 'https://ann@git.example.com/fleet', true],
    ['https://git.example.com/a/fleet', 'git@git.example.com:a/fleet.git', true],
    ['https://git.example.com/a/fleet', 'ssh://git@git.example.com:22/a/fleet', true],
    ['https://git.example.com/a/fleet', 'git@git.example.org:a/fleet.git', false],
    ['git@git.example.com:fleet.git', 'git@git.example.com:fleet', true],
    ['https://git.example.com/fleet', 'https://git.example.com/fleet-2', false],
    ['file:///srv/fleet', '/srv/fleet/.git', true],
    ['https://git.example.com/fleet', 'C:\\fleet', false],
  ])('compares %s with %s', (repository, other, expected) => {
    expect(isSameRepository(repository, [other])).toBe(expected);
  });
});
