import { describe, expect, it } from 'vitest';
import { createRenderStore, type RenderStore } from '../../../src/sync/hub/render-store.ts';
import { RenderError } from '../../../src/sync/render/errors.ts';
import type { Renderer } from '../../../src/sync/render/renderer.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

interface Bed {
  readonly store: RenderStore;
  readonly clock: VirtualClock;
  /** The commits that were rendered, in order. */
  readonly rendered: string[];
}

function bedWith(broken: ReadonlySet<string> = new Set()): Bed {
  const rendered: string[] = [];
  const clock = virtualClock();
  const renderer: Renderer = {
    commit: async ({ commit }) => {
      rendered.push(commit);
      if (broken.has(commit)) throw new RenderError('Failed', [{ message: 'broken' }], 'fix it');
      return { rendered: { commit, targets: [] }, warnings: [] };
    },
    folder: () => {
      throw new Error('not used here');
    },
  };
  const git = { ensure: async () => undefined } as never;
  const store = createRenderStore({ git, ref: 'main', path: '.', renderer, clock, log: memoryLog() });
  return { store, clock, rendered };
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
    const { store, rendered } = bedWith(new Set(['bad']));
    await expect(store.get('bad')).rejects.toThrow('broken');
    expect(await store.getIfRenderable('bad')).toBeUndefined();
    expect(rendered).toEqual(['bad', 'bad']);
  });
});
