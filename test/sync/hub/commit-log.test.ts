import { describe, expect, it } from 'vitest';
import type { Release } from '../../../src/api/generated/types.ts';
import type { CommitInfo, GitTransport } from '../../../src/sync/git/transport.ts';
import {
  type CommitLog,
  createCommitLog,
  newestReleasedCommit,
  selectCommits,
  unreleasedCommits,
} from '../../../src/sync/hub/commit-log.ts';
import type { RenderStore } from '../../../src/sync/hub/render-store.ts';
import type { Rendered } from '../../../src/sync/rendered.ts';
import { memoryLog } from '../../support/memory-log.ts';

const split = (text: string): string[] => text.split(' ').filter(Boolean);
const info = (oid: string, parents: readonly string[] = [], time = 0): CommitInfo => ({
  oid,
  tree: '',
  parents,
  author: 'Ann',
  committedAt: new Date(time),
  subject: oid,
  body: '',
});
const release = (commit: string, createdAt: string, pipeline = 'fleet'): Release =>
  ({
    metadata: { name: `${pipeline}-${commit}`, creationTimestamp: createdAt },
    spec: { pipeline, commit },
  }) as never;

describe('selectCommits', () => {
  it.each<[name: string, history: string, mentioned: string, selected: string]>([
    ['is oldest first, from the oldest mentioned commit', 'e d c b a', 'e b', 'b c d e'],
    ['is the newest alone when nothing older is mentioned', 'e d c', 'e', 'e'],
    ['is empty before the first accepted commit', '', '', ''],
    ['omits mentioned commits that are not in the history', 'e d', 'e x', 'e'],
  ])('%s', (_name, history, mentioned, selected) => {
    const commits = selectCommits(
      split(history).map((oid) => info(oid)),
      new Set(split(mentioned)),
    );
    expect(commits.map(({ oid }) => oid)).toEqual(split(selected));
  });
});

describe('newestReleasedCommit and unreleasedCommits', () => {
  const releases = [
    release('b', '2030-01-02T00:00:00Z'),
    release('a', '2030-01-01T00:00:00Z'),
    release('z', '2030-01-03T00:00:00Z', 'other'),
  ];

  it('finds the commit of the newest Release of the Pipeline', () => {
    expect(newestReleasedCommit('fleet', releases)).toBe('b');
    expect(newestReleasedCommit('unknown', releases)).toBeUndefined();
  });

  it('S39 finds commits of clusters without a Release: a restored hub may be older than its clusters', () => {
    expect(unreleasedCommits(['a', 'c', 'c'], releases)).toEqual(['c']);
  });
});

/** Declares ConfigMaps with these names in the cluster `test`. */
function rendered(commit: string, names: readonly string[]): Rendered {
  const objects = names.map((name) => ({
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } },
    source: {},
  }));
  const units = [{ unit: 'web', objects, digest: names.join() }];
  const target = (name: string): Rendered['targets'][number] => ({
    target: name,
    units,
    digest: names.join(),
  });
  const edge = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Cluster', metadata: { name: 'edge' } };
  const clusters = { unit: 'clusters', objects: [{ object: edge, source: {} }], digest: 'edge' };
  const hub = { target: 'hub', units: [...units, clusters], digest: names.join() };
  return { commit, targets: [target('test'), hub] };
}

/** `d` merges `b` and `c`, which follow `a`; `b` cannot be rendered while it is broken. */
function createBed(): { log: CommitLog; rendered: string[]; broken: Set<string>; asked: string[] } {
  const history = [
    info('a', ['beyond'], 1),
    info('b', ['a'], 2),
    info('c', ['a'], 3),
    info('d', ['b', 'c'], 4),
  ];
  const objects: Record<string, string> = { a: 'x y', b: 'x y', c: 'x y', d: 'x' };
  const renders: string[] = [];
  const broken = new Set<string>();
  const asked: string[] = [];
  const git = {
    ensure: async (oid: string) => void asked.push(`ensure ${oid}`),
    has: async (oid: string) => history.some((commit) => commit.oid === oid),
    commit: async (oid: string) => {
      asked.push(`read ${oid}`);
      return history.find((commit) => commit.oid === oid);
    },
  } as unknown as GitTransport;
  const store: Pick<RenderStore, 'getIfRenderable'> = {
    getIfRenderable: async (commit) => {
      renders.push(commit);
      return broken.has(commit) ? undefined : rendered(commit, split(objects[commit] ?? ''));
    },
  };
  const log = createCommitLog({
    git,
    ref: 'main',
    pipeline: 'fleet',
    renders: store as RenderStore,
    log: memoryLog(),
  });
  return { log, rendered: renders, broken, asked };
}

describe('createCommitLog', () => {
  it('renders mentioned commits, omits the hub except for the names of its Clusters, and counts deleted objects', async () => {
    const { log } = createBed();
    const commits = await log.read('d', ['a']);
    expect(commits.map(({ id, targets }) => `${id} ${[...(targets?.keys() ?? [])].join()}`)).toEqual([
      'a test',
      'b ',
      'c ',
      'd test',
    ]);
    expect(commits.at(-1)?.deletes).toBe(2);
    expect(commits.map(({ clusters }) => clusters && [...clusters])).toEqual([
      ['edge'],
      undefined,
      undefined,
      ['edge'],
    ]);
  });

  it('reads the same question once, and renders a commit again only after a failure', async () => {
    const { log, rendered: renders, broken } = createBed();
    broken.add('a');
    await log.read('d', ['a']);
    await log.read('d', ['a']);
    expect(renders).toEqual(['a', 'd']);
    broken.clear();
    const commits = await log.read('d', ['a', 'b']);
    expect(commits.map(({ targets }) => targets !== undefined)).toEqual([true, true, false, true]);
  });

  it('reads each commit once, and fetches only what is missing: a hub mentions many commits, and heads come often', async () => {
    const { log, asked } = createBed();
    await log.read('b', ['a']);
    await log.read('d', ['a', 'b']);
    expect(asked).toEqual(['read b', 'read a', 'read d', 'read c']);
    await log.read('d', ['a', 'x']);
    expect(asked.slice(4)).toEqual(['ensure x']);
  });

  it('omits a mentioned commit that is not in the history', async () => {
    const { log } = createBed();
    expect((await log.read('c', ['x', 'b'])).map(({ id }) => id)).toEqual(['c']);
  });
});
