import { describe, expect, it } from 'vitest';
import { whenAborted, withDeadline } from '../../src/os/deadline.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';

const clock = createSystemClock();
const expired = (): Error => new Error('too late');

describe('withDeadline', () => {
  it('returns what the work returns', async () => {
    const { signal } = new AbortController();
    expect(await withDeadline({ clock, ms: 60_000, signal, expired }, () => Promise.resolve(1))).toBe(1);
  });

  it('ends the work with the error of the deadline, or with the reason of the caller', async () => {
    const { signal } = new AbortController();
    await expect(withDeadline({ clock, ms: 1, signal, expired }, untilAborted)).rejects.toThrow('too late');
    const stopped = AbortSignal.abort(new Error('stopped'));
    await expect(withDeadline({ clock, ms: 60_000, signal: stopped, expired }, untilAborted)).rejects.toThrow(
      'stopped',
    );
  });
});

describe('whenAborted', () => {
  it('reports a signal that is aborted already, but not within the call', async () => {
    const reasons: string[] = [];
    whenAborted(AbortSignal.abort(new Error('before')), ({ message }) => void reasons.push(message));
    expect(reasons).toEqual([]);
    await Promise.resolve();
    expect(reasons).toEqual(['before']);
  });

  it('reports nothing after the listener is removed', () => {
    const controller = new AbortController();
    const reasons: unknown[] = [];
    whenAborted(controller.signal, (reason) => void reasons.push(reason))();
    controller.abort();
    expect(reasons).toEqual([]);
  });
});

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => void whenAborted(signal, reject));
}
