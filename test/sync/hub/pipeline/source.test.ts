import { describe, expect, it } from 'vitest';
import type { Pipeline } from '../../../../src/api/generated/types.ts';
import { EMPTY_TARGET } from '../../../../src/sync/commits.ts';
import { GitError } from '../../../../src/sync/git/errors.ts';
import type { CommitInfo, GitTransport } from '../../../../src/sync/git/transport.ts';
import { createVerdictMemory } from '../../../../src/sync/hub/acceptance/commit-checks.ts';
import { decryptionKeys } from '../../../../src/sync/hub/decryption-keys.ts';
import { createPipelineSource, type PipelineSource } from '../../../../src/sync/hub/pipeline/source.ts';
import { RenderError } from '../../../../src/sync/render/errors.ts';
import { judgedRenderer } from '../../../support/judged-renderer.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { secretStore } from '../../../support/secret-store.ts';
import { type VirtualClock, virtualClock } from '../../../support/virtual-clock.ts';

const REF = 'refs/heads/main';
const POLL_SECONDS = 30;

interface Bed {
  readonly source: PipelineSource;
  readonly clock: VirtualClock;
  readonly fetched: readonly (string | undefined)[];
  /** The head of the server; undefined while the server is down. */
  readonly push: (head: string | undefined) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** A Pipeline whose commits declare one ConfigMap for the cluster `test`; the commit `bad` cannot be rendered. */
function createBed(released?: string): Bed {
  const clock = virtualClock();
  const stop = new AbortController();
  const fetched: (string | undefined)[] = [];
  let head: string | undefined;
  const git = {
    display: 'https://git.example.com/fleet',
    listRefs: async () => {
      if (head === undefined) throw new GitError('Unreachable', 'the connection was refused');
      return new Map([[REF, head]]);
    },
    fetch: async () => {
      fetched.push(head);
      if (head === 'huge') throw new GitError('TooLarge', 'a blob of 6 GiB', { hint: 'remove it' });
      return head;
    },
    ensure: async () => undefined,
    has: async () => true,
    commit: async (oid: string): Promise<CommitInfo> => ({
      oid,
      tree: oid,
      parents: [],
      author: 'Ann',
      committedAt: clock.now(),
      subject: oid,
      body: '',
    }),
    ancestry: async () => 'descends',
    close: async () => undefined,
  } as unknown as GitTransport;
  const renderer = judgedRenderer(async ({ commit, signal }) => {
    if (commit === 'loop') {
      await new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error));
      });
    }
    if (commit === 'bad') throw new RenderError('Failed', [{ message: 'line 3' }], 'fix it');
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: commit } };
    const units = [{ unit: 'web', objects: [{ object, source: {} }], digest: commit }];
    return { rendered: { commit, targets: [{ target: 'test', units, digest: commit }] }, warnings: [] };
  });
  const source = createPipelineSource({
    git,
    pipeline: {
      metadata: { name: 'fleet' },
      spec: { source: { ref: 'main', path: '.', pollSeconds: POLL_SECONDS } },
    } as Pipeline,
    renderer,
    verdicts: createVerdictMemory(),
    appliedCommits: () => [],
    newestReleasedCommit: () => released,
    hasRelease: (commit) => commit === released,
    acceptedHeads: () => [],
    signatures: () => ({ mode: 'None', signers: [] }),
    identities: () => ({ pipeline: 'fleet', before: new Set() }),
    keys: () => decryptionKeys('fleet', undefined, secretStore()),
    clock,
    log: memoryLog(),
    random: () => 0.5,
    onChange: () => undefined,
  });
  let running: Promise<void> | undefined;
  return {
    source,
    clock,
    fetched,
    async push(commit) {
      head = commit;
      running ??= source.run(stop.signal);
      await clock.advance(POLL_SECONDS * 1000);
    },
    async stop() {
      stop.abort();
      await running;
    },
  };
}

describe('createPipelineSource', () => {
  it('reports an accepted head and its content', async () => {
    const { source, push, stop } = createBed();
    await push('one');
    expect(source.head()).toMatchObject({ commit: 'one', verdict: 'Accepted' });
    expect(source.newestAccepted()).toBe('one');
    expect(await source.content('test', 'one')).toMatchObject({ digest: 'one' });
    await stop();
  });

  it('FST-2 counts what a commit changes in each cluster against the commit that the cluster has', async () => {
    const { source, push, stop } = createBed();
    await push('two');
    const counts = await source.changes('two', [
      { cluster: 'test', commit: 'one' },
      { cluster: 'pre', commit: 'one' },
      { cluster: 'old', commit: 'bad' },
    ]);
    expect([...counts]).toEqual([
      ['test', { creates: 1, updates: 0, deletes: 1 }],
      ['pre', { creates: 0, updates: 0, deletes: 0 }],
    ]);
    const fresh = await source.changes('two', [{ cluster: 'test', commit: undefined }]);
    expect(fresh.get('test')).toEqual({ creates: 1, updates: 0, deletes: 0 });
    await stop();
  });

  it('keeps the accepted commit when a newer head cannot be rendered', async () => {
    const { source, push, stop } = createBed();
    await push('one');
    await push('bad');
    expect(source.head()).toMatchObject({
      commit: 'bad',
      verdict: 'RenderFailed',
      message: 'line 3; fix it',
    });
    expect(source.newestAccepted()).toBe('one');
    expect((await source.accepted([])).commits.map(({ id }) => id)).toEqual(['one']);
    await stop();
  });

  it('refuses a head that cannot be fetched, reports why, and fetches it once', async () => {
    const { source, clock, fetched, push, stop } = createBed();
    await push('one');
    await push('huge');
    await clock.advance(10 * POLL_SECONDS * 1000);
    expect(source.head()).toEqual({
      commit: 'huge',
      observedAt: expect.any(Date) as Date,
      verdict: 'Refused',
      message: 'a blob of 6 GiB; remove it',
    });
    expect(fetched).toEqual(['one', 'huge']);
    expect(source.newestAccepted()).toBe('one');
    await push('two');
    expect(source.head()).toMatchObject({ commit: 'two', verdict: 'Accepted' });
    await stop();
  });

  it('SAF-5 observes and accepts a newer head while one renders that never ends', async () => {
    const { source, push, stop } = createBed();
    await push('one');
    await push('loop');
    expect(source.head()).toMatchObject({ commit: 'loop', verdict: 'Rendering' });
    expect(source.newestAccepted()).toBe('one');
    await push('two');
    expect(source.newestAccepted()).toBe('two');
    expect(source.head()).toMatchObject({ commit: 'two', verdict: 'Accepted' });
    await stop();
  });

  it('FST-1 reports a head as Rendering until its render has ended, unless a former process accepted it', async () => {
    for (const [released, verdict] of [
      [undefined, 'Rendering'],
      ['loop', 'Accepted'],
    ]) {
      const { source, push, stop } = createBed(released);
      await push('loop');
      expect(source.head()).toMatchObject({ commit: 'loop', verdict });
      await stop();
    }
  });

  it('stops while a head renders that never ends', async () => {
    const { source, push, stop } = createBed();
    await push('loop');
    await stop();
    await source.close();
    expect(source.newestAccepted()).toBeUndefined();
  });

  it('S21 reports when the repository was not read for two intervals, and keeps the last head', async () => {
    const { source, clock, push, stop } = createBed();
    expect(source.head().unread).toBe('the repository has not been read yet');
    await push('one');
    expect(source.head().unread).toBeUndefined();
    await push(undefined);
    await clock.advance(2 * POLL_SECONDS * 1000);
    expect(source.head()).toMatchObject({ commit: 'one', unread: 'the connection was refused' });
    await stop();
  });

  it('has no objects for a cluster that the commit does not declare, but unknown content for the hub', async () => {
    const { source, push, stop } = createBed();
    await push('one');
    expect(await source.content('prod', 'one')).toEqual({
      target: 'prod',
      units: [],
      digest: EMPTY_TARGET.digest,
    });
    expect(await source.content('hub', 'one')).toBeUndefined();
    await stop();
  });
});
