/** The conformance suite of GitTransport: runs against real servers, once for each scheme. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createBackend } from '../../../src/sync/git/backend.ts';
import type { GitErrorCode } from '../../../src/sync/git/errors.ts';
import type { GitOptions } from '../../../src/sync/git/options.ts';
import { createGitTransport } from '../../../src/sync/git/repository.ts';
import type { GitTransport } from '../../../src/sync/git/transport.ts';
import { createTestRepository, type TestRepository } from '../../support/git-server/repository.ts';
import { LONG } from '../../support/sweep-size.ts';
import { tempFolder } from '../../support/temp.ts';

/** A server for the repositories in a folder, and its faults. */
export interface TransportBed {
  readonly name: string;
  /** Folder that the server serves. */
  readonly root: string;
  optionsFor(repository: string): Omit<GitOptions, 'folder'>;
  readonly faults: readonly TransportFault[];
  readonly open: (options: GitOptions) => GitTransport;
  /** Every call needs a handshake: loops run a few samples only, and all of them in test:long. */
  readonly slow?: true;
}

export interface TransportFault {
  readonly name: string;
  /** Causes the fault; returns options to open the repository with. */
  arrange(repository: string): Partial<GitOptions>;
  heal(): void;
  readonly code: GitErrorCode;
  /** An equally correct code: which one depends on where exactly the stream was interrupted. */
  readonly orCode?: GitErrorCode;
  /** Only a transfer of objects fails; listing refs succeeds. */
  readonly onlyFetch?: true;
}

const MAIN = 'refs/heads/main';

/** Without a worker, which takes a moment to start. */
export function openLocalGit(options: GitOptions): GitTransport {
  return createGitTransport(createBackend(options));
}

export function describeTransport(createBed: () => TransportBed): void {
  let bed: TransportBed;
  beforeAll(() => {
    bed = createBed();
  });

  function open(options: Omit<GitOptions, 'folder'>): GitTransport {
    return openIn(join(tempFolder('git'), 'cache'), options);
  }

  function openIn(folder: string, options: Omit<GitOptions, 'folder'>): GitTransport {
    const git = bed.open({ folder, ...options });
    onTestFinished(() => git.close());
    return git;
  }

  function createRemote(): { repository: TestRepository; path: string; git: GitTransport } {
    const name = `fleet-${readdirSync(bed.root).length}`;
    const repository = createTestRepository(join(bed.root, name));
    const path = `${name}/fleet.git`;
    return { repository, path, git: open(bed.optionsFor(path)) };
  }

  it('lists the current refs of the server', async () => {
    const { repository, git } = createRemote();
    const first = repository.commit('first', { a: '1' });
    expect((await git.listRefs()).get(MAIN)).toBe(first);
    const second = repository.commit('second', { a: '2' });
    expect((await git.listRefs()).get(MAIN)).toBe(second);
  });

  it('fetches a commit and reads its fields and files', async () => {
    const { repository, git } = createRemote();
    repository.commit('base', { 'fleet/main.ts': 'x', 'README.md': 'y' });
    const commit = repository.commit('kubelet 1.31.4\n\nBecause of a fix.', {
      'fleet/main.ts': 'x2',
      'fleet/ümlaut datei.txt': 'z',
    });
    expect(await git.fetch('main')).toBe(commit);

    const info = await git.commit(commit);
    expect(info).toMatchObject({ author: 'Ann', subject: 'kubelet 1.31.4', body: 'Because of a fix.' });
    expect(info.parents).toEqual([repository.git('rev-parse', 'HEAD~1')]);
    expect(info.committedAt.toISOString()).toBe(
      new Date(repository.git('show', '-s', '--format=%cI', 'HEAD')).toISOString(),
    );

    const files = await git.files(commit);
    expect(files.map(({ path }) => path)).toEqual(['README.md', 'fleet/main.ts', 'fleet/ümlaut datei.txt']);
    const blobs = await git.blobs(files.map(({ oid }) => oid));
    expect(blobs.map((blob) => Buffer.from(blob).toString())).toEqual(['y', 'x2', 'z']);
  });

  it('resolves an annotated tag to its commit', async () => {
    const { repository, git } = createRemote();
    const commit = repository.commit('first', { a: '1' });
    repository.git('tag', '-a', 'v1', '-m', 'one');
    repository.push('origin', 'v1');
    expect(await git.fetch('refs/tags/v1')).toBe(commit);
  });

  it('recognizes which commit a revert reverts', async () => {
    const { repository, git } = createRemote();
    repository.commit('first', { a: '1' });
    const bad = repository.commit('bad', { a: '2' });
    repository.git('revert', '--no-edit', 'HEAD');
    repository.push('origin', 'HEAD');
    const head = await git.fetch('main');
    expect((await git.commit(head)).revertOf).toBe(bad);
  });

  it('lists the paths that changed between two commits', async () => {
    const { repository, git } = createRemote();
    const from = repository.commit('a', { 'a/x': '1', 'b/y': '2', c: '3', 'd/e/f': '4' });
    const to = repository.commit('b', { 'a/x': '1x', 'b/y': undefined, c: undefined, 'c/now/a/folder': '5' });
    await git.fetch('main');
    await git.deepen('main', 2);
    const changes = await git.changedPaths(from, to);
    expect(changes.map(({ path, change }) => `${change} ${path}`)).toEqual([
      'changed a/x',
      'removed b/y',
      'removed c',
      'added c/now/a/folder',
    ]);
    expect(await git.changedPaths(to, to)).toEqual([]);
  });

  it('follows a branch with further fetches and keeps its history', async () => {
    const { repository, git } = createRemote();
    const first = repository.commit('first', { a: '1' });
    await git.fetch('main');
    repository.commit('second', { a: '2' });
    const third = repository.commit('third', { a: '3' });
    expect(await git.fetch('main')).toBe(third);
    expect(await git.ancestry({ ancestor: first, head: third, ref: MAIN })).toBe('descends');
  });

  describe('S18 ancestry at a shallow boundary', () => {
    it('is correct at every depth, and never reports a fast-forward as a force-push', async () => {
      const { repository, path } = createRemote();
      const commits = repository.commitMany(24);
      const head = commits.at(-1) ?? '';
      const ancestors = LONG
        ? commits
        : (bed.slow ? [0, 22] : [0, 6, 7, 8, 21, 22, 23]).map((index) => commits[index] ?? '');
      for (const ancestor of ancestors) {
        const git = open(bed.optionsFor(path));
        await git.fetch('main');
        const verdict = await git.ancestry({ ancestor, head, ref: MAIN });
        expect([ancestor, verdict]).toEqual([ancestor, ancestor === head ? 'same' : 'descends']);
      }
    });

    it('recognizes a force-push, an older head and an unrelated history', async () => {
      const { repository, git } = createRemote();
      const base = repository.commit('base', { a: '1' });
      repository.commit('more', { a: '2' });
      const applied = repository.commit('applied', { a: '3' });
      expect(await git.fetch('main')).toBe(applied);

      repository.git('reset', '--hard', '--quiet', base);
      repository.push('--force', 'origin', 'HEAD');
      expect(await git.fetch('main')).toBe(base);
      expect(await git.ancestry({ ancestor: applied, head: base, ref: MAIN })).toMatch(/older|diverged/);

      const rewritten = repository.commit('rewritten', { a: '4' });
      expect(await git.fetch('main')).toBe(rewritten);
      expect(await git.ancestry({ ancestor: applied, head: rewritten, ref: MAIN })).toBe('diverged');

      repository.git('checkout', '--quiet', '--orphan', 'island');
      const island = repository.commit('island', { b: '1' });
      repository.push('--force', 'origin', 'HEAD:main');
      expect(await git.fetch('main')).toBe(island);
      expect(await git.ancestry({ ancestor: applied, head: island, ref: MAIN })).toBe('diverged');
    });

    it('reports an older head when both commits were fetched', async () => {
      const { repository, git } = createRemote();
      const base = repository.commit('base', { a: '1' });
      await git.fetch('main');
      const applied = repository.commit('applied', { a: '2' });
      await git.fetch('main');
      expect(await git.ancestry({ ancestor: applied, head: base, ref: MAIN })).toBe('older');
    });

    it('follows all parents of a merge', async () => {
      const { repository, git } = createRemote();
      repository.commit('base', { a: '1' });
      repository.git('checkout', '--quiet', '-b', 'side');
      const side = repository.commit('side', { b: '1' });
      repository.git('checkout', '--quiet', 'main');
      repository.commit('main', { a: '2' });
      repository.git('merge', '--quiet', '--no-edit', 'side');
      repository.push('origin', 'HEAD');
      const head = await git.fetch('main');
      expect(await git.ancestry({ ancestor: side, head, ref: MAIN })).toBe('descends');
    });

    it('accepts a branch that was deleted and recreated from the applied commit', async () => {
      const { repository, git } = createRemote();
      repository.commit('base', { a: '1' });
      const applied = repository.commit('applied', { a: '2' });
      await git.fetch('main');
      repository.push('origin', 'HEAD:refs/heads/elsewhere');
      repository.push('origin', '--delete', 'main');
      await expect(git.fetch('main')).rejects.toMatchObject({ code: 'NotFoundRef' });
      const again = repository.commit('again', { a: '3' });
      expect(await git.fetch('main')).toBe(again);
      expect(await git.ancestry({ ancestor: applied, head: again, ref: MAIN })).toBe('descends');
    });
  });

  it('fetches an old commit on demand, and reports when the server no longer has it', async () => {
    const { repository, git } = createRemote();
    const old = repository.commit('old', { a: 'old' });
    repository.commitMany(20);
    await git.fetch('main');
    expect(await git.has(old)).toBe(false);
    await git.ensure(old, MAIN);
    expect((await git.commit(old)).subject).toBe('old');
    const nowhere = '1234567890'.repeat(4);
    await expect(git.ensure(nowhere, MAIN)).rejects.toMatchObject({ code: 'NotFoundObject' });
  });

  it('exports regular files only, without symlinks and submodules', async () => {
    const { repository, git } = createRemote();
    repository.commit('base', { 'a/b.txt': 'hello', 'run.sh': '#!/bin/sh' });
    repository.git('update-index', '--add', '--cacheinfo', `160000,${'ab'.repeat(20)},module`);
    const link = repository.git('hash-object', '-w', join(repository.dir, 'a/b.txt'));
    repository.git('update-index', '--add', '--cacheinfo', `120000,${link},passwd`);
    repository.git('commit', '--quiet', '-m', 'link');
    repository.push('origin', 'HEAD');
    const commit = await git.fetch('main');

    const folder = tempFolder('export');
    const { files, skipped } = await git.exportTree(commit, folder);
    expect(files).toBe(2);
    expect(skipped.map(({ path, type }) => `${type} ${path}`)).toEqual([
      'submodule module',
      'symlink passwd',
    ]);
    expect(readFileSync(join(folder, 'a/b.txt'), 'utf8')).toBe('hello');
    expect(existsSync(join(folder, 'passwd'))).toBe(false);
  });

  it('refuses an export beyond its limits', async () => {
    const { repository, git } = createRemote();
    repository.commit('base', { a: 'x'.repeat(5000), b: 'y' });
    const commit = await git.fetch('main');
    const into = (limits: object): Promise<unknown> => git.exportTree(commit, tempFolder('export'), limits);
    await expect(into({ maxFiles: 1 })).rejects.toMatchObject({ code: 'TooLarge' });
    await expect(into({ maxBytes: 4000 })).rejects.toMatchObject({ code: 'TooLarge' });
    await expect(into({})).resolves.toMatchObject({ files: 2 });
  });

  it('refuses a commit with a file of zeros, and accepts the next one without it', async () => {
    const { repository, git } = createRemote();
    const good = repository.commit('good', { a: '1' });
    const zeros = gitWithInput(repository, Buffer.alloc(65 * 1024 * 1024), 'hash-object', '-w', '--stdin');
    repository.git('update-index', '--add', '--cacheinfo', `100644,${zeros},zeros`);
    repository.git('commit', '--quiet', '-m', 'zeros');
    repository.push('origin', 'HEAD');
    const refused = git.fetch('main').then((commit) => git.exportTree(commit, tempFolder('export')));
    await expect(refused).rejects.toMatchObject({ code: 'TooLarge', hint: expect.any(String) as string });

    repository.git('reset', '--quiet', '--hard', good);
    const next = repository.commit('next', { a: '2' });
    expect(await git.fetch('main')).toBe(next);
    expect(await git.ancestry({ ancestor: good, head: next, ref: MAIN })).toBe('descends');
    expect(await git.exportTree(next, tempFolder('export'))).toMatchObject({ files: 1 });
  });

  it('refuses a commit with a file called .git, and accepts the next one without it', async () => {
    const { repository, git } = createRemote();
    const good = repository.commit('good', { a: '1' });
    const entry = Buffer.concat([
      Buffer.from('100644 .git\0'),
      Buffer.from(repository.git('rev-parse', 'HEAD:a'), 'hex'),
    ]);
    const tree = gitWithInput(repository, entry, 'hash-object', '-w', '-t', 'tree', '--literally', '--stdin');
    repository.push(
      '--force',
      'origin',
      `${repository.git('commit-tree', '-m', 'evil', tree)}:refs/heads/main`,
    );
    const refused = git.fetch('main').then((commit) => git.exportTree(commit, tempFolder('export')));
    await expect(refused).rejects.toMatchObject({
      code: 'InvalidObject',
      hint: expect.any(String) as string,
    });

    repository.push('--force', 'origin', `${good}:refs/heads/main`);
    expect(await git.fetch('main')).toBe(good);
  });

  it('stops a fetch beyond its size limit, and succeeds with a larger limit', async () => {
    const { repository, path } = createRemote();
    const commit = repository.commit('large', { large: noise(80_000) });
    const folder = join(tempFolder('git'), 'cache');
    const small = bed.open({ folder, ...bed.optionsFor(path), limits: { maxBytes: 20_000 } });
    onTestFinished(() => small.close());
    await expect(small.fetch('main')).rejects.toMatchObject({ code: 'TooLarge' });
    const large = bed.open({ folder, ...bed.optionsFor(path) });
    onTestFinished(() => large.close());
    expect(await large.fetch('main')).toBe(commit);
    expect(await large.files(commit)).toHaveLength(1);
  });

  it('starts over when the local repository has too many packs, and keeps the history reachable', async () => {
    const { repository, path } = createRemote();
    const first = repository.commit('first', { a: '1' });
    const folder = join(tempFolder('git'), 'cache');
    const git = openIn(folder, bed.optionsFor(path));
    await git.fetch('main');
    const packs = join(folder, 'objects', 'pack');
    for (let n = 0; n < 64; n += 1) writeFileSync(join(packs, `pack-${'0'.repeat(38)}${n + 10}.pack`), '');
    const second = repository.commit('second', { a: '2' });
    expect(await git.fetch('main')).toBe(second);
    expect(readdirSync(packs).filter((name) => name.endsWith('.pack'))).toHaveLength(1);
    expect(await git.ancestry({ ancestor: first, head: second, ref: MAIN })).toBe('descends');
  });

  it('reports a missing branch, before and after it was deleted', async () => {
    const { repository, git } = createRemote();
    repository.commit('first', { a: '1' });
    await expect(git.fetch('no-such-branch')).rejects.toMatchObject({ code: 'NotFoundRef' });
    repository.push('origin', 'HEAD:refs/heads/short-lived');
    expect((await git.listRefs()).has('refs/heads/short-lived')).toBe(true);
    repository.push('origin', '--delete', 'short-lived');
    await expect(git.fetch('short-lived')).rejects.toMatchObject({ code: 'NotFoundRef' });
    expect(await git.fetch('main')).toBe(repository.head());
  });

  it('reports a missing repository', async () => {
    createRemote();
    const git = open(bed.optionsFor('nothing/here.git'));
    await expect(git.listRefs()).rejects.toMatchObject({ code: 'NotFoundRepository' });
    await expect(git.fetch('main')).rejects.toMatchObject({ code: 'NotFoundRepository' });
  });

  it('refuses ref names that git could parse as options or ranges', async () => {
    const { git } = createRemote();
    for (const ref of ['--upload-pack=touch /tmp/x', '-c', 'refs/heads/../../x', 'a b', 'x@{1}', '']) {
      await expect(async () => git.fetch(ref)).rejects.toMatchObject({ code: 'NotFoundRef' });
    }
  });

  it('stops when the signal is aborted', async () => {
    const { repository, git } = createRemote();
    repository.commit('first', { a: '1' });
    await expect(git.listRefs(AbortSignal.abort())).rejects.toMatchObject({ code: 'Aborted' });
    expect(await git.fetch('main')).toBe(repository.head());
  });

  it('serves concurrent callers', async () => {
    const { repository, git } = createRemote();
    const first = repository.commit('first', { a: '1' });
    const second = repository.commit('second', { a: '2' });
    const results = await Promise.all([
      git.fetch('main'),
      git.fetch('main'),
      git.ensure(first, MAIN),
      git.ancestry({ ancestor: first, head: second, ref: MAIN }).catch(() => 'early'),
      git.fetch('main').then((commit) => git.files(commit)),
    ]);
    expect(results.slice(0, 2)).toEqual([second, second]);
  });

  it.each<[what: string, damage: (folder: string) => void]>([
    [
      'lost its objects',
      (folder) => {
        rmSync(join(folder, 'objects'), { recursive: true });
        mkdirSync(join(folder, 'objects'));
      },
    ],
    [
      'lost its refs and its HEAD',
      (folder) => ['HEAD', 'refs'].forEach((name) => rmSync(join(folder, name), { recursive: true })),
    ],
    ['has an invalid HEAD', (folder) => writeFileSync(join(folder, 'HEAD'), 'invalid')],
    [
      'was only half created',
      (folder) =>
        readdirSync(folder).forEach(
          (name) => name === 'HEAD' || rmSync(join(folder, name), { recursive: true }),
        ),
    ],
  ])('recovers from a local repository that %s', async (_, damage) => {
    const { repository, path } = createRemote();
    repository.commit('first', { a: '1' });
    const folder = join(tempFolder('git'), 'cache');
    const git = openIn(folder, bed.optionsFor(path));
    await git.fetch('main');
    damage(folder);
    const second = repository.commit('second', { a: '2' });
    expect((await git.listRefs()).get(MAIN)).toBe(second);
    await git.fetch('main').catch(() => undefined);
    expect(await git.fetch('main')).toBe(second);
    expect(await git.files(second)).toHaveLength(1);
  });

  it('reports every fault with a code and a hint, and works once it is over', async () => {
    const { repository, path } = createRemote();
    repository.commit('first', { a: '1', b: noise(8_000) });
    for (const fault of bed.faults) {
      const folder = join(tempFolder('git'), 'cache');
      const git = openIn(folder, { ...bed.optionsFor(path), ...fault.arrange(path) });
      const failures = [await failureOf(() => git.fetch('main'))];
      if (!fault.onlyFetch) failures.push(await failureOf(() => git.listRefs()));
      fault.heal();
      for (const { code, hint, text } of failures) {
        expect([fault.name, code]).toEqual([fault.name, code === fault.orCode ? fault.orCode : fault.code]);
        expect([fault.name, hint]).not.toEqual([fault.name, undefined]);
        expect(text).not.toMatch(/s3cret|PRIVATE KEY/);
      }
      // In the same local repository: the leftovers of the fault do no harm.
      const healed = openIn(folder, bed.optionsFor(path));
      expect([fault.name, await healed.fetch('main')]).toEqual([fault.name, repository.head()]);
      expect([fault.name, (await healed.files(repository.head())).length]).toEqual([fault.name, 2]);
    }
  });
}

interface Failure {
  readonly code: string | undefined;
  readonly hint: string | undefined;
  readonly text: string;
}

async function failureOf(work: () => Promise<unknown>): Promise<Failure> {
  const error: unknown = await work().then(
    () => new Error('nothing failed'),
    (failure: unknown) => failure,
  );
  const { code, hint, message, where, cause } = error as Record<string, string | undefined>;
  return { code, hint, text: [message, where, hint, cause].join(' ') };
}

function gitWithInput({ dir }: TestRepository, input: Buffer, ...args: string[]): string {
  return execFileSync('git', args, { cwd: dir, input, encoding: 'utf8' }).trim();
}

/** Text that does not compress. */
function noise(length: number): string {
  return randomBytes(length).toString('latin1');
}
