import { describe, expect, it } from 'vitest';
import { createExplainer, createExplainTurns } from '../../../src/console/server/explainer.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

function bed(turns = createExplainTurns()) {
  const clock = virtualClock();
  const stop = new AbortController();
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<string>>();
  const explain = createExplainer({
    clock,
    turns,
    signal: stop.signal,
    isShown: (cluster) => cluster === 'prod',
    explain: (_cluster, name, signal) => {
      begun.push(name);
      const end = Promise.withResolvers<string>();
      ends.set(name, end);
      signal.addEventListener('abort', () => end.reject(signal.reason));
      return end.promise;
    },
  });
  const settle = (name: string, text = `why ${name}`): void => ends.get(name)?.resolve(text);
  return { clock, stop, begun, ends, explain, settle };
}

describe('the explainer', () => {
  it('CON-32 answers all who ask for a machine at once, and some seconds after, with one explanation', async () => {
    const { clock, begun, explain, settle } = bed();
    const answers = [explain('prod', 'm-1'), explain('prod', 'm-1')];
    await clock.advance(0);
    settle('m-1');
    expect([await answers[0], await answers[1]]).toEqual([
      { text: 'why m-1', at: clock.now().toISOString() },
      { text: 'why m-1', at: clock.now().toISOString() },
    ]);
    await explain('prod', 'm-1');
    expect(begun).toEqual(['m-1']);
    await clock.advance(5000);
    void explain('prod', 'm-1');
    await clock.advance(0);
    expect(begun).toEqual(['m-1', 'm-1']);
  });

  it('CON-32 explains no machine that the page does not show: the kubeconfig may have other clusters', () => {
    const { begun, explain } = bed();
    expect(explain('other', 'm-1')).toBeUndefined();
    expect(begun).toEqual([]);
  });

  it('CON-32 reads two clusters at a time, and refuses what would wait long', async () => {
    const { clock, begun, explain, settle } = bed();
    const asked = Array.from({ length: 11 }, (_, index) => explain('prod', `m-${index}`));
    await clock.advance(0);
    expect(begun).toEqual(['m-0', 'm-1']);
    expect(await asked[10]).toEqual({ problem: expect.stringContaining('too many machines') as string });
    settle('m-0');
    await asked[0];
    await clock.advance(0);
    expect(begun).toEqual(['m-0', 'm-1', 'm-2']);
  });

  it('CON-32 shares its turns with the explainers of other people', async () => {
    const turns = createExplainTurns();
    const [anna, ben] = [bed(turns), bed(turns)];
    void anna.explain('prod', 'm-1');
    void anna.explain('prod', 'm-2');
    const answer = ben.explain('prod', 'm-3');
    await ben.clock.advance(0);
    expect(ben.begun).toEqual([]);
    anna.settle('m-1');
    await expect.poll(() => ben.begun).toEqual(['m-3']);
    ben.settle('m-3');
    expect(await answer).toMatchObject({ text: 'why m-3' });
  });

  it('CON-32 states why there is no answer: an error, and one that takes too long', async () => {
    const { clock, explain, ends } = bed();
    const refused = explain('prod', 'm-1');
    const slow = explain('prod', 'm-2');
    await clock.advance(0);
    ends.get('m-1')?.reject(new Error('you may not list machines'));
    expect(await refused).toEqual({ problem: 'you may not list machines' });
    await clock.advance(30_000);
    expect(await slow).toEqual({ problem: 'no answer within 30 s' });
  });
});
