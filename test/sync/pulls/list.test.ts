import { describe, expect, it } from 'vitest';
import type { PullList } from '../../../src/sync/pulls/host.ts';
import { createOpenPulls, type OpenPulls } from '../../../src/sync/pulls/list.ts';

const PULL = { number: 1, head: 'h1', isFork: false };
const LIST: PullList = {
  pulls: [PULL],
  pages: [{ pulls: [PULL], etag: '"1"', hasNext: false }],
  readTo: 1,
};

interface Bed {
  readonly open: OpenPulls;
  readonly asked: (PullList | undefined)[];
  nowMs: number;
  answer: PullList;
  read(more?: object): Promise<unknown>;
}

function createBed(): Bed {
  const bed: Bed = {
    open: createOpenPulls({ clock: { monotonicMs: () => bed.nowMs } }),
    asked: [],
    nowMs: 0,
    answer: LIST,
    read: (more = {}) => {
      const host = {
        list: async (_: object, before?: PullList) => {
          bed.asked.push(before);
          return bed.answer;
        },
      };
      return bed.open.read({ host, branch: 'main', forks: false, address: 'a', webhook: undefined, ...more });
    },
  };
  return bed;
}

describe('S22 the list of open pull requests', () => {
  it('is asked for every 30 s, and then with the list before', async () => {
    const bed = createBed();
    expect(await bed.read()).toEqual([PULL]);
    expect(bed.open.waitMs(undefined)).toBe(30_000);
    bed.nowMs = 29_999;
    await bed.read();
    expect(bed.asked).toEqual([undefined]);
    bed.nowMs = 30_000;
    expect(await bed.read()).toEqual([PULL]);
    expect(bed.asked).toEqual([undefined, expect.objectContaining(LIST) as unknown]);
  });

  it('is asked for soon after a webhook, once', async () => {
    const bed = createBed();
    await bed.read();
    bed.nowMs = 1000;
    expect(bed.open.waitMs('t1')).toBe(1000);
    bed.nowMs = 2000;
    await bed.read({ webhook: 't1' });
    expect(bed.asked).toHaveLength(2);
    expect(bed.open.waitMs('t1')).toBe(30_000);
  });

  it('is asked for whole at another address, and after it was forgotten', async () => {
    const bed = createBed();
    await bed.read();
    await bed.read({ address: 'b' });
    bed.open.forget();
    await bed.read({ address: 'b' });
    expect(bed.asked).toEqual([undefined, undefined, undefined]);
  });

  it('is asked for again at once after a failure', async () => {
    const bed = createBed();
    const host = { list: async () => Promise.reject(new Error('no answer')) };
    await expect(bed.read({ host })).rejects.toThrow('no answer');
    expect(bed.open.waitMs(undefined)).toBe(0);
    expect(await bed.read()).toEqual([PULL]);
  });
});
