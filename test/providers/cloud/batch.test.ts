import { describe, expect, it } from 'vitest';
import { createBatch } from '../../../src/providers/cloud/batch.ts';

const NEVER = new AbortController().signal;

/** Answers with the key in upper case when the test calls `answer`; `x` is not found. */
function bed(limit = 100): {
  readonly requests: (readonly string[])[];
  readonly batch: ReturnType<typeof createBatch<string>>;
  readonly answer: (error?: Error) => Promise<void>;
} {
  const requests: (readonly string[])[] = [];
  const open: PromiseWithResolvers<void>[] = [];
  const batch = createBatch<string>(async (keys) => {
    requests.push(keys);
    const gate = Promise.withResolvers<void>();
    open.push(gate);
    await gate.promise;
    return new Map(keys.filter((key) => key !== 'x').map((key) => [key, key.toUpperCase()]));
  }, limit);
  return {
    requests,
    batch,
    async answer(error) {
      const gate = open.shift();
      if (error) gate?.reject(error);
      else gate?.resolve();
      await new Promise(setImmediate);
    },
  };
}

describe('createBatch', () => {
  it('asks once for all that came while a request was under way', async () => {
    const { batch, requests, answer } = bed();
    const first = batch.lookUp('a', NEVER);
    const later = ['c', 'b', 'c', 'x'].map((key) => batch.lookUp(key, NEVER));
    await answer();
    await answer();
    expect([await first, await Promise.all(later)]).toEqual(['A', ['C', 'B', 'C', undefined]]);
    expect(requests).toEqual([['a'], ['b', 'c', 'x']]);
  });

  it('never answers by a request that was sent before the question', async () => {
    const { batch, requests, answer } = bed();
    const both = [batch.lookUp('a', NEVER), batch.lookUp('a', NEVER)];
    await answer();
    await answer();
    expect(await Promise.all(both)).toEqual(['A', 'A']);
    expect(requests).toEqual([['a'], ['a']]);
  });

  it('asks for no more keys at once than the limit', async () => {
    const { batch, requests, answer } = bed(2);
    const all = ['a', 'b', 'c', 'd', 'e', 'b'].map((key) => batch.lookUp(key, NEVER));
    for (const _ of ['a', 'b c', 'd e']) await answer();
    expect(await Promise.all(all)).toEqual(['A', 'B', 'C', 'D', 'E', 'B']);
    expect(requests).toEqual([['a'], ['b', 'c'], ['d', 'e']]);
  });

  it('fails all look-ups of a request that failed, and no others', async () => {
    const { batch, answer } = bed();
    const first = batch.lookUp('a', NEVER);
    const second = batch.lookUp('b', NEVER);
    const both = Promise.allSettled([first, second]);
    await answer(new Error('lost'));
    await answer();
    expect(await both).toMatchObject([{ reason: { message: 'lost' } }, { value: 'B' }]);
  });

  it('gives up the look-up that was stopped, and answers the others', async () => {
    const { batch, answer } = bed();
    const stop = new AbortController();
    const both = Promise.allSettled([batch.lookUp('a', stop.signal), batch.lookUp('b', NEVER)]);
    stop.abort(new Error('stopped'));
    await answer();
    await answer();
    expect(await both).toMatchObject([{ reason: { message: 'stopped' } }, { value: 'B' }]);
  });

  it('sends nothing for a look-up that was stopped before', async () => {
    const { batch, requests } = bed();
    await expect(batch.lookUp('a', AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
    expect(requests).toEqual([]);
  });
});
