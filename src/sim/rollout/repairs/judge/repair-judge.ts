/**
 * Judges repairs at every write and every step of an agent, by what is in the API server and on the hosts. What the controllers decide
 * from is not read: no view, no plan and no counter of theirs.
 */
import { DEFENDER_LEDGERS, REMEDY_OPERATION_JOBS } from '../../../../api/generated/resources.ts';
import type { DefenderLedger, JobRelease, RemedyOperationJob } from '../../../../api/generated/types.ts';
import { FINALIZER_SETTLE, LEDGER } from '../../../../api/names.ts';
import { NODES } from '../../../../kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import type { ApiChange, SimulatedApi } from '../../api-server.ts';
import type { RolloutViolation } from '../../history.ts';
import type { SimulatedHost } from '../../hosts.ts';
import { budgetViolations } from './budget-rule.ts';
import { createCordonRules } from './cordon-rules.ts';
import { jobViolations } from './job-rules.ts';
import { createLedgerRules } from './ledger-rules.ts';
import { leftoverViolations } from './leftovers.ts';
import { createMoments } from './moments.ts';
import { stepViolations } from './step-rules.ts';

export interface RepairJudge {
  readonly violations: readonly RolloutViolation[];
  readonly counts: RepairCounts;
  written(change: ApiChange): void;
  /** The agent begins a released step. */
  began(job: RemedyOperationJob, release: JobRelease): void;
  /** `step`: key of the try that it is the reboot of. */
  rebooted(machine: string, step: string): void;
  byPerson<T>(act: () => T): T;
  /** The cordon of this Node is a person's. */
  isOfPerson(node: KubeObject): boolean;
  quiet(): void;
}

export interface RepairCounts {
  jobs: number;
  reboots: number;
  /** By class of the outcome. */
  readonly outcomes: Record<string, number>;
  /** The most machines that updates and repairs were at work on together. */
  busiest: number;
}

export interface RepairJudgeOptions {
  readonly api: SimulatedApi;
  readonly nowMs: () => number;
  readonly hosts: ReadonlyMap<string, SimulatedHost>;
  /** Of the policy. */
  readonly maxUnavailable: number;
}

/** As long as a release lives. */
const RELEASE_MS = 60_000;

export function createRepairJudge({ api, nowMs, hosts, maxUnavailable }: RepairJudgeOptions): RepairJudge {
  const violations: RolloutViolation[] = [];
  const counts: RepairCounts = { jobs: 0, reboots: 0, outcomes: {}, busiest: 0 };
  const moments = createMoments(nowMs);
  const cordons = createCordonRules(nowMs);
  const ledgers = createLedgerRules();
  const reboots = new Map<string, number>();
  /** By job and step. */
  const begun = new Map<string, number>();
  let isPerson = false;
  const note = (machine: string, found: readonly string[]): void => {
    for (const what of found) violations.push({ atMs: nowMs(), machine, what });
  };
  return {
    violations,
    counts,
    written,
    began: (job, release) => {
      const key = `${job.metadata.uid}/${release.step}`;
      begun.set(key, (begun.get(key) ?? 0) + 1);
      const { retries = 0 } = job.spec.plan.find(({ id }) => id === release.step) ?? {};
      const isOver = (begun.get(key) ?? 0) > retries + 1;
      const found = isOver ? [`more tries of ${release.step} than the rung has`] : [];
      note(job.spec.machine.name, [...found, ...judgeStep(job, RELEASE_MS)]);
    },
    rebooted: (machine, step) => {
      const times = (reboots.get(step) ?? 0) + 1;
      reboots.set(step, times);
      counts.reboots += 1;
      note(machine, times > 1 ? ['a second reboot of one try'] : []);
    },
    byPerson: (act) => {
      isPerson = true;
      try {
        return act();
      } finally {
        isPerson = false;
      }
    },
    isOfPerson: (node) => cordons.isOfPerson(node),
    quiet: () => {
      for (const { machine, what } of leftoverViolations(api)) note(machine, [what]);
    },
  };

  function written(change: ApiChange): void {
    moments.written(change);
    const { before, after } = change;
    const { kind, metadata } = after ?? before ?? { metadata: { name: '' } };
    if (kind === NODES.kind) {
      note(metadata.name, cordons.written(change, { isPerson, jobOf }));
      for (const job of after ? disturbedBy(before, after) : []) note(metadata.name, judgeStep(job, 0));
    }
    // Of the type of its kind.
    if (kind === DEFENDER_LEDGERS.kind && after) {
      note('', ledgers.written(after as DefenderLedger, jobOf));
    }
    if (kind === REMEDY_OPERATION_JOBS.kind) judgeJob(before as Job, after as Job);
  }

  type Job = RemedyOperationJob | undefined;

  function judgeJob(before: Job, after: Job): void {
    const job = after ?? before;
    if (!job) return;
    const jobs = api.list(REMEDY_OPERATION_JOBS);
    const machine = job.spec.machine.name;
    if (!before) counts.jobs += 1;
    countOutcome(before, after);
    note(machine, jobViolations(before, after, jobs));
    if (after && isReleasedAgain(before, after)) note(machine, judgeStep(after, 0));
    if (after && hasFinalizer(before) && !hasFinalizer(after)) {
      note(machine, ledgers.openGrantOf(ledger(), after));
    }
    judgeBudget(jobs);
  }

  function countOutcome(before: Job, after: Job): void {
    const kind = after?.status?.outcome?.class;
    if (kind !== undefined && !before?.status?.outcome) counts.outcomes[kind] = (counts.outcomes[kind] ?? 0) + 1;
  }

  function judgeBudget(jobs: readonly RemedyOperationJob[]): void {
    const { busy, violation } = budgetViolations({ jobs, hosts, api: api, ledgers, maxUnavailable });
    if (violation !== undefined && busy > counts.busiest) note('', [violation]);
    counts.busiest = Math.max(counts.busiest, busy);
  }

  function judgeStep(job: RemedyOperationJob, lateMs: number): readonly string[] {
    const now = api.get(REMEDY_OPERATION_JOBS, job.metadata.name);
    const present = now?.metadata.uid === job.metadata.uid && now ? now : job;
    return stepViolations({ job: present, ledger: ledger(), since: moments.since, atMs: nowMs(), lateMs });
  }

  function disturbedBy(before: KubeObject | undefined, after: KubeObject): readonly RemedyOperationJob[] {
    const job = isPerson ? undefined : cordons.cordonedFor(before, after, jobOf);
    return job ? [job] : [];
  }

  function ledger(): DefenderLedger | undefined {
    return api.get(DEFENDER_LEDGERS, LEDGER);
  }

  function jobOf(grant: string): RemedyOperationJob | undefined {
    return api
      .list(REMEDY_OPERATION_JOBS)
      .find(({ spec }) => spec.grant.id === grant);
  }
}

function isReleasedAgain(before: RemedyOperationJob | undefined, after: RemedyOperationJob): boolean {
  const release = after.status?.release;
  return release !== undefined && release.notAfter !== before?.status?.release?.notAfter;
}

function hasFinalizer(job: RemedyOperationJob | undefined): boolean {
  return (job?.metadata.finalizers ?? []).includes(FINALIZER_SETTLE);
}
