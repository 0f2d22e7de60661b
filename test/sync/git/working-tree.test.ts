import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openWorkingTree } from '../../../src/sync/git/working-tree.ts';
import { createTestRepository } from '../../support/git-server/repository.ts';
import { tempFolder } from '../../support/temp.ts';

describe('a working tree', () => {
  it('resolves revisions like git, from any of its folders', async () => {
    const repository = createTestRepository(tempFolder('tree'));
    const first = repository.commit('first', { 'deep/a': '1' });
    const second = repository.commit('second', { 'deep/a': '2' });
    repository.git('tag', '-a', 'v1', '-m', 'one');
    const tree = await openWorkingTree(join(repository.dir, 'deep'));
    expect(tree.root).toBe(repository.dir);
    expect(
      await Promise.all(
        ['HEAD', 'HEAD~1', 'main', 'v1', second.slice(0, 8)].map((revision) => tree.resolve(revision)),
      ),
    ).toEqual([second, first, second, second, second]);
    expect(await tree.changedPaths(first, second)).toMatchObject([{ path: 'deep/a', change: 'changed' }]);
  });

  it('reads commits, not the files of the working tree', async () => {
    const repository = createTestRepository(tempFolder('tree'));
    const commit = repository.commit('first', { a: 'committed' });
    writeFileSync(join(repository.dir, 'a'), 'changed since');
    const tree = await openWorkingTree(repository.dir);
    const [file] = await tree.files(commit);
    const [blob] = await tree.blobs([file?.oid ?? '']);
    expect(Buffer.from(blob ?? []).toString()).toBe('committed');
  });

  it('runs no program that the repository configures', async () => {
    const folder = tempFolder('tree');
    const repository = createTestRepository(folder);
    const commit = repository.commit('first', { a: '1' });
    const marker = join(folder, 'ran');
    const script = join(folder, 'hook');
    writeFileSync(script, `#!/bin/sh\ntouch '${marker}'\n`, { mode: 0o755 });
    repository.git('config', 'core.fsmonitor', script);
    repository.git('config', 'core.hooksPath', folder);
    repository.git('config', 'core.pager', script);
    const tree = await openWorkingTree(repository.dir);
    mkdirSync(join(folder, 'out'));
    await tree.exportTree(await tree.resolve('HEAD'), join(folder, 'out'));
    await expect(tree.commit(commit)).resolves.toMatchObject({ subject: 'first' });
    expect(() => writeFileSync(marker, '', { flag: 'wx' })).not.toThrow();
  });

  it.each([['no-such'], ['--help'], ['HEAD~99'], ['']])('refuses the revision %j', async (revision) => {
    const repository = createTestRepository(tempFolder('tree'));
    repository.commit('first', { a: '1' });
    const tree = await openWorkingTree(repository.dir);
    await expect(tree.resolve(revision)).rejects.toMatchObject({ code: 'NotFoundRef' });
  });

  it('refuses a folder outside of a repository', async () => {
    await expect(openWorkingTree(tempFolder('plain'))).rejects.toMatchObject({
      code: 'NotFoundRepository',
      hint: expect.stringContaining('git init') as string,
    });
  });

  it('tells that a folder does not exist, and not that it has no repository', async () => {
    const opening = openWorkingTree(join(tempFolder('none'), 'mistyped'));
    await expect(opening).rejects.toMatchObject({
      code: 'NotFoundRepository',
      message: expect.stringContaining('this folder does not exist') as string,
    });
  });
});
