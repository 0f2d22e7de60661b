import { describe, expect, it } from 'vitest';
import { createRenderQueue } from '../../../src/sync/render/render-queue.ts';
import { settle, virtualClock } from '../../support/virtual-clock.ts';

describe('createRenderQueue', () => {
  it('lets the repository go first that used the least time with its last render', async () => {
    const clock = virtualClock();
    const queue = createRenderQueue(1, clock);
    const journal: string[] = [];
    const render = (repository: string, ms: number): Promise<void> =>
      queue.add(repository, async () => {
        journal.push(repository);
        await clock.sleep(ms);
      });
    const first = [render('loops', 60_000), render('slow', 5000), render('quick', 1000)];
    await clock.advance(66_000);
    await Promise.all(first);
    journal.length = 0;
    const blocker = render('first', 1000);
    await settle();
    const waiting = ['loops', 'slow', 'quick', 'new'].map((repository) => render(repository, 0));
    await clock.advance(1000);
    await Promise.all([blocker, ...waiting]);
    expect(journal).toEqual(['first', 'new', 'quick', 'slow', 'loops']);
  });

  it('does not start a render that was canceled while it waited, and rejects it at once', async () => {
    const queue = createRenderQueue(1, virtualClock());
    const started: string[] = [];
    const first = Promise.withResolvers<void>();
    const running = queue.add('a', () => first.promise);
    const cancel = new AbortController();
    const waiting = queue.add('b', async () => void started.push('b'), cancel.signal);
    cancel.abort(new Error('newer head'));
    await expect(waiting).rejects.toThrow('newer head');
    first.resolve();
    await running;
    await queue.add('c', async () => void started.push('c'));
    expect(started).toEqual(['c']);
  });
});
