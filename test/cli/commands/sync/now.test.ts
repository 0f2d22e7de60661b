import { describe, expect, it } from 'vitest';
import { formatHead, servedPipeline } from '../../../../src/cli/commands/sync/now.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';
import { pipeline } from '../builders.ts';

const DOWN = { type: 'SourceReady', status: 'False', message: 'no route to host' };

describe('sync now', () => {
  it('waits until the request was served, and looks now and then whether a process syncs', async () => {
    const clock = virtualClock();
    const calls = { checks: 0, reads: 0 };
    const ports = {
      checkSynced: async () => void (calls.checks += 1),
      read: async () => {
        calls.reads += 1;
        return pipeline({ head: calls.reads > 20 ? { polledFor: 'now' } : {} });
      },
    };
    const { signal } = new AbortController();
    const served = servedPipeline({ clock, signal }, ports, 'now');
    await clock.advance(10_000);
    expect((await served).status?.head).toEqual({ polledFor: 'now' });
    expect(calls).toEqual({ checks: 3, reads: 21 });

    const never = servedPipeline({ clock, signal }, ports, 'later').catch(String);
    await clock.advance(60_000);
    expect(await never).toContain('sync has not read the repository within 60 s');
  });

  it.each<[name: string, status: object, text: string]>([
    ['an accepted head', { head: { commit: 'c1', verdict: 'Accepted' } }, 'head c1, Accepted'],
    [
      'a refused head',
      { head: { commit: 'c1', verdict: 'Refused', message: 'a.ts:3: no' } },
      'head c1, Refused: a.ts:3: no',
    ],
    [
      'a repository that could not be read',
      { head: { commit: 'c0', verdict: 'Accepted' }, conditions: [DOWN] },
      'head c0, Accepted: no route to host',
    ],
    [
      'a repository that was never read',
      { head: {}, conditions: [DOWN] },
      'head no commit, Unknown: no route to host',
    ],
  ])('prints %s with its reason', (_, status, text) => {
    expect(formatHead(pipeline({ conditions: [], ...status }))).toBe(`pipeline fleet: ${text}`);
  });
});
