/** Trees that git would not write, but an attacker could. */
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createGitRepository } from '../../../src/sync/git/repository.ts';
import type { GitRepository, RawObject } from '../../../src/sync/git/transport.ts';
import { tempFolder } from '../../support/temp.ts';

type Entries = readonly (readonly [mode: string, name: string, content: string | Entries])[];

interface MemoryRepository {
  readonly repository: GitRepository;
  readonly commit: string;
  readonly reads: readonly string[];
}

/** A repository in memory, with one commit of these entries. Entries that are the same list become one tree. */
function repositoryOf(entries: Entries, objects = new Map<string, RawObject>()): MemoryRepository {
  const trees = new Map<Entries, string>();
  const reads: string[] = [];
  const add = (type: RawObject['type'], content: Buffer): string => {
    const oid = createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest('hex');
    objects.set(oid, { type, content });
    return oid;
  };
  const tree = (of: Entries): string => {
    const known = trees.get(of) ?? addTree(of);
    trees.set(of, known);
    return known;
  };
  const addTree = (of: Entries): string =>
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
    read: async (oid) => {
      reads.push(oid);
      return objects.get(oid);
    },
    close: async () => undefined,
  });
  return { repository: createGitRepository({ display: 'memory', open }), commit, reads };
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
    await expect(repository.exportTree(commit, folder)).rejects.toMatchObject({ code: 'InvalidObject' });
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each<readonly [what: string, entries: Entries]>([
    [
      'files',
      [
        ['100644', 'a', 'one'],
        ['100644', 'a', 'two'],
      ],
    ],
    [
      'folders, of which a comparison would read only one',
      [
        ['40000', 'a', [['100644', 'added', 'one']]],
        ['40000', 'a', [['100644', 'b', 'two']]],
      ],
    ],
    [
      'a file and a folder',
      [
        ['100644', 'a', 'one'],
        ['40000', 'a', [['100644', 'b', 'two']]],
      ],
    ],
  ])('SAF-5 is refused when it contains a name twice: %s', async (_, entries) => {
    const { repository, commit } = repositoryOf(entries);
    const refused = {
      code: 'InvalidObject',
      message: expect.stringMatching(/contains the name "a" twice/) as string,
    };
    const folder = tempFolder('export');
    await expect(repository.exportTree(commit, folder)).rejects.toMatchObject(refused);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('SAF-5 is refused when its nested trees expand to millions of files', async () => {
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

  // Found with 480 KB of nested folders without a single file, which were walked for ever.
  it.each([2, 40])(
    'SAF-5 is refused when nested folders without a file expand without end, %d in each',
    async (wide) => {
      let bomb: Entries = [];
      for (let depth = 0; depth < 40; depth += 1) {
        const inner = bomb;
        bomb = Array.from({ length: wide }, (_, n) => ['40000', `d${n}`, inner] as const);
      }
      const { repository, commit, reads } = repositoryOf(bomb);
      const refused = { code: 'TooLarge', hint: expect.any(String) as string };
      await expect(repository.files(commit)).rejects.toMatchObject(refused);
      await expect(repository.exportTree(commit, tempFolder('export'))).rejects.toMatchObject(refused);
      expect(reads.length).toBeLessThan(50_000);
    },
  );

  it('is refused when it differs from another commit in too many folders', async () => {
    let bomb: Entries = [['100644', 'x', 'boom']];
    for (let depth = 0; depth < 40; depth += 1) {
      const inner = bomb;
      bomb = ['a', 'b'].map((name) => ['40000', name, inner] as const);
    }
    const objects = new Map<string, RawObject>();
    const before = repositoryOf([], objects);
    const { repository, commit } = repositoryOf(bomb, objects);
    await expect(repository.changedPaths(before.commit, commit)).rejects.toMatchObject({ code: 'TooLarge' });
  });

  it('is refused when it contains an unknown mode', async () => {
    const { repository, commit } = repositoryOf([['060000', 'device', 'x']]);
    await expect(repository.files(commit)).rejects.toMatchObject({ code: 'InvalidObject' });
  });
});
