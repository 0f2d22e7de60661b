/** Trees that git would not write, but an attacker could. */
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createGitRepository } from '../../../src/sync/git/repository.ts';
import type { GitRepository, RawObject } from '../../../src/sync/git/transport.ts';
import { tempFolder } from '../../support/temp.ts';

type Entries = readonly (readonly [mode: string, name: string, content: string | Entries])[];

/** A repository in memory, with one commit of these entries. */
function repositoryOf(entries: Entries): { repository: GitRepository; commit: string } {
  const objects = new Map<string, RawObject>();
  const add = (type: RawObject['type'], content: Buffer): string => {
    const oid = createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest('hex');
    objects.set(oid, { type, content });
    return oid;
  };
  const tree = (of: Entries): string =>
    add(
      'tree',
      Buffer.concat(
        of.map(([mode, name, content]) => {
          const oid = typeof content === 'string' ? add('blob', Buffer.from(content)) : tree(content);
          return Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')]);
        }),
      ),
    );
  const person = 'A <a@b> 1 +0000';
  const commit = add(
    'commit',
    Buffer.from(`tree ${tree(entries)}\nauthor ${person}\ncommitter ${person}\n\nx\n`),
  );
  const open = (): ReturnType<Parameters<typeof createGitRepository>[0]['open']> => ({
    read: async (oid) => objects.get(oid),
    close: async () => undefined,
  });
  return { repository: createGitRepository({ display: 'memory', open }), commit };
}

describe('a malicious tree', () => {
  it.each([
    ['..', '100644'],
    ['.', '100644'],
    ['.git', '40000'],
    ['.GIT', '40000'],
    ['a/b', '100644'],
    ['a\\b', '100644'],
    ['', '100644'],
  ])('is not exported when it contains the name %j', async (name, mode) => {
    const content = mode === '40000' ? [['100644', 'config', 'x'] as const] : 'x';
    const { repository, commit } = repositoryOf([[mode, name, content]]);
    const folder = tempFolder('export');
    await expect(repository.exportTree(commit, folder)).rejects.toMatchObject({ code: 'Corrupt' });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is refused when it contains a name twice', async () => {
    const twice = repositoryOf([
      ['100644', 'a', 'one'],
      ['100644', 'a', 'two'],
    ]);
    await expect(twice.repository.exportTree(twice.commit, tempFolder('export'))).rejects.toThrow(/EEXIST/);
  });

  it('is refused when its nested trees expand to millions of files', async () => {
    let bomb: Entries = [['100644', 'x', 'boom']];
    for (let depth = 0; depth < 12; depth += 1) {
      bomb = Array.from({ length: 10 }, (_, n) => ['40000', `d${n}`, bomb] as const);
      if (depth === 1) break;
    }
    let deep: Entries = bomb;
    for (let depth = 0; depth < 80; depth += 1) deep = [['40000', 'd', deep]];
    const { repository, commit } = repositoryOf(deep);
    await expect(repository.files(commit)).rejects.toMatchObject({ code: 'TooLarge' });
  });

  it('is refused when it contains an unknown mode', async () => {
    const { repository, commit } = repositoryOf([['060000', 'device', 'x']]);
    await expect(repository.files(commit)).rejects.toMatchObject({ code: 'Corrupt' });
  });
});
