import { describe, expect, it } from 'vitest';
import { createSendFailures } from '../../../src/sync/report/failures.ts';
import type { SendFailure } from '../../../src/sync/report/outcome.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const DOWN: SendFailure = { reason: 'Unreachable', message: 'down', isTemporary: true };
const REFUSED: SendFailure = { reason: 'Refused', message: 'no such commit', isTemporary: false };

function failures() {
  const clock = virtualClock();
  return { clock, found: createSendFailures({ clock, random: () => 1 }) };
}

describe('S26 failures of the git host', () => {
  it('make it wait longer and longer, five minutes at most, and are forgotten with an answer', () => {
    const { found } = failures();
    expect([1, 2, 3].map(() => found.failed('c1', DOWN))).toEqual([2000, 4000, 8000]);
    for (let more = 0; more < 20; more += 1) found.failed('c1', DOWN);
    expect(found.hostWaitMs()).toBe(300_000);
    found.succeeded('c1');
    expect([found.hostWaitMs(), found.report()]).toEqual([0, {}]);
  });

  it('wait as long as the host asks', async () => {
    const { clock, found } = failures();
    found.failed('c1', { ...DOWN, retryAfterSeconds: 600 });
    expect(found.hostWaitMs()).toBeGreaterThanOrEqual(600_000);
    await clock.advance(700_000);
    expect(found.hostWaitMs()).toBe(0);
  });

  it('are forgotten when the address or the token changes, and kept while both stay', () => {
    const { found } = failures();
    found.keepOnlyOf('one');
    found.failed('c1', { ...REFUSED, retryAfterSeconds: 600 });
    found.keepOnlyOf('one');
    expect(found.hostWaitMs()).toBeGreaterThanOrEqual(600_000);
    found.keepOnlyOf('two');
    expect([found.hostWaitMs(), found.blockedForMs().size, found.report()]).toEqual([0, 0, {}]);
  });

  it('S22 keep a pull request that cannot be planned waiting, and are reported although others succeed', () => {
    const { found } = failures();
    const notPlanned: SendFailure = { reason: 'NotPlanned', message: 'no answer', isTemporary: true };
    for (let again = 0; again < 3; again += 1) {
      expect(found.report()).toEqual({});
      found.failed('1', notPlanned);
      found.succeeded('2');
    }
    expect(found.hostWaitMs()).toBe(0);
    expect([...found.blockedForMs()]).toEqual([['1', 8000]]);
    expect(found.report()).toEqual({
      problem: { status: 'Unknown', reason: 'NotPlanned', message: 'no answer' },
    });
  });

  it('S22 of what is written stay when the host answers a question, and those of the question end', () => {
    const { found } = failures();
    found.failed('1', DOWN);
    found.answered('list');
    expect(found.failed('1', DOWN)).toBe(4000);
    found.failed('list', REFUSED);
    found.answered('list');
    expect([found.hostWaitMs(), found.report()]).toEqual([0, {}]);
  });

  it('S22 of plans delay the host by the first step only: it has no part in them', () => {
    const { found } = failures();
    const notPlanned: SendFailure = { reason: 'NotPlanned', message: 'no answer', isTemporary: true };
    expect([1, 2, 3].map(() => found.failed('1', notPlanned))).toEqual([2000, 2000, 2000]);
    expect([...found.blockedForMs()]).toEqual([['1', 8000]]);
  });

  it('are reported when they last, as unknown', () => {
    const { found } = failures();
    found.failed('c1', DOWN);
    found.failed('c1', DOWN);
    expect(found.report()).toEqual({});
    found.failed('c1', DOWN);
    expect(found.report()).toEqual({
      problem: { status: 'Unknown', reason: 'Unreachable', message: 'down' },
    });
    expect(found.blockedForMs().size).toBe(0);
  });

  it('that only a person ends are reported at once, and hold back their commit alone', () => {
    const { found } = failures();
    found.failed('c1', REFUSED);
    const problem = { status: 'False', reason: 'Refused', message: 'no such commit' };
    expect(found.report()).toEqual({ problem });
    expect([...found.blockedForMs()]).toEqual([['c1', 2000]]);
    found.succeeded('c2');
    expect([found.hostWaitMs(), found.report()]).toEqual([0, { problem }]);
    found.keepOnly(['c2']);
    expect([found.blockedForMs().size, found.report()]).toEqual([0, {}]);
  });
});
