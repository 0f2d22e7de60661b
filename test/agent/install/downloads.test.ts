import { describe, expect, it } from 'vitest';
import { createDownloads } from '../../../src/agent/install/downloads.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const SHA = 'a'.repeat(64);

describe('a download beside the loop of the agent', () => {
  it('is waited for while it is short, with its failure', async () => {
    const downloads = createDownloads(virtualClock(), () => expect.unreachable());
    expect(await downloads.load(SHA, async () => undefined)).toBe('Loaded');
    await expect(downloads.load(SHA, () => Promise.reject(new Error('404')))).rejects.toThrow('404');
    expect(await downloads.load(SHA, async () => undefined)).toBe('Loaded');
  });

  it('goes on when it is long, once, and tells when it has ended', async () => {
    const clock = virtualClock();
    let ends = 0;
    let begins = 0;
    const content = Promise.withResolvers<void>();
    const downloads = createDownloads(clock, () => void (ends += 1));
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
    const downloads = createDownloads(virtualClock(), () => undefined);
    const loading = downloads.load(SHA, async (signal) => {
      downloads.close();
      signal.throwIfAborted();
    });
    await expect(loading).rejects.toThrow('aborted');
  });
});
