/**
 * Two or three processes compete for one Lease under every kind of fault: lost and late requests and answers,
 * partitions, suspended processes (SIGSTOP), clocks that run fast, run slow or are set. At no moment may two of them
 * be allowed to act.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KubeError } from '../../../src/kube/client/errors.ts';
import { createLeaseElection } from '../../../src/kube/leader/election.ts';
import type { HeldTerm } from '../../../src/kube/leader/renewal.ts';
import { type LeaseOptions } from '../../../src/kube/leader/settings.ts';
import type { Clock } from '../../../src/os/clock.ts';
import { createObjectServer, type ObjectServer } from '../../support/kube/object-server.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { randomFrom, runs } from '../../support/sweep-size.ts';
import { settle, type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

const NAME = { namespace: 'system', name: 'controllers' };
const STEP_MS = 200;

/** A fault of one process, at the start of a step. */
interface Fault {
  readonly step: number;
  readonly who: number;
  readonly what: 'pause' | 'resume' | 'cut' | 'heal' | 'slow' | 'wall' | 'release';
  readonly ms: number;
}

/** A moment at which a process was allowed to act, with its epoch. */
interface Act {
  readonly epoch: number;
  readonly who: number;
}

interface Process {
  readonly who: number;
  readonly clock: Clock;
  readonly terms: HeldTerm[];
  readonly paused: boolean;
  cut: boolean;
  /** Maximum delay of requests, and again of their answers. */
  slowMs: number;
  pause(): void;
  resume(): void;
  setWall(ms: number): void;
  stop(): Promise<void>;
}

describe('two or three processes', () => {
  const anyFault: fc.Arbitrary<Fault> = fc.record({
    step: fc.nat(400),
    who: fc.nat(2),
    what: fc.constantFrom('pause', 'pause', 'resume', 'resume', 'cut', 'heal', 'slow', 'wall', 'release'),
    ms: fc.nat(30_000),
  });
  const anyScenario = fc.record({
    count: fc.integer({ min: 2, max: 3 }),
    // Ten percent too fast or too slow: far worse than any real clock.
    rates: fc.array(fc.integer({ min: 90, max: 110 }), { minLength: 3, maxLength: 3 }),
    faults: fc.array(anyFault, { maxLength: 40 }),
    seed: fc.nat(),
  });

  it('are never allowed to act at the same moment, and one is in the end', async () => {
    await fc.assert(
      fc.asyncProperty(anyScenario, async ({ count, rates, faults, seed }) => {
        const { overlaps, acts, holders } = await play({ count, rates, faults, seed });
        expect(overlaps).toEqual([]);
        expect(acts.map(({ epoch }) => epoch)).toEqual(
          acts.map(({ epoch }) => epoch).toSorted((a, b) => a - b),
        );
        const owners = new Map(acts.map(({ epoch, who }) => [epoch, who]));
        expect(acts.every(({ epoch, who }) => owners.get(epoch) === who)).toBe(true);
        expect(holders).toHaveLength(1);
      }),
      runs(60, 3000),
    );
  });
});

async function play(scenario: {
  readonly count: number;
  readonly rates: readonly number[];
  readonly faults: readonly Fault[];
  readonly seed: number;
}): Promise<{ overlaps: string[]; acts: Act[]; holders: number[] }> {
  const clock = virtualClock();
  const server = createObjectServer();
  const random = randomFrom(scenario.seed);
  const processes = Array.from({ length: scenario.count }, (_, who) =>
    processOf(who, { clock, server, random, rate: (scenario.rates[who] ?? 100) / 100 }),
  );
  const overlaps: string[] = [];
  const acts: Act[] = [];
  const observe = (): void => {
    const able = processes.filter(mayAct);
    const names = able.map(({ who }) => who).join(' and ');
    if (able.length > 1) overlaps.push(`${names} at ${clock.monotonicMs()}`);
    for (const { who, terms } of able) acts.push({ who, epoch: terms.at(-1)?.epoch ?? 0 });
  };

  for (let step = 0; step < 400; step += 1) {
    for (const fault of scenario.faults.filter((one) => one.step === step)) {
      const process = processes[fault.who];
      if (process) await applyFault(process, fault);
      // Including the moment of resuming, before any code of the process runs.
      observe();
    }
    await clock.advance(STEP_MS);
    observe();
  }
  for (const process of processes) Object.assign(process, { cut: false, slowMs: 0 });
  for (const process of processes) process.resume();
  observe();
  await clock.advance(120_000);
  const holders = processes.filter(mayAct).map(({ who }) => who);
  const stopped = Promise.all(processes.map((process) => process.stop()));
  await clock.advance(60_000);
  await stopped;
  expect(clock.sleepers).toBe(0);
  return { overlaps, acts, holders };
}

function mayAct({ paused, terms }: Process): boolean {
  return !paused && (terms.at(-1)?.held() ?? false);
}

async function applyFault(process: Process, { what, ms }: Fault): Promise<void> {
  const acts: Readonly<Record<Fault['what'], () => void>> = {
    pause: () => process.pause(),
    resume: () => process.resume(),
    cut: () => (process.cut = true),
    heal: () => Object.assign(process, { cut: false, slowMs: 0 }),
    slow: () => (process.slowMs = ms),
    wall: () => process.setWall(ms - 15_000),
    release: () => {
      if (!process.paused) void process.terms.at(-1)?.release();
    },
  };
  acts[what]();
  await settle();
}

interface Environment {
  readonly clock: VirtualClock;
  readonly server: ObjectServer;
  readonly random: () => number;
  readonly rate: number;
}

/** A process that campaigns again after each term. */
function processOf(who: number, { clock, server, random, rate }: Environment): Process {
  let wallMs = who * 3_600_000;
  let paused = false;
  let awake = Promise.withResolvers<void>();
  const stop = new AbortController();
  const own: Clock = {
    now: () => new Date(clock.now().getTime() + wallMs),
    monotonicMs: () => clock.monotonicMs() * rate,
    sleep: async (ms, signal) => {
      // A real timer takes a millisecond at least; less than the precision of the clock would never elapse.
      await clock.sleep(ms > 0 ? Math.max(ms / rate, 0.001) : 0, signal);
      await running();
      signal?.throwIfAborted();
    },
  };
  const process: Process = {
    who,
    clock: own,
    terms: [],
    get paused() {
      return paused;
    },
    cut: false,
    slowMs: 0,
    pause: () => {
      if (!paused) awake = Promise.withResolvers<void>();
      paused = true;
    },
    resume: () => {
      paused = false;
      awake.resolve();
    },
    setWall: (ms) => {
      wallMs += ms;
    },
    stop: async () => {
      stop.abort();
      await campaigning;
      await process.terms.at(-1)?.release();
    },
  };
  const election = createLeaseElection({
    client: clientOf(process),
    name: NAME,
    identity: `process-${who}`,
    clock: own,
    random,
    log: memoryLog(),
  });
  const campaigning = campaign();
  return process;

  /** A suspended process handles no answer and no timer. */
  async function running(): Promise<void> {
    while (process.paused) await awake.promise;
  }

  async function campaign(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        const term = await election.campaign(stop.signal);
        process.terms.push(term);
        await new Promise<void>((resolve) => {
          term.lost.addEventListener('abort', () => resolve(), { once: true });
          stop.signal.addEventListener('abort', () => resolve(), { once: true });
          if (term.lost.aborted || stop.signal.aborted) resolve();
        });
      } catch {
        return; // stopped
      }
    }
  }

  function clientOf(self: Process): LeaseOptions['client'] {
    const call =
      (method: 'get' | 'create' | 'replace' | 'patch') =>
      async (...args: unknown[]): Promise<unknown> => {
        const answer = travel(self, () =>
          (server[method] as (...all: unknown[]) => Promise<unknown>)(...args),
        );
        const { timeoutMs = 5000 } = (args.at(-1) ?? {}) as { timeoutMs?: number };
        return await firstOf(answer, timeoutMs);
      };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- generic port
    return {
      get: call('get'),
      create: call('create'),
      replace: call('replace'),
      patch: call('patch'),
    } as unknown as LeaseOptions['client'];
  }

  /** Request and answer may each be late or lost. A late request still takes effect. */
  async function travel<T>(self: Process, act: () => Promise<T>): Promise<T> {
    await clock.sleep(random() * self.slowMs);
    if (self.cut && random() < 0.8) await new Promise(() => {});
    const result = await act().then(
      (value) => () => value,
      (error: unknown) => () => {
        throw error;
      },
    );
    await clock.sleep(random() * self.slowMs);
    if (self.cut) await new Promise(() => {});
    return result();
  }

  async function firstOf<T>(answer: Promise<T>, timeoutMs: number): Promise<T> {
    const done = new AbortController();
    answer.catch(() => {});
    const late = clock.sleep(timeoutMs / rate, done.signal).then(
      () => {
        throw new KubeError('Timeout', 'no answer');
      },
      () => new Promise<never>(() => {}),
    );
    try {
      return await Promise.race([answer, late]);
    } finally {
      done.abort();
      await running();
    }
  }
}
