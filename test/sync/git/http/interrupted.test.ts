import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startGitHttpServer } from '../../../support/git-server/http-server.ts';
import { createTestRepository } from '../../../support/git-server/repository.ts';
import { tempFolder } from '../../../support/temp.ts';
import { openLocalGit } from '../conformance.ts';

/** Files are written in place, so a process that is killed leaves a part of one. */
it.each<[what: string, interrupt: (gitdir: string) => void]>([
  ['an empty config', (gitdir) => writeFileSync(join(gitdir, 'config'), '')],
  ['half a config', (gitdir) => halve(join(gitdir, 'config'))],
  ['no HEAD', (gitdir) => rmSync(join(gitdir, 'HEAD'), { force: true })],
  ['half a pack', (gitdir) => halve(packFile(gitdir, '.pack'))],
  ['a pack without its index', (gitdir) => rmSync(packFile(gitdir, '.idx'))],
  ['half an index', (gitdir) => halve(packFile(gitdir, '.idx'))],
  ['an empty index', (gitdir) => writeFileSync(packFile(gitdir, '.idx'), '')],
  ['half a ref', (gitdir) => halve(join(gitdir, 'refs/heads/main'))],
  ['an empty ref', (gitdir) => writeFileSync(join(gitdir, 'refs/heads/main'), '')],
  ['half a list of shallow commits', (gitdir) => halve(join(gitdir, 'shallow'))],
])('fetches into a repository in which a killed process left %s', async (_, interrupt) => {
  const root = tempFolder('http-root');
  const repository = createTestRepository(join(root, 'fleet'));
  repository.commit('first', { a: '1' });
  const before = repository.commit('second', { a: '2' });
  const server = await startGitHttpServer({ root });
  onTestFinished(() => server.close());
  const gitdir = join(tempFolder('git'), 'cache');
  const options = { repository: `${server.url}/fleet/fleet.git`, folder: gitdir };
  expect(await openLocalGit(options).fetch('main')).toBe(before);
  interrupt(gitdir);
  const after = repository.commit('third', { a: '3' });
  const git = openLocalGit(options);
  expect(await git.fetch('main')).toBe(after);
  expect((await git.files(after)).length).toBe(1);
  expect(await git.ancestry({ ancestor: before, head: after, ref: 'main' })).toBe('descends');
});

function halve(file: string): void {
  const content = readFileSync(file);
  writeFileSync(file, content.subarray(0, content.length / 2));
}

function packFile(gitdir: string, suffix: string): string {
  const packs = join(gitdir, 'objects/pack');
  return join(packs, readdirSync(packs).find((name) => name.endsWith(suffix)) ?? '');
}
