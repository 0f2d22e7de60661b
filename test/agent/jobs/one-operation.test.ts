import { describe, expect, it } from 'vitest';
import type { Host } from '../../../src/agent/host/port.ts';
import { changingComponent } from '../../../src/agent/jobs/circumstances.ts';
import { begunStep } from '../../../src/agent/journal/jobs.ts';
import { parseJournal } from '../../../src/agent/journal/journal.ts';
import { applyRecord, EMPTY_JOURNAL } from '../../../src/agent/journal/progress.ts';
import { JOURNAL_FILE } from '../../../src/agent/layout.ts';
import type { Condition, MachineComponentReport } from '../../../src/api/generated/types.ts';
import { componentSpec } from '../../support/agent/component-spec.ts';
import { createJobHost, type JobHost } from '../../support/agent/job-host.ts';
import { later, repairJob } from '../../support/agent/jobs.ts';
import { slice } from '../../support/sweep-size.ts';

const [V1, V2] = [
  componentSpec('1.0', { commitAfterSeconds: 5 }),
  componentSpec('1.1', { commitAfterSeconds: 5 }),
];
const STOP_MS = 3000;
const START_MS = 2000;

interface Witness {
  readonly host: Host;
  /** Moments at which a job and a component change were both under way. */
  readonly violations: readonly string[];
}

/** Stops and starts take time, and each record of the journal is checked against all that came before it. */
function watched({ host, clock }: JobHost): Witness {
  const violations: string[] = [];
  const slow = (name: 'stop' | 'start', ms: number) => async (unit: string) => {
    await clock.sleep(ms);
    await host.units[name](unit);
  };
  const units = bound(host.units, { stop: slow('stop', STOP_MS), start: slow('start', START_MS) });
  const files = bound(host.files, {
    append: async (path: string, content: Uint8Array) => {
      await host.files.append(path, content);
      const text = new TextDecoder().decode(await host.files.read(JOURNAL_FILE));
      const state = parseJournal(text).records.reduce(applyRecord, EMPTY_JOURNAL);
      const [step, component] = [begunStep(state.jobs), changingComponent(state)];
      if (step && component !== undefined) violations.push(`${step.action} beside a change of ${component}`);
    },
  });
  return { host: { ...host, units, files }, violations };
}

function bound<T extends object>(original: T, replaced: Partial<T>): T {
  return new Proxy(original, {
    get(target, name) {
      if (Object.hasOwn(replaced, name)) return Reflect.get(replaced, name) as unknown;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

interface Found {
  readonly violations: readonly string[];
  readonly waits: ReadonlySet<string | undefined>;
  readonly answer: string | undefined;
  readonly component: string;
  readonly corrections: number | undefined;
}

/** The job is released so many seconds after the new version is declared. */
async function run(releaseAfter: number): Promise<Found> {
  const jobs = await createJobHost();
  const { host, violations } = watched(jobs);
  jobs.api.declare([V1]);
  const agent = await jobs.start(host);
  const stop = new AbortController();
  const running = agent.run(stop.signal);
  const waits = new Set<string | undefined>();
  const events = [
    { at: 40, happens: () => jobs.api.declare([V2]) },
    { at: 40 + releaseAfter, happens: () => release(jobs) },
  ].toSorted((a, b) => a.at - b.at);
  for (let seconds = 0; seconds < 150; seconds += 0.5) {
    await jobs.clock.advance(500);
    while (events[0] && events[0].at <= seconds) events.shift()?.happens();
    for (const wait of waitsOf(jobs)) waits.add(wait);
    settleJob(jobs);
  }
  stop.abort();
  await jobs.clock.advance(20_000);
  await running;
  return { violations, waits, answer: jobs.answer()?.state, ...describeComponent(componentOf(jobs)) };
}

function describeComponent(
  report: MachineComponentReport | undefined,
): Pick<Found, 'component' | 'corrections'> {
  const { state, currentRef, corrections } = report ?? { name: 'proxy' };
  return { component: `${state} ${currentRef}`, corrections };
}

function componentOf({ api }: JobHost): MachineComponentReport | undefined {
  return api.statuses.at(-1)?.components?.[0];
}

function release({ api, clock }: JobHost): void {
  const spec = { grant: { id: 'g', fence: 1, issuedAt: later(0), notAfter: later(3600) } };
  const released = { notAfter: later(55, clock.now()) };
  api.repairs.set('job-1', repairJob({ plan: { with: { service: 'proxy' } }, release: released, spec }));
}

function waitsOf(jobs: JobHost): readonly (string | undefined)[] {
  const answer = jobs.answer();
  const isAnnounced = answer?.state === 'Running' && answer.startedAt === undefined;
  const reason = componentOf(jobs)?.waiting?.reason;
  return [...(isAnnounced ? [answer.code] : []), ...(reason === 'JobRunning' ? [reason] : [])];
}

/** The job controller settles the job when it has the answer. */
function settleJob({ api }: JobHost): void {
  const job = api.repairs.get('job-1');
  const agent = job?.status?.agent;
  if (!job || agent?.steps[0]?.finishedAt === undefined) return;
  const settled = {
    type: 'Settled',
    status: 'True',
    reason: 'Succeeded',
    message: '',
    lastTransitionTime: later(0),
  };
  api.repairs.set('job-1', { ...job, status: { agent, conditions: [settled as Condition] } });
}

/** From long before to long after the change, each half second. */
const ALL = Array.from({ length: 90 }, (_, index) => -15 + index / 2);

describe('one operation on a node at a time', () => {
  it('AGT-54 never runs a job and a component change together, whichever comes first', async () => {
    const waits = new Set<string | undefined>();
    for (const releaseAfter of slice(ALL, 30)) {
      const { waits: waited, ...found } = await run(releaseAfter);
      expect({ releaseAfter, ...found }).toEqual({
        releaseAfter,
        violations: [],
        answer: 'Succeeded',
        component: 'Committed proxy-1.1',
        // What the job stopped was not taken for drift.
        corrections: 0,
      });
      for (const wait of waited) waits.add(wait);
    }
    // Each waited for the other one, and reported it.
    expect(waits).toEqual(new Set(['ComponentChanging', 'JobRunning']));
  });
});
