import { describe, expect, it } from 'vitest';
import type {
  JobStepStatus,
  JobTimeline,
  RemedyOperationJob,
  RemedyOperationJobSpec,
} from '../../../src/api/generated/types.ts';
import { registerRemedyMetrics } from '../../../src/controllers/remedyjob/metrics.ts';
import { createMetrics } from '../../../src/kube/process/metrics.ts';
import { jobSpec, later } from './jobs.ts';

type MetricOutcome = NonNullable<
  Parameters<ReturnType<typeof registerRemedyMetrics>['settled']>[1]['outcome']
>;

/** A minute until the rule matched, two seconds until the grant, and five minutes until it was verified. */
const TIMES: JobTimeline = {
  firstFaultAt: later(-60),
  detectedAt: later(0),
  admittedAt: later(2),
  verifiedAt: later(300),
  settledAt: later(301),
};

const SUCCEEDED: MetricOutcome = { class: 'Succeeded' };

/** The first one began a second after the grant. */
const STEPS: readonly JobStepStatus[] = [
  { id: 'uncordon', state: 'Succeeded', startedAt: later(200) },
  { id: 'drain', state: 'Succeeded', startedAt: later(3) },
  { id: 'taint', state: 'Skipped' },
];

interface EndedJob {
  readonly outcome?: MetricOutcome;
  readonly timeline?: JobTimeline;
  readonly spec?: Partial<RemedyOperationJobSpec>;
  readonly steps?: readonly JobStepStatus[];
  /** The jobs that are kept. */
  readonly others?: readonly RemedyOperationJob[];
}

/** The values of one metric of repairs after these jobs, by labels. */
async function valuesOf(
  name: string,
  ...jobs: readonly EndedJob[]
): Promise<Readonly<Record<string, number>>> {
  const metrics = createMetrics();
  const remedy = registerRemedyMetrics(metrics);
  for (const { outcome = SUCCEEDED, timeline = TIMES, spec, steps = STEPS, others = [] } of jobs) {
    remedy.settled({ spec: jobSpec(spec) }, { outcome, timeline, steps }, others);
  }
  const lines = (await metrics.text()).split('\n');
  return Object.fromEntries(
    lines.flatMap((line) => {
      const found = /^kubenode_remedy_(?<metric>\w+)\{(?<labels>[^}]*)\} (?<value>\S+)$/.exec(line)?.groups;
      return found?.['metric'] === name ? [[found['labels'] ?? '', Number(found['value'])]] : [];
    }),
  );
}

const second: EndedJob['spec'] = { attempt: 2 };
const nextRung: EndedJob['spec'] = { rung: { name: 'person', index: 2 } };
const failed: EndedJob = { outcome: { class: 'Transient' } };

describe('registerRemedyMetrics', () => {
  it.each<[name: string, seconds: number]>([
    ['detection', 60],
    ['decision', 2],
    ['first_step', 3],
    ['healing', 300],
  ])('has the time of the %s by rule', async (name, seconds) => {
    expect(await valuesOf(`${name}_seconds_sum`, {})).toEqual({ 'rule="kernel-hang"': seconds });
    expect(await valuesOf(`${name}_seconds_count`, {}, {})).toEqual({ 'rule="kernel-hang"': 2 });
  });

  it('R37 counts jobs by rule, rung, class of the fault and class of their outcome', async () => {
    const jobs = [failed, { spec: second }, {}, { outcome: { class: 'HandedOff' }, spec: nextRung } as const];
    expect(await valuesOf('jobs_total', ...jobs)).toEqual({
      'rule="kernel-hang",rung="soft",fault="Kernel",outcome="Transient"': 1,
      'rule="kernel-hang",rung="soft",fault="Kernel",outcome="Succeeded"': 2,
      'rule="kernel-hang",rung="person",fault="Kernel",outcome="HandedOff"': 1,
    });
  });

  it('has the detection and the decision of a case once, whatever its later attempts and rungs wait for', async () => {
    const jobs = [failed, { spec: second }, { spec: nextRung }];
    for (const name of ['detection', 'decision', 'first_step']) {
      expect(await valuesOf(`${name}_seconds_count`, ...jobs)).toEqual({ 'rule="kernel-hang"': 1 });
    }
  });

  it('has the healing only of a job that succeeded and was verified', async () => {
    const { verifiedAt: _, ...unverified } = TIMES;
    expect(await valuesOf('healing_seconds_count', failed, { timeline: unverified })).toEqual({});
  });

  it('leaves out a time that is not known, and has no time below zero', async () => {
    const { firstFaultAt: _, ...unknown } = TIMES;
    expect(await valuesOf('detection_seconds_count', { timeline: unknown })).toEqual({});
    const jumped = { ...TIMES, admittedAt: later(-5) };
    expect(await valuesOf('decision_seconds_sum', { timeline: jumped })).toEqual({ 'rule="kernel-hang"': 0 });
  });

  it('DAT-03 begins the times of a rule at zero when a job is observed, so that its first repair is a change', async () => {
    const metrics = createMetrics();
    const remedy = registerRemedyMetrics(metrics);
    remedy.began({ spec: jobSpec() });
    expect(await metrics.text()).toContain('kubenode_remedy_healing_seconds_count{rule="kernel-hang"} 0');
    remedy.settled({ spec: jobSpec() }, { outcome: SUCCEEDED, timeline: TIMES }, []);
    remedy.began({ spec: jobSpec() });
    expect(await metrics.text()).toContain('kubenode_remedy_healing_seconds_count{rule="kernel-hang"} 1');
  });

  it.each<[name: string, before: Partial<EarlierJob>, repeats: number]>([
    ['counts a repair of a machine that the rule repaired within 7 days', {}, 1],
    ['counts none of the same case', { case: jobSpec().cause.case }, 0],
    ['counts none after 8 days', { daysBefore: 8 }, 0],
    ['counts none of another machine', { machine: 'm-other' }, 0],
    ['counts none of another rule', { rule: 'disk-full' }, 0],
    ['counts none after a repair that failed', { outcome: 'Transient' }, 0],
    ['counts none that was verified later', { daysBefore: -1 }, 0],
  ])('DAT-03 counts repeats of repairs, case: %s', async (_, before, repeats) => {
    const found = await valuesOf('repeats_total', { others: [earlierJob(before)] });
    expect(found).toEqual(repeats === 0 ? {} : { 'rule="kernel-hang"': repeats });
  });

  it('DAT-03 counts no repeat of a repair that is not verified', async () => {
    const { verifiedAt: _, ...timeline } = TIMES;
    expect(await valuesOf('repeats_total', { timeline, others: [earlierJob({})] })).toEqual({});
  });
});

interface EarlierJob {
  readonly case: string;
  readonly machine: string;
  readonly rule: string;
  readonly outcome: 'Succeeded' | 'Transient';
  readonly daysBefore: number;
}

function earlierJob(of: Partial<EarlierJob>): RemedyOperationJob {
  const spec = jobSpec();
  const { daysBefore = 1, outcome = 'Succeeded' } = of;
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'RemedyOperationJob',
    metadata: { name: 'earlier' },
    spec: {
      ...spec,
      machine: { ...spec.machine, name: of.machine ?? spec.machine.name },
      cause: { ...spec.cause, remedier: of.rule ?? spec.cause.remedier, case: of.case ?? 'earlier1' },
    },
    status: {
      conditions: [],
      outcome: { class: outcome },
      timeline: { verifiedAt: later(300 - daysBefore * 86_400) },
    },
  };
}
