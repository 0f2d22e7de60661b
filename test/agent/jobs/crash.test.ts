import { describe, expect, it } from 'vitest';
import { componentSpec } from '../../support/agent/component-spec.ts';
import { AgentKilled, type CrashPoint, crashAt } from '../../support/agent/crashing-host.ts';
import { createJobHost, type JobHost } from '../../support/agent/job-host.ts';
import { type JobFields, later, repairJob } from '../../support/agent/jobs.ts';

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
  {
    name: 'ReinstallComponent',
    plan: { step: 'ReinstallComponent@v1', with: { component: 'proxy' }, timeoutSeconds: 300 },
    // Also before the first change: what is left of it is always known.
    ends: ['Succeeded'],
  },
  {
    name: 'CleanDisk',
    plan: { step: 'CleanDisk@v1', with: { targets: ['rotatedLogs'], maxDelete: '1Mi' } },
    ends: ['Failed Interrupted', 'Succeeded'],
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
  const jobs = await createJobHost();
  jobs.api.declare([componentSpec('1.0', { commitAfterSeconds: 2 })]);
  await jobs.run(await jobs.start(), 5);
  const release = { notAfter: later(50, jobs.clock.now()) };
  const spec = { grant: { id: 'g', fence: 7, issuedAt: later(0), notAfter: later(3600) } };
  jobs.api.repairs.set('job-1', repairJob({ plan, release, spec }));
  const crashing = crashAt(jobs.host, point);
  try {
    await jobs.run(await jobs.start(crashing.host), 10);
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

interface Acts {
  readonly reboots: number;
  readonly stops: number;
  readonly active: boolean | undefined;
  readonly componentStops: number;
  readonly component: string;
}

function acts(jobs: JobHost): Acts {
  const { host, api } = jobs;
  const component = api.statuses.at(-1)?.components?.[0];
  return {
    reboots: host.reboots(),
    stops: jobs.restarts().stops,
    active: jobs.restarts().active,
    componentStops: host.units.stops.get('proxy') ?? 0,
    component: `${component?.state} ${component?.running}`,
  };
}

/** Never more often than in a calm run; and whatever was stopped runs again. */
function bounded(found: Acts, calm: Acts): Acts {
  return {
    reboots: Math.min(found.reboots, calm.reboots),
    stops: Math.min(found.stops, calm.stops),
    active: true,
    componentStops: Math.min(found.componentStops, calm.componentStops),
    component: 'Committed true',
  };
}
