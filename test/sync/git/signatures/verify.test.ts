/** Real commits, signed by git with ssh-keygen and gpg. */
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import type { TestRepository } from '../../../support/git-server/repository.ts';
import { createSignedRepository, KEYS, NOW } from '../../../support/git-server/signed-repository.ts';
import { createGpg, createSshSigner } from '../../../support/git-server/signer.ts';
import { LONG } from '../../../support/sweep-size.ts';
import { tempFolder } from '../../../support/temp.ts';

const [ann, bob] = [createSshSigner('ann'), createSshSigner('bob')];
const BOTH = ann.entry + bob.entry;
const SETS = [
  { name: 'platform', keysPath: 'keys/platform', paths: [] },
  { name: 'writers', keysPath: 'keys/writers', paths: ['docs', 'README.md'] },
];
const TWO_FILES = { 'keys/platform': ann.entry, 'keys/writers': bob.entry, 'fleet/main.ts': '1' };

describe('the signatures of a range', () => {
  it('S19 accepts signed commits and signed merges, by any of the signers', async () => {
    const { repository, commit, merge, verify } = createSignedRepository();
    const base = commit(undefined, 'base', { [KEYS]: BOTH });
    commit(ann, 'one', { a: '1' });
    repository.git('checkout', '--quiet', '-b', 'side', base);
    commit(bob, 'two', { b: '1' });
    repository.git('checkout', '--quiet', 'main');
    merge(ann, 'side');
    expect(await verify(base)).toEqual(['ok 3']);
  });

  it('S19 refuses an unsigned commit below a signed merge, which only the head would not show', async () => {
    const { repository, commit, merge, verify } = createSignedRepository();
    const base = commit(undefined, 'base', { [KEYS]: BOTH });
    repository.git('checkout', '--quiet', '-b', 'side');
    commit(undefined, 'smuggled', { b: '1' });
    repository.git('checkout', '--quiet', 'main');
    merge(ann, 'side');
    expect(await verify(base)).toEqual(['smuggled: it is not signed']);
    expect(await verify(base, { mode: 'Head' })).toEqual(['ok 1']);
  });

  it('S19 judges by the signers before the range, so that a new key does not count in the push that adds it', async () => {
    const { commit, verify } = createSignedRepository();
    const base = commit(ann, 'base', { [KEYS]: ann.entry });
    const added = commit(ann, 'add bob', { [KEYS]: BOTH });
    commit(bob, 'by bob', { a: '1' });
    expect(await verify(base)).toEqual([
      expect.stringMatching(/^by bob: SSH key SHA256:\S+ is in no signer file before these commits$/),
    ]);
    expect(await verify(added)).toEqual(['ok 1']);
  });

  it('S19 refuses a push that removes the signer whom it needs, and accepts the removal on its own', async () => {
    const { commit, verify } = createSignedRepository();
    const base = commit(undefined, 'base', { [KEYS]: BOTH });
    const byBob = commit(bob, 'by bob', { a: '1' });
    commit(ann, 'remove bob', { [KEYS]: ann.entry });
    expect(await verify(base)).toEqual([
      'by bob: the key of bob@example.com is removed from keys/signers together with it: push the removal on its own, after this commit was accepted',
    ]);
    expect(await verify(byBob)).toEqual(['ok 1']);
  });

  it('S19 refuses a head that leaves a file of signers missing, empty, or broken', async () => {
    const { commit, verify } = createSignedRepository();
    const base = commit(undefined, 'base', { [KEYS]: BOTH, other: '1' });
    commit(ann, 'removed', { [KEYS]: undefined });
    expect(await verify(base)).toEqual([
      'removed: it has no signer file keys/signers of the signers people: restore it, or remove the signers from spec.source.signers first',
    ]);
    commit(ann, 'emptied', { [KEYS]: '# empty\n' });
    expect(await verify(base)).toEqual([
      'emptied: signer file keys/signers of the signers people: it lists no key',
    ]);
    commit(ann, 'broken', { [KEYS]: `${BOTH}bob ssh-ed25519\n` });
    expect(await verify(base)).toEqual([
      'broken: signer file keys/signers of the signers people: line 3 is not of the form PRINCIPALS [OPTIONS] TYPE KEY',
    ]);
  });

  it('S19 refuses a signature that was made over another commit', async () => {
    const { repository, commit, verify } = createSignedRepository();
    const base = commit(undefined, 'base', { [KEYS]: BOTH });
    const genuine = commit(ann, 'genuine', { a: '1' });
    const raw = repository.git('cat-file', 'commit', genuine);
    repository.pushCommitObject(`${raw.replace('\n\ngenuine', '\n\nforged')}\n`);
    expect(await verify(base)).toEqual([
      'forged: its signature is over other content: the commit was changed after it was signed',
    ]);
  });

  it('S19 verifies only the head of a first commit, by its own signers', async () => {
    const { commit, verify } = createSignedRepository();
    commit(undefined, 'old times', { a: '1' });
    commit(ann, 'start', { [KEYS]: ann.entry });
    expect(await verify(undefined)).toEqual(['ok 1']);
    commit(bob, 'by bob', { a: '2' });
    expect(await verify(undefined)).toEqual([expect.stringContaining('is in no signer file') as string]);
  });

  it('S19 verifies nothing again of the accepted commit itself', async () => {
    const { commit, verify } = createSignedRepository();
    const base = commit(undefined, 'base', { [KEYS]: BOTH });
    expect(await verify(base)).toEqual(['ok 0']);
  });

  it('S19 fetches more of the history when the first fetch was shallow', async () => {
    const { repository, commit, git, verify } = createSignedRepository();
    const base = commit(undefined, 'base', { [KEYS]: BOTH });
    await git.fetch('refs/heads/main');
    repository.commitMany(40);
    expect(await verify(base)).toHaveLength(10);
    commit(ann, 'last');
    expect((await verify(base)).join()).toContain('it is not signed');
  });
});

it('S19 does not take the history below an old branch for new commits, when the accepted commit was fetched shallowly', async () => {
  const { repository, commit, merge, git, verify } = createSignedRepository();
  const old = commit(undefined, 'from before signatures', { [KEYS]: BOTH });
  repository.commitMany(3);
  const base = commit(ann, 'base', { a: '1' });
  await git.fetch('refs/heads/main');
  repository.git('checkout', '--quiet', '-b', 'side', old);
  commit(bob, 'on the side', { b: '1' });
  repository.git('checkout', '--quiet', 'main');
  merge(ann, 'side');
  expect(await verify(base)).toEqual(['ok 2']);
});

it('S19 agrees with git verify-commit about each of many commits', async () => {
  const { repository, commit, verify } = createSignedRepository();
  const listed = join(tempFolder('listed'), 'signers');
  writeFileSync(listed, BOTH);
  const eve = createSshSigner('eve');
  let before = commit(undefined, 'base', { [KEYS]: BOTH });
  const differences: string[] = [];
  for (let index = 0; index < (LONG ? 200 : 8); index += 1) {
    const head = commit([ann, bob, eve, undefined][index % 4], `c${index}`, { a: String(index) });
    const [verdict = ''] = await verify(before);
    const isGood = isVerifiedByGit(repository, listed, head);
    if (isGood !== (verdict === 'ok 1')) differences.push(`${head} ${isGood} ${verdict}`);
    before = head;
  }
  expect(differences).toEqual([]);
});

function isVerifiedByGit(repository: TestRepository, listed: string, commit: string): boolean {
  try {
    repository.git('-c', `gpg.ssh.allowedSignersFile=${listed}`, 'verify-commit', commit);
    return true;
  } catch {
    return false;
  }
}

describe('the paths of signers', () => {
  it('S19 lets a signer change his paths only, whatever else he signs', async () => {
    const { commit, verify } = createSignedRepository();
    const base = commit(undefined, 'base', TWO_FILES);
    const docs = commit(bob, 'docs', { 'docs/a.md': '1', 'README.md': '1' });
    expect(await verify(base, { signers: SETS })).toEqual(['ok 1']);
    commit(bob, 'more', { 'docs/a.md': '2', 'docs2/a.md': '1', 'fleet/main.ts': '2', 'keys/writers': BOTH });
    expect(await verify(docs, { signers: SETS })).toEqual([
      'more: its signer may not change docs2/a.md, fleet/main.ts, keys/writers',
    ]);
  });

  it('S19 lets him merge what others signed, and not choose the other side', async () => {
    const { repository, commit, merge, verify } = createSignedRepository();
    const base = commit(undefined, 'base', { ...TWO_FILES, 'docs/a.md': '1' });
    repository.git('checkout', '--quiet', '-b', 'docs');
    commit(bob, 'docs', { 'docs/a.md': '2' });
    repository.git('checkout', '--quiet', 'main');
    commit(ann, 'version', { 'fleet/main.ts': '2', 'fleet/new.ts': '1' });
    repository.git('checkout', '--quiet', 'docs');
    merge(bob, 'main');
    repository.git('push', '--quiet', '--force', 'origin', 'HEAD:main');
    expect(await verify(base, { signers: SETS })).toEqual(['ok 3']);

    repository.git('reset', '--quiet', '--hard', 'HEAD^');
    merge(bob, 'main', '--strategy=ours');
    repository.git('push', '--quiet', '--force', 'origin', 'HEAD:main');
    expect(await verify(base, { signers: SETS })).toEqual([
      'merge main: its signer may not change fleet/main.ts, fleet/new.ts',
    ]);
  });

  it.each<readonly [what: string, parents: readonly string[]]>([
    ['of an older commit into the head', ['main', 'main~1']],
    ['of the head into an older commit', ['main~1', 'main']],
    ['of three commits', ['main', 'main~1', 'main~2']],
    ['of the head with itself', ['main', 'main']],
    ['with a history of its own', ['main', 'other']],
  ])('S19 refuses a merge %s by which he takes a version back', async (_, parents) => {
    const { repository, commit, verify } = createSignedRepository();
    commit(undefined, 'base', { ...TWO_FILES, 'docs/a.md': '1' });
    commit(ann, 'version', { 'fleet/main.ts': '2' });
    const base = commit(ann, 'newer', { 'fleet/main.ts': '3' });
    const old = repository.git('rev-parse', 'main~1^{tree}');
    repository.git('branch', 'other', repository.git(...bob.flags, 'commit-tree', '-S', old, '-m', 'other'));
    const of = parents.flatMap((each) => ['-p', repository.git('rev-parse', each)]);
    repository.git(
      'reset',
      '--quiet',
      '--hard',
      repository.git(...bob.flags, 'commit-tree', '-S', old, ...of, '-m', 'merge'),
    );
    repository.push('--force', 'origin', 'HEAD');
    expect(await verify(base, { signers: SETS })).toContain('merge: its signer may not change fleet/main.ts');
  });

  it('S19 refuses a merge of three commits by which he drops what one of them brings', async () => {
    const { repository, commit, verify } = createSignedRepository();
    const base = commit(undefined, 'base', { ...TWO_FILES, 'docs/a.md': '1' });
    const version = commit(ann, 'version', { 'fleet/main.ts': '2' });
    repository.git('reset', '--quiet', '--hard', base);
    const docs = commit(bob, 'docs', { 'docs/a.md': '2' });
    const tree = repository.git('rev-parse', `${docs}^{tree}`);
    const parents = [base, docs, version].flatMap((each) => ['-p', each]);
    const merged = repository.git(...bob.flags, 'commit-tree', '-S', tree, ...parents, '-m', 'merge');
    repository.git('reset', '--quiet', '--hard', merged);
    repository.push('--force', 'origin', 'HEAD');
    expect(await verify(base, { signers: SETS })).toEqual(['merge: its signer may not change fleet/main.ts']);
  });

  it.each<readonly [what: string, change: (repository: TestRepository) => void, denied: string]>([
    [
      'the mode of a file',
      (repository) => void repository.git('update-index', '--chmod=+x', 'fleet/main.ts'),
      'fleet/main.ts',
    ],
    [
      'a file into a link',
      (repository) => {
        rmSync(join(repository.dir, 'fleet/main.ts'));
        symlinkSync('../docs/a.md', join(repository.dir, 'fleet/main.ts'));
        repository.git('add', '--all');
      },
      'fleet/main.ts',
    ],
    [
      'a folder into a link',
      (repository) => {
        rmSync(join(repository.dir, 'fleet'), { recursive: true });
        symlinkSync('docs', join(repository.dir, 'fleet'));
        repository.git('add', '--all');
      },
      'fleet, fleet/main.ts',
    ],
    [
      'a folder into a submodule',
      (repository) => {
        repository.git('rm', '--quiet', '-r', 'fleet');
        repository.git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},fleet`);
      },
      'fleet, fleet/main.ts',
    ],
    [
      'the place of a file, into his folder',
      (repository) => void repository.git('mv', 'fleet/main.ts', 'docs/main.ts'),
      'fleet/main.ts',
    ],
  ])('S19 lets him not change %s', async (_, change, denied) => {
    const { repository, commit, verify } = createSignedRepository();
    const base = commit(undefined, 'base', { ...TWO_FILES, 'docs/a.md': '1' });
    change(repository);
    repository.git(...bob.flags, 'commit', '--quiet', '-S', '-m', 'change');
    repository.push('--force', 'origin', 'HEAD');
    expect(await verify(base, { signers: SETS })).toEqual([`change: its signer may not change ${denied}`]);
  });

  it('S19 follows no link to a file of signers, which others may change', async () => {
    const { repository, commit, verify } = createSignedRepository();
    const base = commit(undefined, 'base', { ...TWO_FILES, 'docs/a.md': bob.entry });
    rmSync(join(repository.dir, 'keys/platform'));
    symlinkSync('../docs/a.md', join(repository.dir, 'keys/platform'));
    commit(ann, 'link');
    expect(await verify(base, { signers: SETS })).toEqual([
      expect.stringMatching(/^link: it has no signer file keys\/platform of the signers platform/),
    ]);
  });

  it('S19 asks in mode Head for the paths of everything since the accepted commit', async () => {
    const { commit, verify } = createSignedRepository();
    const base = commit(undefined, 'base', TWO_FILES);
    commit(undefined, 'unsigned', { 'fleet/main.ts': '2' });
    commit(bob, 'docs', { 'docs/a.md': '1' });
    expect(await verify(base, { signers: SETS, mode: 'Head' })).toEqual([
      'docs: its signer may not change fleet/main.ts',
    ]);
  });
});

/** Types of OpenPGP signatures (RFC 9580, 5.2.1) that are not over a document. */
const [STANDALONE, CERTIFICATION] = [0x02, 0x10];

/** Replaces the type of the OpenPGP signature in a commit, whose key and time stay as they are. */
function withSignatureType(raw: string, type: number): string {
  return raw.replace(/(?<=PGP SIGNATURE-----\n \n)[^-]+(?=\n -----END)/, (body) => {
    const packet = Buffer.from(body.replace(/\n =.*$/, ''), 'base64');
    const version = packet.indexOf(4, 2);
    packet[version + 1] = type;
    return ` ${packet.toString('base64')}`;
  });
}

describe('keys', () => {
  it.each(['ed25519', 'rsa -b 3072', 'ecdsa -b 256', 'ecdsa -b 384', 'ecdsa -b 521'])(
    'S19 accepts a commit signed with a key of type %s',
    async (type) => {
      const { commit, verify } = createSignedRepository();
      const signer = createSshSigner('carl', type);
      const base = commit(undefined, 'base', { [KEYS]: signer.entry });
      commit(signer, 'one', { a: '1' });
      expect(await verify(base)).toEqual(['ok 1']);
    },
  );

  it('S19 refuses a weak RSA key, which git itself accepts', async () => {
    const { commit, verify } = createSignedRepository();
    const weak = createSshSigner('weak', 'rsa -b 1024');
    const base = commit(undefined, 'base', { [KEYS]: weak.entry });
    commit(weak, 'one', { a: '1' });
    expect(await verify(base)).toEqual([
      'one: its RSA key has 1024 bits, expected 2048 to 16384: use ssh-ed25519',
    ]);
  });

  it('S19 refuses a key that has expired now, also where the commit is dated back', async () => {
    const { commit, verify } = createSignedRepository();
    const limited = ann.entry.replace(' ', ' valid-before="20300601" ');
    const base = commit(undefined, 'base', { [KEYS]: limited });
    commit(ann, 'one', { a: '1' });
    expect(await verify(base, { now: new Date('2030-05-31T00:00:00Z') })).toEqual(['ok 1']);
    expect(await verify(base)).toEqual([
      expect.stringMatching(
        /^one: its key is not valid now: the key of ann@example.com is valid until 2030-06-01T00:00:00.000Z only$/,
      ),
    ]);
  });

  it('S19 refuses a key that is not valid yet, at the time of the commit or now', async () => {
    const { commit, verify } = createSignedRepository();
    const limited =
      ann.entry.replace(' ', ' valid-after="20300101" ') + bob.entry.replace(' ', ' valid-after="20300601" ');
    const base = commit(undefined, 'base', { [KEYS]: limited });
    const byAnn = commit(ann, 'by ann', { a: '1' });
    expect(await verify(base)).toEqual(['ok 1']);
    expect(await verify(base, { now: new Date('2029-12-31T00:00:00Z') })).toEqual([
      'by ann: its key is not valid now: the key of ann@example.com is valid from 2030-01-01T00:00:00.000Z only',
    ]);
    commit(bob, 'by bob', { a: '2' });
    expect(await verify(byAnn)).toEqual([
      expect.stringMatching(
        /^by bob: the commit is of 2030-03-17\S+: the key of bob@example.com is valid from 2030-06-01T00:00:00.000Z only$/,
      ),
    ]);
  });

  it('S19 accepts OpenPGP keys beside SSH keys in one file, and refuses them once revoked or expired', async () => {
    const { commit, verify } = createSignedRepository();
    const gpg = createGpg();
    const [pat, rsa, short] = [
      gpg.signer('pat'),
      gpg.signer('rex', 'rsa3072'),
      gpg.signer('shorty', 'ed25519', '1y'),
    ];
    const base = commit(undefined, 'base', { [KEYS]: ann.entry + pat.entry + rsa.entry + short.entry });
    commit(ann, 'by ann', { a: '1' });
    commit(pat, 'by pat', { a: '2' });
    const second = commit(rsa, 'by rex', { a: '3' });
    expect(await verify(base)).toEqual(['ok 3']);

    const third = commit(short, 'by shorty', { a: '4' });
    expect(await verify(second, { now: createSystemClock().now() })).toEqual(['ok 1']);
    expect(await verify(second)).toEqual([
      expect.stringMatching(/^by shorty: its signature by OpenPGP key [0-9A-F]{16} is not valid: .*expired/i),
    ]);
    const revokedKey = { [KEYS]: ann.entry + gpg.revokedEntryOf('pat') };
    const problems = [
      expect.stringMatching(/^again: its signature by OpenPGP key \S+ is not valid: .*revoked/i),
    ];
    commit(pat, 'again', { a: '5' });
    expect(await verify(third)).toEqual(['ok 1']);
    commit(ann, 'revoke pat', revokedKey);
    expect(await verify(third)).toEqual(problems);
    const revoked = commit(ann, 'revoked', revokedKey);
    commit(pat, 'again', { a: '6' });
    expect(await verify(revoked)).toEqual(problems);
  });

  it('S19 joins two copies of an OpenPGP key: a later end counts, and so does a revocation, in any order', async () => {
    const { commit, verify } = createSignedRepository();
    const gpg = createGpg();
    const pat = gpg.signer('pat', 'ed25519', '1y');
    gpg.run('--passphrase', '', '--quick-set-expire', gpg.fingerprintOf('pat'), '20y');
    const later = gpg.entryOf('pat');
    const both = commit(undefined, 'base', { [KEYS]: pat.entry + later });
    const first = commit(pat, 'first');
    expect(await verify(both)).toEqual(['ok 1']);
    commit(pat, 'revoked', { [KEYS]: ann.entry + later + gpg.revokedEntryOf('pat') });
    expect(await verify(first)).toEqual([expect.stringMatching(/^revoked: .*revoked/) as string]);
    commit(pat, 'revoked', { [KEYS]: ann.entry + gpg.revokedEntryOf('pat') + later });
    expect(await verify(first)).toEqual([
      expect.stringMatching(/^revoked: /) as string,
      expect.stringMatching(/^revoked: /) as string,
    ]);
  });

  it('S19 refuses an OpenPGP signature from the future, which would outlive its key', async () => {
    const { commit, verify } = createSignedRepository();
    const pat = createGpg().signer('pat');
    const base = commit(undefined, 'base', { [KEYS]: pat.entry });
    commit(pat, 'one', { a: '1' });
    expect(await verify(base, { now: new Date('2020-01-01T00:00:00Z') })).toEqual([
      expect.stringMatching(/^one: its signature by OpenPGP key [0-9A-F]{16} is from the future$/),
    ]);
  });

  it('S19 refuses an OpenPGP packet that names a listed key but signs no content', async () => {
    const { repository, commit, verify } = createSignedRepository();
    const pat = createGpg().signer('pat');
    const base = commit(undefined, 'base', { [KEYS]: pat.entry });
    const raw = repository.git('cat-file', 'commit', commit(pat, 'genuine', { a: '1' }));
    for (const type of [STANDALONE, CERTIFICATION]) {
      repository.pushCommitObject(`${withSignatureType(raw, type).replace('\n\ngenuine', '\n\nforged')}\n`);
      expect(await verify(base)).toEqual([
        expect.stringMatching(/^forged: its signature by OpenPGP key \S+ is not valid: .*over content/),
      ]);
    }
  });

  it('S19 refuses OpenPGP signatures of an unknown key, over another commit, and with SHA1', async () => {
    const { repository, commit, verify } = createSignedRepository();
    const gpg = createGpg();
    const [pat, eve] = [gpg.signer('pat', 'rsa2048'), gpg.signer('eve')];
    const base = commit(undefined, 'base', { [KEYS]: pat.entry });
    const genuine = commit(pat, 'genuine', { a: '1' });
    commit(eve, 'by eve', { a: '2' });
    expect(await verify(base)).toEqual([
      expect.stringMatching(/^by eve: OpenPGP key [0-9A-F]{16} is in no signer file before these commits$/),
    ]);
    const raw = repository.git('cat-file', 'commit', genuine);
    repository.pushCommitObject(`${raw.replace('\n\ngenuine', '\n\nforged')}\n`);
    expect(await verify(base)).toEqual([
      expect.stringMatching(/^forged: its signature by .* is not valid: /),
    ]);
    gpg.configure('digest-algo SHA1');
    repository.git('reset', '--quiet', '--hard', base);
    commit(pat, 'sha1', { a: '3' });
    expect(await verify(base)).toEqual([
      expect.stringMatching(/^sha1: its signature by .* is not valid: .*SHA1/i),
    ]);
  });
});

describe('the authors of a range', () => {
  it('S36 are all who signed or wrote one of its commits, under all of their names, without those who only merged', async () => {
    const { repository, commit, merge, git } = createSignedRepository();
    const bot = createSshSigner('bot');
    const [type = '', key = ''] = ann.entry.split(' ').slice(1);
    const alias = `ann@home.example.com ${type} ${key}\n`;
    const base = commit(undefined, 'base', { [KEYS]: BOTH + bot.entry + alias, a: '0' });
    repository.git('checkout', '--quiet', '-b', 'side', base);
    commit(bob, 'change\n\nCo-authored-by: Eve <eve@example.com>', { b: '1' });
    repository.git('checkout', '--quiet', 'main');
    commit(ann, 'own', { a: '1' });
    merge(bot, 'side');
    const ref = 'refs/heads/main';
    const head = await git.fetch(ref);
    const signers = [{ name: 'people', keysPath: KEYS, paths: [] }];
    const question = { mode: 'Range', head, before: base, ref, signers, now: NOW } as const;
    const { authors = [], signer } = await git.signatures(question);
    expect(signer).toBe('bot@example.com');
    expect(authors.filter((name) => !name.startsWith('sha256:'))).toEqual(
      expect.arrayContaining([
        'ann@example.com',
        'ann@home.example.com',
        'bob@example.com',
        'eve@example.com',
      ]),
    );
    expect(authors).not.toContain('bot@example.com');
    expect(authors.filter((name) => name.startsWith('sha256:'))).toHaveLength(2);
  });

  it('S36 include who changes something in a merge, and are absent where a commit is refused', async () => {
    const { repository, commit, git } = createSignedRepository();
    const base = commit(undefined, 'base', { [KEYS]: BOTH, a: '0' });
    repository.git('checkout', '--quiet', '-b', 'side', base);
    commit(bob, 'side', { b: '1' });
    repository.git('checkout', '--quiet', 'main');
    repository.git('merge', '--quiet', '--no-ff', '--no-commit', 'side');
    commit(ann, 'merge by hand', { a: 'smuggled' });
    const ref = 'refs/heads/main';
    const head = await git.fetch(ref);
    const signers = [{ name: 'people', keysPath: KEYS, paths: [] }];
    const question = { mode: 'Range', head, before: base, ref, signers, now: NOW } as const;
    expect((await git.signatures(question)).authors).toContain('ann@example.com');
    commit(undefined, 'unsigned', { a: '2' });
    const refused = { ...question, head: await git.fetch(ref) };
    expect((await git.signatures(refused)).authors).toBeUndefined();
  });
});
