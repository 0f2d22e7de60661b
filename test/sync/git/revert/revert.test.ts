/** S35: reverts in memory of commits of a real repository, compared with what git does. */

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createBackend } from '../../../../src/sync/git/backend.ts';
import { packOf } from '../../../../src/sync/git/push/pack.ts';
import { createGitTransport } from '../../../../src/sync/git/repository.ts';
import { makeRevert } from '../../../../src/sync/git/revert/revert.ts';
import type { ObjectReader, RevertQuestion, RevertResult } from '../../../../src/sync/git/transport.ts';
import { createTestRepository, type TestRepository } from '../../../support/git-server/repository.ts';
import { createSshSigner } from '../../../support/git-server/signer.ts';
import { tempFolder } from '../../../support/temp.ts';

const AT = new Date('2031-01-01T00:00:00Z');
const TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
const MESSAGE = 'Revert\n\nThis reverts commit.\n';

interface Fixture {
  readonly repository: TestRepository;
  /** `from`, `to` and `onto` default to the first, the last and the last commit. */
  readonly revert: (question?: Partial<RevertQuestion>) => Promise<RevertResult>;
}

async function fixture(...steps: readonly Readonly<Record<string, string | undefined>>[]): Promise<Fixture> {
  const folder = tempFolder('revert');
  const repository = createTestRepository(folder);
  const commits = steps.map((files, index) => repository.commit(`c${index}`, files));
  const options = { repository: `file://${repository.bare}`, folder: join(folder, 'cache') };
  const git = createGitTransport(createBackend(options));
  onTestFinished(() => git.close());
  return {
    repository,
    async revert(question = {}) {
      const ref = 'refs/heads/main';
      await git.fetch(ref);
      const [from = '', onto = repository.head()] = [commits[0]];
      return await git.revert({ from, to: onto, onto, ref, message: MESSAGE, at: AT, ...question });
    },
  };
}

function oid(index: number): string {
  return index.toString(16).padStart(40, '0');
}

/** Returns 25 files with the same content. */
function filesOf(content: string): Record<string, string> {
  return Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`f${index + 10}`, content]));
}

/** Reads commits in memory, each of which has the one before as its parent. */
function lineOf(length: number, missing: readonly number[]): ObjectReader {
  const person = 'a <a@b.c>';
  return {
    async read(asked) {
      const index = Number.parseInt(asked, 16);
      if (index >= length || missing.includes(index)) return undefined;
      const parent = index === 0 ? '' : `parent ${oid(index - 1)}\n`;
      const time = `${index + 1_000_000} +0000`;
      const content = `tree ${TREE}\n${parent}author ${person} ${time}\ncommitter ${person} ${time}\n\nc\n`;
      return { type: 'commit', content: Buffer.from(content) };
    },
    close: async () => undefined,
  };
}

function reverted(result: RevertResult): Extract<RevertResult, { type: 'Revert' }> {
  if (result.type !== 'Revert') throw new Error(`expected a revert, got ${JSON.stringify(result)}`);
  return result;
}

/** Lets git read the objects, and returns what git prints. */
function inGit(
  { repository }: Fixture,
  { objects }: { readonly objects: Parameters<typeof packOf>[0] },
): (...args: string[]) => string {
  execFileSync('git', ['unpack-objects', '-q'], { cwd: repository.dir, input: packOf(objects) });
  return (...args) => repository.git(...args);
}

function signed(f: Fixture, more: Partial<RevertQuestion>): Promise<RevertResult> {
  const signers = [{ name: 'all', keysPath: 'keys', paths: [] }];
  return f.revert({ signatures: { mode: 'Range', ref: 'refs/heads/main', signers, now: AT }, ...more });
}

describe('revert', () => {
  it('S35 takes back all commits of the range with the tree that git revert makes, as one commit', async () => {
    const f = await fixture(
      { a: '1', 'dir/b': '1', keep: '1' },
      { a: '2', 'dir/new': '1' },
      { 'dir/b': undefined, a: '3' },
      { later: '1' },
    );
    const to = f.repository.git('rev-parse', 'HEAD~1');
    const made = reverted(await f.revert({ to }));
    const git = inGit(f, made);
    expect(git('rev-parse', `${made.commit}^`)).toBe(f.repository.head());
    expect(git('log', '-1', '--format=%an <%ae> %cn %ad', '--date=iso-strict', made.commit)).toBe(
      'kubenode-sync <sync@kubenode.dev> kubenode-sync 2031-01-01T00:00:00+00:00',
    );
    expect(git('log', '-1', '--format=%B', made.commit)).toBe(MESSAGE.trim());
    git('fsck', '--strict', '--no-dangling');
    git('revert', '--no-edit', `HEAD~3..${to}`);
    expect(git('rev-parse', `${made.commit}^{tree}`)).toBe(git('rev-parse', 'HEAD^{tree}'));
  });

  it('S35 makes the same commit each time, so that a push can be repeated', async () => {
    const f = await fixture({ a: '1' }, { a: '2' });
    const [one, two] = [reverted(await f.revert()), reverted(await f.revert())];
    expect(one.commit).toBe(two.commit);
    expect(reverted(await f.revert({ at: new Date(0) })).commit).not.toBe(one.commit);
  });

  it('S35 makes an empty tree if nothing was there before', async () => {
    const f = await fixture({}, { a: '1' });
    const made = reverted(await f.revert());
    expect(inGit(f, made)('ls-tree', made.commit)).toBe('');
  });

  it('S35 takes back a merge with all that it brought', async () => {
    const f = await fixture({ a: '1' });
    const { repository } = f;
    const first = repository.head();
    repository.git('checkout', '--quiet', '-b', 'side');
    repository.commit('side', { side: '1' });
    repository.git('checkout', '--quiet', 'main');
    repository.commit('main', { a: '2' });
    repository.git('merge', '--quiet', '--no-edit', 'side');
    repository.git('push', '--quiet', 'origin', 'main');
    const made = reverted(await f.revert());
    expect(inGit(f, made)('diff', first, made.commit)).toBe('');
  });

  it('S35 finds the range in a long history that is fetched shallow', async () => {
    const f = await fixture({ a: '1' });
    const first = f.repository.head();
    f.repository.commitMany(40);
    const made = reverted(await f.revert());
    expect(inGit(f, made)('diff', first, made.commit)).toBe('');
  });

  it('S35 makes no commit of files that a later commit changed, too', async () => {
    const f = await fixture({ a: '1', b: '1' }, { a: '2', b: '2' }, { a: '3' });
    expect(await f.revert({ to: f.repository.git('rev-parse', 'HEAD~1') })).toEqual({
      type: 'Conflict',
      paths: ['a'],
    });
  });

  it('S35 makes no commit if a person has taken it back already', async () => {
    const f = await fixture({ a: '1' }, { a: '2' }, { a: '1' });
    expect(await f.revert({ to: f.repository.git('rev-parse', 'HEAD~1') })).toEqual({ type: 'Nothing' });
  });

  it('S35 takes back no range that has a revert of sync in it, also below a merge', async () => {
    const f = await fixture({ a: '1' }, { a: '2' });
    const own = f.repository.commit('Revert\n\nThis reverts it.\n\nKubenode-Revert: 1..2\n', { a: '1' });
    const found = { type: 'OwnRevert', commit: own };
    expect(await f.revert()).toEqual(found);
    f.repository.commit('next', { b: '1' });
    expect(await f.revert()).toEqual(found);
    expect(reverted(await f.revert({ from: own })).type).toBe('Revert');
  });

  it('S35 makes no commit of commits that are not one history', async () => {
    const f = await fixture({ a: '1' }, { a: '2' });
    const [last, first] = f.repository.git('rev-list', 'HEAD').split('\n');
    f.repository.git('checkout', '--quiet', '-b', 'other', first ?? '');
    const other = f.repository.commit('other', { o: '1' });
    f.repository.git('push', '--quiet', '--force', 'origin', 'HEAD:main');
    expect(await f.revert({ from: first ?? '', to: last ?? '', onto: other })).toEqual({
      type: 'Unrelated',
      ancestor: last,
      head: other,
    });
  });

  it('S35 makes no commit of a range that does not begin in its own history', async () => {
    const f = await fixture({ a: '1' }, { a: '2' });
    const [head = '', first = ''] = f.repository.git('rev-list', 'HEAD').split('\n');
    f.repository.git('checkout', '--quiet', '-b', 'other', first);
    const other = f.repository.git('commit-tree', '-m', 'other', '-p', first, `${first}^{tree}`);
    expect(await f.revert({ from: other, to: head, onto: head })).toEqual({
      type: 'Unrelated',
      ancestor: other,
      head,
    });
  });

  it('S35 names the first 20 files of a conflict', async () => {
    const f = await fixture(filesOf('1'), filesOf('2'), filesOf('3'));
    const result = await f.revert({ to: f.repository.git('rev-parse', 'HEAD~1') });
    expect(result).toEqual({ type: 'Conflict', paths: Object.keys(filesOf('')).slice(0, 20) });
  });

  it.each([
    [
      'a range that is too long to be read',
      10_002,
      [],
      { type: 'Unrelated', ancestor: oid(0), head: oid(10_001) },
    ],
    ['a head whose history was not fetched', 4, [2], 'unknown'],
  ])('S35 makes no commit of %s', async (_, length, missing, expected) => {
    const to = missing.length > 0 ? 1 : length - 1;
    const question = { from: oid(0), to: oid(to), onto: oid(length - 1), ref: 'r', message: MESSAGE, at: AT };
    expect(
      await makeRevert(lineOf(length, missing), question, { canFetchMore: true, signal: undefined }),
    ).toEqual(expected);
  });

  describe('with signers', () => {
    const sync = createSshSigner('sync');
    const signingKey = readFileSync(sync.keyFile, 'utf8');
    it('S19 signs with the key so that git and sync accept the commit', async () => {
      const f = await fixture({ a: '1', keys: sync.entry }, { a: '2' });
      const made = reverted(await signed(f, { signingKey }));
      expect(made.unaccepted).toBeUndefined();
      const git = inGit(f, made);
      git('config', 'gpg.ssh.allowedSignersFile', join(f.repository.dir, 'keys'));
      expect(git('log', '-1', '--format=%G?', made.commit)).toBe('G');
    });

    it.each([
      ['no key', {}, 'it is not signed'],
      [
        'a key that no signer file lists',
        { signingKey: readFileSync(createSshSigner('eve').keyFile, 'utf8') },
        'is in no signer file',
      ],
      ['a key that is not usable', { signingKey: 'x' }, 'the signing key is not usable'],
    ])('S19 reports why sync would refuse a commit with %s', async (_, more, because) => {
      const f = await fixture({ a: '1', keys: sync.entry }, { a: '2' });
      expect(reverted(await signed(f, more)).unaccepted).toContain(because);
    });

    it('S19 reports a key that is not usable where no signature is required, too', async () => {
      const f = await fixture({ a: '1' }, { a: '2' });
      expect(reverted(await f.revert({ signingKey: 'x' })).unaccepted).toContain('not usable');
      expect(reverted(await f.revert()).unaccepted).toBeUndefined();
    });
  });
});
