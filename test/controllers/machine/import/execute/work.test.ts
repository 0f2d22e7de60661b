import { describe, expect, it } from 'vitest';
import { createHostWork, type HostJob } from '../../../../../src/controllers/machine/import/execute/work.ts';
import { messageOf } from '../../../../../src/os/errors.ts';
import { virtualClock } from '../../../../support/virtual-clock.ts';

function job(uid: string, run: HostJob<string>['run'], attempt = 'a'): HostJob<string> {
  return {
    machine: uid,
    uid,
    attempt,
    limitMs: 1000,
    run,
    failed: (error, failures) => `failed ${failures}: ${messageOf(error)}`,
    hasFailed: (result) => result.startsWith('failed'),
  };
}

function hang(signal: AbortSignal): Promise<string> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

function bed(atOnce?: number) {
  const clock = virtualClock();
  const work = createHostWork<string>(clock, atOnce);
  const added: string[] = [];
  const close = work.open((machine) => void added.push(machine));
  return { clock, work, added, close };
}

describe('the work on hosts', () => {
  it('runs one job of a Machine at a time, tells its end, and keeps its result for the same attempt', async () => {
    const { clock, work, added } = bed();
    work.start(job('m', async () => 'done'));
    work.start(job('m', async () => 'other'));
    expect(work.isRunning('m')).toBe(true);
    await clock.advance(0);
    expect([work.isRunning('m'), added, work.result('m', 'a'), work.result('m', 'b')]).toEqual([
      false,
      ['m'],
      'done',
      undefined,
    ]);
  });

  it('ends a job that takes too long, and counts failures in a row', async () => {
    const { clock, work } = bed();
    for (const failures of [1, 2]) {
      work.start(job('m', hang));
      await clock.advance(1000); // oxlint-disable-line no-await-in-loop -- one after the other
      expect(work.result('m', 'a')).toBe(`failed ${failures}: the step took longer than 1 s and was ended`);
    }
    work.start(job('m', async () => 'done'));
    await clock.advance(0);
    work.start(job('m', hang));
    await clock.advance(1000);
    expect(work.result('m', 'a')).toMatch('failed 1');
  });

  it('starts a bounded number of jobs, and the others in their order', async () => {
    const { clock, work } = bed(2);
    const started: string[] = [];
    for (const uid of ['a', 'b', 'c', 'd']) {
      work.start(
        job(uid, async (signal) => {
          started.push(uid);
          return await hang(signal);
        }),
      );
    }
    await clock.advance(0);
    expect(started).toEqual(['a', 'b']);
    await clock.advance(1000);
    expect(started).toEqual(['a', 'b', 'c', 'd']);
  });

  it('ends a job that is not needed any more, also one that waits, and keeps no result of it', async () => {
    const { clock, work, added } = bed(1);
    work.start(job('a', hang));
    work.start(job('b', hang));
    work.abort('a', 'a');
    expect(work.isRunning('a')).toBe(true);
    work.abort('b');
    work.abort('a', 'other');
    await clock.advance(0);
    expect([work.isRunning('a'), work.isRunning('b'), added]).toEqual([false, false, ['b', 'a']]);
    expect(work.result('a', 'a')).toBeUndefined();
  });

  it('ends all jobs when the process stops', async () => {
    const { clock, work, close } = bed();
    work.start(job('a', hang));
    work.start(job('b', async () => 'done'));
    await clock.advance(0);
    close();
    await clock.advance(0);
    expect([work.isRunning('a'), work.result('b', 'a')]).toEqual([false, 'done']);
    work.forget('b');
    expect(work.result('b', 'a')).toBeUndefined();
  });
});
