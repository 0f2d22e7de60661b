import { describe, expect, it } from 'vitest';
import { createRenderStore, type RenderStore } from '../../../src/sync/hub/render-store.ts';
import { RenderError } from '../../../src/sync/render/errors.ts';
import type { RenderedObject } from '../../../src/sync/rendered.ts';
import { judgedRenderer } from '../../support/judged-renderer.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { settle, type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

interface Bed {
  readonly store: RenderStore;
  readonly clock: VirtualClock;
  /** The commits that were rendered, in order. */
  readonly rendered: string[];
}

interface Options {
  readonly broken?: ReadonlySet<string>;
  /** Renders do not end before they are canceled. */
  readonly endless?: true;
  readonly objects?: number;
}

function bedWith({ broken = new Set(), endless, objects = 0 }: Options = {}): Bed {
  const rendered: string[] = [];
  const targets = [
    { target: 'test', units: [{ unit: 'web', objects: objectsOf(objects), digest: '' }], digest: '' },
  ];
  const clock = virtualClock();
  const renderer = judgedRenderer(async ({ commit, signal }) => {
    rendered.push(commit);
    if (endless) await aborted(signal).finally(() => rendered.push(`canceled ${commit}`));
    if (broken.has(commit)) throw new RenderError('Failed', [{ message: 'broken' }], 'fix it');
    return { rendered: { commit, targets }, warnings: [] };
  });
  const git = { ensure: async () => undefined } as never;
  const store = createRenderStore({ git, ref: 'main', path: '.', renderer, clock, log: memoryLog() });
  return { store, clock, rendered };
}

function objectsOf(count: number): readonly RenderedObject[] {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
  return Array.from({ length: count }, () => ({ object, source: {} }));
}

function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error));
  });
}

describe('createRenderStore', () => {
  it('renders a commit once for concurrent callers', async () => {
    const { store, rendered } = bedWith();
    await Promise.all([store.get('a'), store.get('a'), store.getIfRenderable('a')]);
    expect(rendered).toEqual(['a']);
  });

  it('keeps a render while it is used, and drops it when it is not', async () => {
    const { store, clock, rendered } = bedWith();
    await store.get('old');
    for (let asked = 0; asked < 10; asked += 1) {
      await clock.advance(15_000);
      await store.get('used');
    }
    expect(rendered).toEqual(['old', 'used']);
    await store.get('old');
    expect(rendered).toEqual(['old', 'used', 'old']);
  });

  it('keeps a few renders only', async () => {
    const { store, rendered } = bedWith();
    for (const commit of ['a', 'b', 'c', 'a', 'd', 'e']) await store.get(commit);
    rendered.length = 0;
    for (const commit of ['e', 'd', 'a', 'c']) await store.get(commit);
    expect(rendered).toEqual([]);
    await store.get('b');
    expect(rendered).toEqual(['b']);
  });

  it('renders again after a failure', async () => {
    const { store, rendered } = bedWith({ broken: new Set(['bad']) });
    await expect(store.get('bad')).rejects.toThrow('broken');
    expect(await store.getIfRenderable('bad')).toBeUndefined();
    expect(rendered).toEqual(['bad', 'bad']);
  });

  it('renders one commit at a time, and cancels it when it is not needed any more', async () => {
    const { store, rendered } = bedWith({ endless: true });
    const [first, second] = [new AbortController(), new AbortController()];
    const results = [store.get('a', first.signal), store.get('a', second.signal), store.get('b')];
    const outcomes = Promise.allSettled(results);
    await settle();
    first.abort(new Error('newer head'));
    await expect(results[0]).rejects.toThrow('newer head');
    await settle();
    expect(rendered).toEqual(['a']);
    second.abort(new Error('newer head'));
    await expect(results[1]).rejects.toThrow('newer head');
    await settle();
    expect(rendered).toEqual(['a', 'canceled a', 'b']);
    await store.close();
    await outcomes;
  });

  it('does not cancel a render that another caller needs', async () => {
    const { store, rendered } = bedWith({ endless: true });
    const head = new AbortController();
    const outcomes = Promise.allSettled([store.get('a', head.signal), store.get('a')]);
    await settle();
    head.abort(new Error('newer head'));
    await settle();
    expect(rendered).toEqual(['a']);
    await store.close();
    await outcomes;
  });

  it('cancels what is rendered or waits when it is closed, and renders nothing afterwards', async () => {
    const { store, rendered } = bedWith({ endless: true });
    const results = Promise.allSettled([store.get('a'), store.get('b')]);
    await settle();
    await store.close();
    const closed = { status: 'rejected', reason: new Error('the repository was closed') };
    expect(await results).toEqual([closed, closed]);
    await expect(store.get('c')).rejects.toThrow('the repository was closed');
    expect(rendered).toEqual(['a', 'canceled a']);
  });

  it('keeps fewer renders of large fleets', async () => {
    const { store, rendered } = bedWith({ objects: 30_000 });
    for (const commit of ['a', 'b', 'b', 'a']) await store.get(commit);
    expect(rendered).toEqual(['a', 'b', 'a']);
  });

  it('judges a commit, and keeps its render if it is accepted', async () => {
    const { store, rendered } = bedWith({ objects: 1 });
    expect(await store.judge('good')).toEqual({ accepted: true, because: 'all 1 objects are allowed' });
    await store.get('good');
    expect(rendered).toEqual(['good']);

    const empty = bedWith();
    expect(await empty.store.judge('empty')).toMatchObject({ accepted: false });
    await empty.store.get('empty');
    expect(empty.rendered).toEqual(['empty', 'empty']);
  });

  it('cancels what is judged when it is not needed any more, and when the store is closed', async () => {
    const { store, rendered } = bedWith({ endless: true });
    const newer = new AbortController();
    const judged = Promise.allSettled([store.judge('a', newer.signal), store.judge('b')]);
    await settle();
    newer.abort(new Error('newer head'));
    await settle();
    expect(rendered).toEqual(['a', 'canceled a', 'b']);
    await store.close();
    expect(rendered).toEqual(['a', 'canceled a', 'b', 'canceled b']);
    expect(await judged).toEqual([
      { status: 'rejected', reason: new Error('newer head') },
      { status: 'rejected', reason: new Error('the repository was closed') },
    ]);
  });
});
