import { describe, expect, it, onTestFinished } from 'vitest';
import type { Pipeline } from '../../../src/api/generated/types.ts';
import { GitHostError } from '../../../src/sync/report/git-host.ts';
import { createHostLoop, IDLE_MS } from '../../../src/sync/report/host-loop.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { reportingPipeline } from './builders.ts';

interface Given {
  readonly pipeline?: Pipeline | undefined;
  readonly held?: boolean;
  readonly step?: () => Promise<number>;
}

function start(given: Given = {}) {
  const { held = true, step = async () => IDLE_MS } = given;
  const pipeline = 'pipeline' in given ? given.pipeline : reportingPipeline();
  const [clock, log, calls] = [virtualClock(), memoryLog(), { step: 0, forgotten: 0, changes: 0 }];
  const loop = createHostLoop(
    {
      pipeline: () => pipeline,
      lease: { notHeldReason: () => (held ? undefined : 'another process has it') },
      clock,
      log,
      onChange: () => void (calls.changes += 1),
    },
    {
      what: 'commit statuses',
      forgetUnrecorded: () => void (calls.forgotten += 1),
      step() {
        calls.step += 1;
        return step();
      },
    },
  );
  onTestFinished(() => loop.close());
  loop.requeue();
  return { loop, clock, log, calls };
}

const ROUND_MS = 1000;
const UNKNOWN_HOST = new GitHostError('git.example.com has no known API');

describe('the loop that reports to a git host', () => {
  it.each<[what: string, given: Given, steps: number, forgotten: number]>([
    ['steps while the Lease is held', {}, 1, 0],
    ['forgets what is not recorded without the Lease', { held: false }, 0, 1],
    ['forgets what is not recorded without the Pipeline', { pipeline: undefined }, 0, 1],
  ])('%s', async (_, given, step, forgotten) => {
    const { clock, calls } = start(given);
    await clock.advance(ROUND_MS);
    expect(calls).toEqual({ step, forgotten, changes: 0 });
  });

  it('reports what only a person can end, once', async () => {
    const { loop, clock, calls, log } = start({ step: () => Promise.reject(UNKNOWN_HOST) });
    await clock.advance(ROUND_MS);
    await clock.advance(IDLE_MS);
    expect(loop.report()?.problem).toMatchObject({ reason: 'GitHostUnknown' });
    expect([calls.changes, log.lines]).toEqual([1, []]);
    expect(calls.step).toBeGreaterThan(1);
  });

  it('tries again sooner, and logs, when the hub does not take the record', async () => {
    const { loop, clock, calls, log } = start({ step: () => Promise.reject(new Error('the hub is away')) });
    await clock.advance(ROUND_MS);
    await clock.advance(IDLE_MS / 2);
    expect(calls.step).toBe(2);
    expect(loop.report()).toBeUndefined();
    expect(log.lines[0]).toMatchObject({ message: 'sent to the git host, but not recorded' });
  });
});
