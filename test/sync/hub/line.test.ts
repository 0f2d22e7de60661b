import { describe, expect, it } from 'vitest';
import type { Release } from '../../../src/api/generated/types.ts';
import type { CommitInfo } from '../../../src/sync/git/transport.ts';
import { withServer } from '../../../src/sync/hub/connection.ts';
import { selectCommits } from '../../../src/sync/hub/line.ts';
import { newestReleasedCommit, unreleasedCommits } from '../../../src/sync/hub/named.ts';

const words = (text: string): string[] => text.split(' ').filter(Boolean);
const info = (oid: string): CommitInfo => ({
  oid,
  tree: '',
  parents: [],
  author: 'Ann',
  committedAt: new Date(0),
  subject: oid,
  body: '',
});
const release = (commit: string, createdAt: string, pipeline = 'fleet'): Release =>
  ({
    metadata: { name: `${pipeline}-${commit}`, creationTimestamp: createdAt },
    spec: { pipeline, commit },
  }) as never;

describe('selectCommits', () => {
  it.each<[name: string, walked: string, named: string, line: string]>([
    ['is oldest first, from the oldest commit that is named', 'e d c b a', 'e b', 'b c d e'],
    ['is the newest alone when nothing older is named', 'e d c', 'e', 'e'],
    ['is empty before anything was accepted', '', '', ''],
    ['leaves out what is named and not in this history', 'e d', 'e x', 'e'],
  ])('%s', (_name, walked, named, line) => {
    expect(selectCommits(words(walked).map(info), new Set(words(named))).map(({ oid }) => oid)).toEqual(
      words(line),
    );
  });
});

describe('what was accepted before', () => {
  const releases = [
    release('b', '2030-01-02T00:00:00Z'),
    release('a', '2030-01-01T00:00:00Z'),
    release('z', '2030-01-03T00:00:00Z', 'other'),
  ];

  it('is the commit of the youngest Release of this Pipeline', () => {
    expect(newestReleasedCommit('fleet', releases)).toBe('b');
    expect(newestReleasedCommit('unknown', releases)).toBeUndefined();
  });

  it('is also what a cluster runs and no Release knows: the hub may be older than its clusters', () => {
    expect(unreleasedCommits(['a', 'c', 'c'], releases)).toEqual(['c']);
  });
});

describe('withServer', () => {
  it('changes the address and nothing else', () => {
    const text =
      'clusters:\n- name: a\n  cluster: {server: https://old:6443, certificate-authority-data: Zm9v}\nusers: []\n';
    const changed = withServer(text, 'https://new:6443');
    expect(changed).toContain('https://new:6443');
    expect(changed).toContain('certificate-authority-data: Zm9v');
    expect(changed).not.toContain('https://old');
    expect(() => withServer('users: []\n', 'https://new')).toThrow('no list of clusters');
  });
});
