import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openDemoRepository } from '../../../src/demo/tour/repository.ts';
import { createTourSigner } from '../../../src/demo/tour/signer.ts';
import { splitSignature } from '../../../src/sync/git/signatures/signed-content.ts';
import { parseSshSignature, verifySshSignature } from '../../../src/sync/git/signatures/ssh/signature.ts';
import { tempFolder } from '../../support/temp.ts';

const FILE = 'fleet/versions.ts';

function createRepository(): string {
  const folder = tempFolder('tour-repository');
  for (const name of ['fleet', 'rules']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'fleet/local.json'), '{}');
  writeFileSync(join(folder, 'rules/rule.ts'), '');
  writeFileSync(join(folder, FILE), 'one\n');
  git(folder, 'init', '--quiet', '--initial-branch=main');
  git(folder, 'add', '.');
  git(folder, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '-m', 'The fleet');
  return folder;
}

function git(folder: string, ...args: string[]): string {
  return execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' }).trim();
}

afterEach(() => vi.unstubAllEnvs());

describe('the repository of the demo', () => {
  it('gets a commit, and a revert of it, by the tour', async () => {
    const folder = createRepository();
    const repository = await openDemoRepository(folder);
    await repository.edit(FILE, () => 'two\n');
    const head = await repository.commit('Two');
    expect(head).toBe(await repository.head());
    expect(git(folder, 'log', '-1', '--format=%an: %s')).toBe('kubenode tour: Two');
    expect(await repository.revert(head)).not.toBe(head);
    expect(await repository.read(FILE)).toBe('one\n');
    expect(await repository.commits()).toBe(3);
  });

  it('S19 gets a signed commit with a new file, as git reads it, and drops commits', async () => {
    const folder = createRepository();
    const repository = await openDemoRepository(folder);
    const signer = createTourSigner('tour@localhost');
    await repository.add('keys/tour', signer.entry);
    const unsigned = await repository.commit('Keys');
    const signed = await repository.sign((commit) => signer.sign(commit));
    expect(signed).not.toBe(unsigned);
    expect(git(folder, 'status', '--porcelain')).toBe('');
    expect(git(folder, 'log', '-1', '--format=%s', '--', 'keys/tour')).toBe('Keys');
    const content = execFileSync('git', ['-C', folder, 'cat-file', 'commit', signed]);
    const { payload, signature = '' } = splitSignature(signed, { content });
    expect(payload.toString()).toBe(`${git(folder, 'cat-file', 'commit', unsigned)}\n`);
    expect(() => verifySshSignature(parseSshSignature(signature), payload)).not.toThrow();

    await repository.edit(FILE, () => 'two\n');
    await repository.commit('Two');
    await repository.dropAfter(signed);
    expect([await repository.head(), await repository.read(FILE)]).toEqual([signed, 'one\n']);
  });

  it('names git where it is missing, and passes on the reason of git', async () => {
    const folder = createRepository();
    const repository = await openDemoRepository(folder);
    await expect(repository.commit('Nothing')).rejects.toMatchObject({
      message: expect.stringMatching(/^git .* commit .* failed: .*nothing to commit/s) as string,
      where: folder,
    });
    vi.stubEnv('PATH', tempFolder('no-git'));
    await expect(openDemoRepository(folder)).rejects.toMatchObject({
      message: 'git is not installed',
      hint: 'install git, and run the command again',
    });
  });

  it('is committed to whatever the git config of the user signs', async () => {
    const folder = createRepository();
    git(folder, 'config', 'commit.gpgSign', 'true');
    git(folder, 'config', 'gpg.program', '/bin/false');
    const repository = await openDemoRepository(folder);
    await repository.edit(FILE, () => 'two\n');
    await repository.revert(await repository.commit('Two'));
    expect(await repository.commits()).toBe(3);
  });

  it('loses edits that are discarded', async () => {
    const folder = createRepository();
    const repository = await openDemoRepository(folder);
    await repository.edit(FILE, () => 'two\n');
    await repository.discard();
    expect(readFileSync(join(folder, FILE), 'utf8')).toBe('one\n');
  });

  it('is left alone when an edit would change nothing', async () => {
    const repository = await openDemoRepository(createRepository());
    await expect(repository.edit(FILE, (text) => text)).rejects.toThrow('does not have the form');
  });

  it('is refused with changes of the user that are not committed', async () => {
    const folder = createRepository();
    writeFileSync(join(folder, FILE), 'mine\n');
    await expect(openDemoRepository(folder)).rejects.toMatchObject({
      message: 'the repository has changes that are not committed',
      where: expect.stringContaining(FILE) as unknown,
    });
  });

  it('is refused when it is not one of the demo', async () => {
    await expect(openDemoRepository(tempFolder('other'))).rejects.toThrow('not one of the demo');
  });
});
