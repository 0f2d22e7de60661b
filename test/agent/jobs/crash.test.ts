import { describe, expect, it } from 'vitest';
import { AgentKilled, type CrashPoint, crashAt } from '../../support/agent/crashing-host.ts';
import { createJobHost, type JobHost } from '../../support/agent/job-host.ts';
import { type JobFields, repairJob } from '../../support/agent/jobs.ts';

interface Scenario {
  readonly name: string;
  readonly plan: NonNullable<JobFields['plan']>;
  /** States in which the step may end, whenever the agent was killed. */
  readonly ends: readonly string[];
}

const SCENARIOS: readonly Scenario[] = [
  { name: 'RestartService', plan: {}, ends: ['Succeeded', 'Failed Interrupted'] },
  {
    name: 'RearmDetector',
    plan: { step: 'RearmDetector@v1', with: {} },
    ends: ['Succeeded', 'Failed Interrupted'],
  },
  {
    name: 'CollectDiagnostics',
    plan: { step: 'CollectDiagnostics@v1', with: {} },
    ends: ['Succeeded', 'Failed Interrupted'],
  },
  { name: 'Reboot', plan: { step: 'Reboot@v1', with: {} }, ends: ['Succeeded', 'Ambiguous Unknown'] },
];

describe('the agent, killed at any call that changes the host while it carries out a repair job', () => {
  it.each(SCENARIOS)('AGT-51 carries out $name at most once, and always reports an end', async (scenario) => {
    const calm = await run(scenario);
    expect(end(calm.jobs)).toBe('Succeeded');
    const points = calm.calls.flatMap((_, index): CrashPoint[] => [
      { call: index + 1, when: 'before' },
      { call: index + 1, when: 'after' },
    ]);
    expect(points.length).toBeGreaterThan(8);
    const ends = new Set<string>();
    for (const point of points) {
      const { jobs } = await run(scenario, point);
      const where = `killed ${point.when} call ${point.call}: ${calm.calls[point.call - 1]}`;
      expect({ where, end: end(jobs) }).toEqual({
        where,
        end: expect.toBeOneOf([...scenario.ends]) as string,
      });
      expect({ where, ...acts(jobs) }).toEqual({ where, ...bounded(acts(jobs), acts(calm.jobs)) });
      ends.add(end(jobs));
    }
    // Each end is reached by some kill.
    expect([...ends].toSorted()).toEqual(scenario.ends.toSorted());
  });
});

async function run(
  { plan }: Scenario,
  point?: CrashPoint,
): Promise<{ readonly jobs: JobHost; readonly calls: readonly string[] }> {
  const jobs = await createJobHost([repairJob({ plan })]);
  const crashing = crashAt(jobs.host, point);
  try {
    await jobs.run(await jobs.start(crashing.host), 5);
    if (point) await jobs.run(await jobs.start(), 70);
  } catch (error) {
    if (!(error instanceof AgentKilled)) throw error;
    await jobs.run(await jobs.start(), 70);
  }
  return { jobs, calls: crashing.calls };
}

function end(jobs: JobHost): string {
  const { state, code } = jobs.answer() ?? {};
  return `${state}${code === undefined ? '' : ` ${code}`}`;
}

function acts(jobs: JobHost): {
  readonly reboots: number;
  readonly stops: number;
  readonly active: boolean | undefined;
} {
  return { reboots: jobs.host.reboots(), stops: jobs.restarts().stops, active: jobs.restarts().active };
}

/** Never more often than in a calm run; and whatever was stopped runs again. */
function bounded(found: ReturnType<typeof acts>, calm: ReturnType<typeof acts>): ReturnType<typeof acts> {
  return {
    reboots: Math.min(found.reboots, calm.reboots),
    stops: Math.min(found.stops, calm.stops),
    active: true,
  };
}
