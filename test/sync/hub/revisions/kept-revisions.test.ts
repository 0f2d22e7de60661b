import { randomBytes } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Cluster, ProvenDigest } from '../../../../src/api/generated/types.ts';
import type { ClusterAssignment } from '../../../../src/sync/cluster-report.ts';
import {
  createKeptRevisions,
  type KeptRevisions,
} from '../../../../src/sync/hub/revisions/kept-revisions.ts';
import type { RenderedTarget } from '../../../../src/sync/rendered.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { secretStore } from '../../../support/secret-store.ts';
import { tempFolder } from '../../../support/temp.ts';
import { type VirtualClock, virtualClock } from '../../../support/virtual-clock.ts';
import { clusterOf } from '../../promote/builders.ts';
import { contentOf, unitOf } from './content.ts';

const KEY = {
  name: 'kubenode-revisions',
  use: 'revisions',
  data: { key: Buffer.alloc(32, 1).toString('base64') },
};
const CONTENTS: Readonly<Record<string, RenderedTarget>> = {
  c0: contentOf('x', unitOf('web', 'other than before')),
  c1: contentOf('x', unitOf('web', 'one')),
  c2: contentOf('x', unitOf('web', 'two')),
};

interface Bed {
  readonly kept: KeptRevisions;
  readonly log: ReturnType<typeof memoryLog>;
  /** What was asked of git. */
  readonly asked: string[];
  readonly clock: VirtualClock;
  apply(commit: string, more?: Partial<ClusterAssignment>): Promise<RenderedTarget | undefined>;
}

function bed(
  options: { folder?: string; key?: boolean; git?: boolean; proven?: readonly ProvenDigest[] } = {},
): Bed {
  const { folder = tempFolder('revisions'), key = true, git = true, proven = [] } = options;
  const log = memoryLog();
  const asked: string[] = [];
  const clock = virtualClock();
  const cluster: Cluster = clusterOf({}, { proven });
  const kept = createKeptRevisions({
    folder,
    hubUID: 'hub',
    clusters: { get: () => cluster },
    secrets: key ? secretStore(KEY) : secretStore(),
    clock,
    log,
    randomBytes,
  });
  const content = async (commit: string): Promise<RenderedTarget | undefined> => {
    asked.push(commit);
    if (!git) throw new Error('git does not answer');
    return CONTENTS[commit];
  };
  return {
    kept,
    log,
    asked,
    clock,
    async apply(commit, more = {}) {
      const digest = CONTENTS[commit]?.digest ?? '';
      const target = { mode: 'Apply', commit, digest, pipeline: 'fleet', because: '', content } as const;
      return kept.serve('x', { ...target, ...more }).content(commit);
    },
  };
}

function commitsOf({ kept }: Bed): readonly string[] | undefined {
  return kept.list('x')?.map(({ commit }) => commit);
}

describe('createKeptRevisions', () => {
  it('S24 keeps what is applied, and serves it to a rollback of a new process without git', async () => {
    const folder = tempFolder('revisions');
    const first = bed({ folder });
    await first.apply('c1');
    await first.apply('c2');
    await first.kept.close();
    expect(commitsOf(first)).toEqual(['c2', 'c1']);

    const second = bed({ folder, git: false });
    expect(await second.apply('c1', { isRollback: true })).toEqual(CONTENTS['c1']);
    expect(second.asked).toEqual([]);
    expect(commitsOf(second)).toEqual(['c2', 'c1']);
  });

  it('S24 keeps nothing that is only observed, and nothing that was not promoted', async () => {
    const observed = bed();
    await observed.apply('c1', { mode: 'Observe' });
    await observed.apply('c1', { digest: 'sha256:other' });
    expect(commitsOf(observed)).toBeUndefined();
  });

  it('S24 deletes what is kept for a removed cluster, and keeps a cluster of the same name from then on', async () => {
    const folder = tempFolder('revisions');
    const used = bed({ folder });
    await used.apply('c1');
    used.kept.retain(['x', 'other']);
    await used.apply('c2');
    expect(commitsOf(used)).toEqual(['c2', 'c1']);

    used.kept.retain(['other']);
    expect(commitsOf(used)).toBeUndefined();
    used.kept.retain(['other', 'x']);
    await used.apply('c2');
    expect(commitsOf(used)).toEqual(['c2']);
    await used.kept.close();
    expect(readdirSync(join(folder, 'hub'))).toHaveLength(1);
    expect(used.log.lines.map(({ message }) => message)).toEqual(['revisions of removed clusters deleted']);
  });

  it('S24 deletes in a new process what a cluster left that was removed before', async () => {
    const folder = tempFolder('revisions');
    const first = bed({ folder });
    await first.apply('c1');
    await first.kept.close();
    const second = bed({ folder });
    second.kept.retain([]);
    await second.kept.close();
    expect(readdirSync(join(folder, 'hub'))).toEqual([]);
  });

  it('S24 tries again to delete what it could not, and goes on without', async () => {
    const folder = tempFolder('revisions');
    writeFileSync(join(folder, 'hub'), '');
    const blocked = bed({ folder });
    blocked.kept.retain([]);
    await blocked.kept.close();
    expect(blocked.log.lines.map(({ message }) => message)).toEqual([
      'revisions of removed clusters not deleted',
    ]);
  });

  it('S24 reads from git what is not kept', async () => {
    const empty = bed();
    expect(await empty.apply('c1', { isRollback: true })).toEqual(CONTENTS['c1']);
    expect(empty.asked).toEqual(['c1']);
  });

  it('S24 fills what was proven and is missing from git again, if it renders to the same content', async () => {
    const at = '2030-01-01T00:00:00Z';
    const proven = [
      { commit: 'c1', digest: CONTENTS['c1']?.digest ?? '', provenAt: at },
      { commit: 'c0', digest: 'sha256:gone', provenAt: at },
    ];
    const filled = bed({ proven });
    await filled.apply('c2');
    await expect.poll(() => filled.asked).toEqual(['c2', 'c1', 'c0']);
    await filled.kept.close();
    expect([...(commitsOf(filled) ?? [])].toSorted()).toEqual(['c1', 'c2']);
  });

  it('S24 applies also without a key, and logs once what is missing', async () => {
    const without = bed({ key: false });
    expect(await without.apply('c1')).toEqual(CONTENTS['c1']);
    expect(await without.apply('c2')).toEqual(CONTENTS['c2']);
    await without.kept.close();
    const found = without.log.lines.filter(({ message }) => message === 'revisions not kept');
    expect(found).toHaveLength(1);
    expect(commitsOf(without)).toBeUndefined();
  });

  it('S24 renders nothing for revisions that cannot be kept without a key', async () => {
    const digest = CONTENTS['c1']?.digest ?? '';
    const proven = [{ commit: 'c1', digest, provenAt: '2030-01-01T00:00:00Z' }];
    const without = bed({ key: false, proven });
    await without.apply('c2');
    await without.kept.close();
    expect(without.asked).toEqual(['c2']);
  });

  it('S24 reads no older revisions from git once one of them does not fit', async () => {
    const proven = ['c1', 'c0'].map((commit, index) => {
      const digest = CONTENTS[commit]?.digest ?? '';
      return { commit, digest, provenAt: `2029-01-0${2 - index}T00:00:00Z` };
    });
    const folder = tempFolder('revisions');
    const full = bed({ folder });
    for (let index = 0; index < 20; index += 1) {
      const content = contentOf('x', unitOf('web', `version ${index}`));
      await full.apply(`n${index}`, { digest: content.digest, content: async () => content });
    }
    await full.kept.close();
    const reader = bed({ folder, proven });
    reader.clock.jumpWall(1000);
    await reader.apply('c2');
    await expect.poll(() => reader.asked).toContain('c1');
    // Its write comes after that of c1.
    const last = contentOf('x', unitOf('web', 'last'));
    await reader.apply('last', { digest: last.digest, content: async () => last });
    await reader.kept.close();
    expect(reader.asked).toEqual(['c2', 'c1']);
  });

  it('S24 keeps what is applied as the newest also after the clock was set back', async () => {
    const moved = bed();
    await moved.apply('c1');
    moved.clock.jumpWall(-3_600_000);
    await moved.apply('c2');
    expect(commitsOf(moved)).toEqual(['c2', 'c1']);
  });
});
