import { describe, expect, it } from 'vitest';
import {
  createEventsReader,
  createEventsTurns,
  createExplainer,
  createExplainTurns,
} from '../../../src/console/server/explainer.ts';
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

  it('CON-32 reads one machine at a time for one person, and refuses what would wait long', async () => {
    const { clock, begun, explain, settle } = bed();
    const asked = Array.from({ length: 4 }, (_, index) => explain('prod', `m-${index}`));
    await clock.advance(0);
    expect(begun).toEqual(['m-0']);
    expect(await asked[3]).toEqual({ problem: expect.stringContaining('too many machines') as string });
    settle('m-0');
    await asked[0];
    await clock.advance(0);
    expect(begun).toEqual(['m-0', 'm-1']);
    // A refusal is not kept: there is a turn now.
    settle('m-1');
    await asked[1];
    settle('m-2');
    const again = explain('prod', 'm-3');
    await clock.advance(0);
    settle('m-3');
    expect(await again).toMatchObject({ text: 'why m-3' });
  });

  it('CON-32 reads two machines at a time for all people, and one person never takes all turns', async () => {
    const turns = createExplainTurns();
    const [anna, ben, carl] = [bed(turns), bed(turns), bed(turns)];
    for (const name of ['m-1', 'm-2', 'm-3']) void anna.explain('prod', name);
    void ben.explain('prod', 'm-4');
    void carl.explain('prod', 'm-5');
    await ben.clock.advance(0);
    expect([anna.begun, ben.begun, carl.begun]).toEqual([['m-1'], ['m-4'], []]);
    anna.settle('m-1');
    await expect.poll(() => carl.begun).toEqual(['m-5']);
  });

  it('CON-32 counts the wait for a turn, and does not begin later what was answered', async () => {
    const clock = virtualClock();
    const begun: string[] = [];
    const first = Promise.withResolvers<string>();
    const explain = createExplainer({
      clock,
      turns: createExplainTurns(),
      signal: new AbortController().signal,
      isShown: () => true,
      explain: (_cluster, name) => {
        begun.push(name);
        return first.promise;
      },
    });
    void explain('prod', 'm-1');
    const waiting = explain('prod', 'm-2');
    await clock.advance(30_000);
    expect(await waiting).toEqual({ problem: 'no answer within 30 s' });
    first.resolve('why');
    await clock.advance(0);
    expect(begun).toEqual(['m-1']);
  });

  it('CON-32 answers in time also if the work does not end with its signal', async () => {
    const clock = virtualClock();
    const explain = createExplainer({
      clock,
      turns: createExplainTurns(),
      signal: new AbortController().signal,
      isShown: () => true,
      explain: () => new Promise<string>(() => undefined),
    });
    const answer = explain('prod', 'm-1');
    await clock.advance(30_000);
    expect(await answer).toEqual({ problem: 'no answer within 30 s' });
  });

  it('CON-32 states why there is no answer: an error, and one that takes too long', async () => {
    const { clock, explain, ends } = bed();
    const refused = explain('prod', 'm-1');
    await clock.advance(0);
    ends.get('m-1')?.reject(new Error('you may not list machines'));
    expect(await refused).toEqual({ problem: 'you may not list machines' });
    const slow = explain('prod', 'm-2');
    await clock.advance(30_000);
    expect(await slow).toEqual({ problem: 'no answer within 30 s' });
  });
});

describe('the reader of events', () => {
  it('CON-32 reads once for all who ask, within its turns and its time, and states what failed', async () => {
    const clock = virtualClock();
    const begun: string[] = [];
    const read = createEventsReader({
      clock,
      turns: createEventsTurns(),
      signal: new AbortController().signal,
      isShown: (cluster) => cluster === 'prod',
      read: (_cluster, name) => {
        begun.push(name);
        return name === 'm-1' ? Promise.resolve({ events: [] }) : new Promise(() => undefined);
      },
    });
    expect(read('other', 'm-1')).toBeUndefined();
    expect(await Promise.all([read('prod', 'm-1'), read('prod', 'm-1')])).toEqual([
      { events: [] },
      { events: [] },
    ]);
    expect(begun).toEqual(['m-1']);
    const asked = ['m-2', 'm-3', 'm-4', 'm-5'].map((name) => read('prod', name));
    expect((await asked[3])?.problem).toContain('too many machines');
    await clock.advance(15_000);
    expect(await asked[0]).toEqual({ events: [], problem: 'no answer within 15 s' });
    expect(begun).toEqual(['m-1', 'm-2']);
  });
});
