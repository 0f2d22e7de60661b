import { describe, expect, it } from 'vitest';
import { RetryLater } from '../../../src/agent/host/errors.ts';
import {
  createDownloads,
  type Downloads,
  type DownloadsContext,
} from '../../../src/agent/install/downloads.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

const SHA = 'a'.repeat(64);

function open(clock: VirtualClock, parts: Partial<DownloadsContext> = {}): Downloads {
  return createDownloads({
    clock,
    random: () => 0.5,
    log: memoryLog(),
    readSettings: async () => ({ mirrors: [] }),
    onEnd: () => undefined,
    ...parts,
  });
}

const unreadable = (): Promise<never> => Promise.reject(new Error('downloads.json: expected a JSON object'));

const readSettings: DownloadsContext['readSettings'] = async () => ({
  mirrors: [],
  bandwidth: { bytesPerSecond: 125_000_000, agents: 1000 },
});

function busy(retryAfterMs?: number): RetryLater {
  return new RetryLater('the server answered 503', { retryAfterMs });
}

describe('a download beside the loop of the agent', () => {
  it('is waited for while it is short, with its failure', async () => {
    const downloads = open(virtualClock(), { onEnd: () => expect.unreachable() });
    expect(await downloads.load(SHA, async () => undefined)).toBe('Loaded');
    await expect(downloads.load(SHA, () => Promise.reject(new Error('404')))).rejects.toThrow('404');
    expect(await downloads.load(SHA, async () => undefined)).toBe('Loaded');
  });

  it('goes on when it is long, once, and tells when it has ended', async () => {
    const clock = virtualClock();
    let ends = 0;
    let begins = 0;
    const content = Promise.withResolvers<void>();
    const downloads = open(clock, { onEnd: () => void (ends += 1) });
    const download = async (): Promise<void> => {
      begins += 1;
      await content.promise;
    };
    const first = downloads.load(SHA, download);
    await clock.advance(1000);
    expect(await first).toBe('Running');
    expect(await downloads.load(SHA, download)).toBe('Running');
    expect([...downloads.running()]).toEqual([SHA]);
    content.reject(new Error('reset'));
    await clock.advance(0);
    expect([begins, ends, downloads.running().size]).toEqual([1, 1, 0]);
    await expect(downloads.load(SHA, download)).rejects.toThrow('reset');
    expect(await downloads.load(SHA, async () => undefined)).toBe('Loaded');
  });

  it('ends with the agent', async () => {
    const downloads = open(virtualClock());
    const loading = downloads.load(SHA, async ({ signal }) => {
      downloads.close();
      signal.throwIfAborted();
    });
    await expect(loading).rejects.toThrow('aborted');
  });

  it('needs settings that are understood', async () => {
    const loading = open(virtualClock(), { readSettings: unreadable }).load(SHA, () => expect.unreachable());
    await expect(loading).rejects.toThrow('downloads.json: expected a JSON object');
  });
});

describe('a download from a server that is busy', () => {
  it('is tried again after the time that the server asked for', async () => {
    const clock = virtualClock();
    const log = memoryLog();
    const attemptsMs: number[] = [];
    const downloads = open(clock, { log });
    const loading = downloads.load(SHA, async () => {
      attemptsMs.push(clock.monotonicMs());
      if (attemptsMs.length < 3) throw busy(attemptsMs.length === 1 ? 30_000 : undefined);
    });
    await clock.advance(1000);
    expect(await loading).toBe('Running');
    await clock.advance(60_000);
    expect(attemptsMs).toEqual([0, 45_000, 46_000]);
    expect(downloads.running().size).toBe(0);
    expect(log.lines.map(({ fields }) => fields['because'])).toEqual([
      'the server asked to wait 30 s',
      'attempt 1 failed',
    ]);
  });

  it('fails after some failures, and then begins again', async () => {
    const clock = virtualClock();
    let attempts = 0;
    const download = (): Promise<void> => {
      attempts += 1;
      return Promise.reject(busy());
    };
    const downloads = open(clock);
    const loading = downloads.load(SHA, download);
    await clock.advance(60_000);
    expect(await loading).toBe('Running');
    expect(attempts).toBe(5);
    await expect(downloads.load(SHA, download)).rejects.toThrow('the server answered 503');
  });

  it('is reported after an hour, and not before the time that the server asked for has passed', async () => {
    const clock = virtualClock();
    let endedMs = 0;
    const downloads = open(clock, { onEnd: () => void (endedMs = clock.monotonicMs()) });
    const attemptsMs: number[] = [];
    const loading = downloads.load(SHA, () => {
      attemptsMs.push(clock.monotonicMs());
      return Promise.reject(busy(1_800_000));
    });
    await clock.advance(1000);
    expect(await loading).toBe('Running');
    await clock.advance(20_000_000);
    expect(attemptsMs).toEqual([0, 2_700_000, 5_400_000]);
    expect(endedMs).toBe(8_100_000);
  });
});

describe('downloads with a declared bandwidth', () => {
  it('begin within a window, at the share of the agent, one at a time', async () => {
    const clock = virtualClock();
    const downloads = open(clock, { readSettings });
    const events: string[] = [];
    const rates = new Set<number | undefined>();
    const loads = ['a', 'b'].map((name) =>
      downloads.load(name.repeat(64), async ({ bytesPerSecond }) => {
        rates.add(bytesPerSecond);
        events.push(`${name} begins at ${clock.monotonicMs()}`);
        await clock.sleep(5000);
        events.push(`${name} ends at ${clock.monotonicMs()}`);
      }),
    );
    await clock.advance(1000);
    expect(await Promise.all(loads)).toEqual(['Running', 'Running']);
    await clock.advance(60_000);
    expect(events).toEqual(['a begins at 10486', 'a ends at 15486', 'b begins at 15486', 'b ends at 20486']);
    expect([...rates]).toEqual([112_500]);
  });

  it('let others pass while a server asks to wait', async () => {
    const clock = virtualClock();
    const downloads = open(clock, { readSettings, random: () => 0 });
    const order: string[] = [];
    void downloads.load('a'.repeat(64), async () => {
      order.push('a');
      if (order.length === 1) throw busy(30_000);
    });
    void downloads.load('b'.repeat(64), async () => void order.push('b'));
    await clock.advance(60_000);
    expect(order).toEqual(['a', 'b', 'a']);
  });
});

describe('1,000 agents and a server that serves 50 at a time', () => {
  it('AGT-02 all end, and none returns before the time that it was asked to wait', async () => {
    const clock = virtualClock();
    const serveMs = 1000;
    const asked = new Map<number, number>();
    let [serving, most, early] = [0, 0, 0];
    const requests: number[] = [];
    const done = new Set<number>();
    const agents = Array.from({ length: 1000 }, (_, agent) => {
      const random = (): number => ((agent * 7919 + requests.length * 104_729) % 1000) / 1000;
      const download = async (): Promise<void> => {
        requests.push(clock.monotonicMs());
        if (clock.monotonicMs() < (asked.get(agent) ?? 0)) early += 1;
        if (serving === 50) {
          asked.set(agent, clock.monotonicMs() + 20_000);
          throw busy(20_000);
        }
        serving += 1;
        most = Math.max(most, serving);
        await clock.sleep(serveMs);
        serving -= 1;
        done.add(agent);
      };
      return open(clock, { random, onEnd: () => undefined }).load(SHA, download);
    });
    await clock.advance(400_000);
    await Promise.all(agents);
    expect([done.size, most, early]).toEqual([1000, 50, 0]);
    // All came at once, none of the later ones did: the jitter spreads 950 of them over 20 s.
    const later = requests.filter((atMs) => atMs > 0);
    const perSecond = Map.groupBy(later, (atMs) => Math.floor(atMs / 1000));
    expect(Math.max(...[...perSecond.values()].map((each) => each.length))).toBeLessThan(120);
  });
});
