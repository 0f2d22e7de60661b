import { describe, expect, it } from 'vitest';
import { KubeError } from '../../src/kube/client/errors.ts';
import { createOverload, isOverload } from '../../src/sync/overload.ts';
import { virtualClock } from '../support/virtual-clock.ts';

describe('createOverload', () => {
  it('lasts from the first refused call to the first write that succeeds', async () => {
    const clock = virtualClock();
    const overload = createOverload(clock);
    expect(overload.since()).toBeUndefined();
    const start = clock.now();
    overload.record();
    await clock.advance(90_000);
    overload.record();
    expect(overload.since()).toEqual(start);
    overload.end();
    expect(overload.since()).toBeUndefined();
  });

  it('is not ended by reads before the server would have to be tried again', async () => {
    const clock = virtualClock();
    const overload = createOverload(clock);
    overload.record();
    await clock.advance(59_000);
    overload.recordSuccess();
    expect(overload.since()).toBeDefined();
    await clock.advance(1000);
    overload.recordSuccess();
    expect(overload.since()).toBeUndefined();
  });
});

describe('isOverload', () => {
  it('is the refusal of a server, and not another failure', () => {
    expect(isOverload(new KubeError('TooManyRequests', 'slow down'))).toBe(true);
    expect(isOverload(new KubeError('Timeout', 'no answer'))).toBe(false);
    expect(isOverload(new Error('slow down'))).toBe(false);
  });
});
