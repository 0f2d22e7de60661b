import { describe, expect, it } from 'vitest';
import { type Expectation, verifyExpectation, withPatience } from '../../../src/demo/tour/verify.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const EXPECTED = { what: 'it runs', withinSeconds: 10, lookAt: 'kubenode status' };

/** With the reasons of one read after the other; the last one stays. */
async function verifyReasons(
  reasons: readonly (string | Error | undefined)[],
  withinSeconds = EXPECTED.withinSeconds,
): Promise<{ readonly changes: readonly string[]; readonly ended: Promise<void> }> {
  const clock = virtualClock();
  const changes: string[] = [];
  let reads = 0;
  const reason: Expectation['reason'] = () => {
    const found = reasons[Math.min(reads, reasons.length - 1)];
    reads += 1;
    return found instanceof Error ? Promise.reject(found) : Promise.resolve(found);
  };
  const { signal } = new AbortController();
  const ended = verifyExpectation({ clock, signal }, { ...EXPECTED, withinSeconds, reason }, (text) =>
    changes.push(text),
  );
  ended.catch(() => undefined);
  for (let step = 0; step < 60; step += 1) await clock.advance(500);
  return { changes, ended };
}

describe('verifyExpectation', () => {
  it('waits until nothing is left to wait for, and reports each change once', async () => {
    const { changes, ended } = await verifyReasons(['a', 'a', 'b', undefined]);
    await ended;
    expect(changes).toEqual(['a', 'b']);
  });

  it('repeats a reason that lasts, with the time that it took so far', async () => {
    const { changes, ended } = await verifyReasons([...Array.from({ length: 45 }, () => 'a'), undefined], 60);
    await ended;
    expect(changes).toEqual(['a', 'a; 15 of at most 60 s']);
  });

  it('takes an API server that does not answer for a reason to wait', async () => {
    const { changes, ended } = await verifyReasons([new KubeError('Unreachable', 'refused'), undefined]);
    await ended;
    expect(changes).toEqual(['refused']);
  });

  it('fails after the time limit with what was observed last and what to look at', async () => {
    const { ended } = await verifyReasons(['a', 'b']);
    await expect(ended).rejects.toMatchObject({
      message: 'not verified within 10 s: it runs',
      where: 'observed last: b',
      hint: 'look at: kubenode status',
    });
  });

  it('fails at once with any other error', async () => {
    const { ended } = await verifyReasons([new Error('broken'), undefined]);
    await expect(ended).rejects.toThrow('broken');
  });
});

describe('withPatience', () => {
  const expectation: Expectation = { ...EXPECTED, reason: () => Promise.resolve(undefined) };

  it('makes the limit longer, and keeps one that holds at once', () => {
    expect(withPatience(expectation, 3).withinSeconds).toBe(30);
    expect(withPatience({ ...expectation, withinSeconds: 0 }, 3).withinSeconds).toBe(0);
  });

  it('ends before something else makes it true', () => {
    expect(withPatience({ ...expectation, mostSeconds: 15 }, 3).withinSeconds).toBe(15);
  });
});
