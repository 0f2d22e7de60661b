import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readLogMonitor } from '../../../../src/agent/detector/config/log-monitor.ts';
import { readSupplement } from '../../../../src/agent/detector/config/supplement.ts';
import { createLogMonitor } from '../../../../src/agent/detector/monitors/log-monitor-run.ts';
import type {
  ProblemMonitor,
  SavedMonitor,
} from '../../../../src/agent/detector/monitors/problem-monitor.ts';
import type { FollowOptions, LogSource } from '../../../../src/agent/detector/sources/log-source.ts';
import { fileMonitor, journalMonitor } from '../../../support/agent/detector-config.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { NOW, type VirtualClock, virtualClock } from '../../../support/virtual-clock.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const config = readLogMonitor(fileMonitor, 'file.json');
const counting = readSupplement({
  source: 'hung-task-monitor',
  rules: [{ reason: 'TaskHung', count: 3, windowSeconds: 300 }],
}).apply(readLogMonitor(journalMonitor, 'hung.json'));

let clock: VirtualClock;
let abort: AbortController;
let running: Promise<void> | undefined;
let followed: FollowOptions;

beforeEach(() => {
  clock = virtualClock();
  abort = new AbortController();
});

afterEach(async () => {
  abort.abort();
  await running;
});

describe('log monitor', () => {
  it('AGT-73 counts lines since its start, without those of an earlier boot', () => {
    start(config, 10 * MINUTE_MS);
    expect(followed.since()).toEqual(NOW);
    start({ ...config, lookbackMs: 5 * MINUTE_MS }, 10 * MINUTE_MS);
    expect(followed.since()).toEqual(ago(5 * MINUTE_MS));
    start({ ...config, lookbackMs: HOUR_MS }, 10 * MINUTE_MS);
    expect(followed.since()).toEqual(ago(10 * MINUTE_MS));
    start({ ...config, lookbackMs: HOUR_MS, delayMs: MINUTE_MS }, 10 * MINUTE_MS);
    expect(followed.since()).toEqual(ago(9 * MINUTE_MS));
  });

  it('AGT-73 counts all lines of this boot that were not read before a restart of the agent', () => {
    start(config, 10 * MINUTE_MS, { conditions: [], position: '1:2' });
    expect(followed.since()).toEqual(ago(10 * MINUTE_MS));
  });

  it('AGT-70 moves with a clock that is set back, and not with one that is set forward', async () => {
    start(config, 10 * MINUTE_MS);
    clock.jumpWall(-HOUR_MS);
    expect(followed.since()).toEqual(ago(HOUR_MS));
    await clock.advance(MINUTE_MS);
    expect(followed.since()).toEqual(ago(HOUR_MS));
    clock.jumpWall(3 * HOUR_MS);
    expect(followed.since()).toEqual(NOW);
  });

  it('AGT-70 keeps the message and the time of the first of two lines that came in one read', async () => {
    const monitor = start(config, HOUR_MS);
    await deliver(
      [7, 8].map((second) => ({ time: ago(60_000 - second * 1000), message: `bad line ${second}` })),
    );
    expect(monitor.conditions()).toEqual([
      {
        type: 'FileProblem',
        status: 'True',
        reason: 'BadLine',
        message: 'bad line 7',
        since: ago(53_000).toISOString(),
      },
    ]);
    expect(monitor.takeEvents()).toHaveLength(1);
  });

  it('AGT-73 ends a window in time, also when the clock is set back or forward', async () => {
    const monitor = start(counting, HOUR_MS);
    await deliver([0, 10, 20].map((second) => hungTask(second)));
    expect(statusOf(monitor)).toBe('True');
    clock.jumpWall(-HOUR_MS);
    monitor.judge();
    await clock.advance(279_000);
    expect(judged(monitor)).toBe('True');
    clock.jumpWall(2 * HOUR_MS);
    expect(judged(monitor)).toBe('True');
    await clock.advance(1000);
    expect(judged(monitor)).toBe('False');
  });

  it('AGT-73 counts a line that was written before the clock was set back from the time at which it is read', async () => {
    const monitor = start(counting, HOUR_MS);
    clock.jumpWall(-HOUR_MS);
    await deliver([0, 10, 20].map((second) => hungTask(second)));
    await clock.advance(299_000);
    expect(judged(monitor)).toBe('True');
    await clock.advance(1000);
    expect(judged(monitor)).toBe('False');
  });

  it('AGT-73 does the same with what an agent before it saved', async () => {
    const time = NOW.getTime() + HOUR_MS;
    const evidence = [{ condition: 'FrequentTaskHung', reason: 'TaskHung', atMs: time, message: 'hung' }];
    const saved = {
      conditions: [],
      evidence: evidence.map((each) => ({ ...each, timesMs: [time, time, time] })),
    };
    const monitor = start(counting, 2 * HOUR_MS, saved);
    expect(judged(monitor)).toBe('True');
    await clock.advance(300_000);
    expect(judged(monitor)).toBe('False');
  });
});

function start(monitor: typeof config, uptimeMs: number, saved?: SavedMonitor): ProblemMonitor {
  const source: LogSource = {
    async follow(options) {
      followed = options;
      options.opened();
      const { promise, resolve } = Promise.withResolvers<void>();
      options.signal.addEventListener('abort', () => resolve());
      await promise;
    },
  };
  const bootedMonotonicMs = clock.monotonicMs() - uptimeMs;
  const bootedMs = (): number => clock.now().getTime() - (clock.monotonicMs() - bootedMonotonicMs);
  const common = { source, bootedMs, clock, log: memoryLog(), onChange: () => undefined };
  const created = createLogMonitor({ ...common, config: monitor, ...(saved && { saved }) });
  running = created.run(abort.signal);
  return created;
}

async function deliver(lines: Parameters<FollowOptions['deliver']>[0]['lines']): Promise<void> {
  await followed.deliver({ lines, position: '1' });
}

function hungTask(second: number): { readonly time: Date; readonly message: string } {
  const time = new Date(NOW.getTime() + second * 1000 - 20_000);
  return { time, message: `task java:${second} blocked for more than 120 seconds.` };
}

function statusOf(monitor: ProblemMonitor): string | undefined {
  return monitor.conditions()[0]?.status;
}

function judged(monitor: ProblemMonitor): string | undefined {
  monitor.judge();
  return statusOf(monitor);
}

function ago(ms: number): Date {
  return new Date(NOW.getTime() - ms);
}
