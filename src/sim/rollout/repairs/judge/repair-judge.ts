/**
 * Judges repairs at every write and every step of an agent, by what is in the API server and on the hosts. What the controllers decide
 * from is not read: no view, no plan and no counter of theirs.
 */
import { DEFENDER_LEDGERS, REMEDY_OPERATION_JOBS } from '../../../../api/generated/resources.ts';
import type { DefenderLedger, JobRelease, RemedyOperationJob } from '../../../../api/generated/types.ts';
import { FINALIZER_SETTLE, LEDGER } from '../../../../api/names.ts';
import { NODES } from '../../../../kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import type { ApiChange } from '../../../api-server/objects.ts';
import type { SimulatedApi } from '../../../api-server/simulated-api.ts';
import type { RolloutViolation } from '../../history.ts';
import type { SimulatedHost } from '../../hosts.ts';
import { budgetOf } from './budget-rule.ts';
import { type CordonRules, createCordonRules } from './cordon-rules.ts';
import { createMoments, type Moments } from './forbidden-since.ts';
import { jobViolations } from './job-rules.ts';
import { createLedgerRules, type LedgerRules } from './ledger-rules.ts';
import { leftoverViolations } from './leftovers.ts';
import { createPowerRules, type PowerRules } from './power-rules.ts';
import { stepViolations } from './step-rules.ts';

export interface RepairJudge {
  readonly violations: readonly RolloutViolation[];
  readonly counts: RepairCounts;
  written(change: ApiChange): void;
  /** Judges a released step when the agent begins it. */
  began(job: RemedyOperationJob, release: JobRelease): void;
  /** Judges a reboot. `step` is the key of the try that it is the reboot of. */
  rebooted(machine: string, step: string): void;
  /** Judges a request to switch a machine off, when it is sent. */
  offRequested(machine: string): void;
  /** Judges that the power of a machine has changed. */
  powerChanged(machine: string, isOn: boolean): void;
  byPerson<T>(act: () => T): T;
  /** Tells whether the cordon of this Node is a person's. */
  isOfPerson(node: KubeObject): boolean;
  /** Judges what is left. Called long after the last fault. */
  quiet(): void;
}

export interface RepairCounts {
  jobs: number;
  reboots: number;
  /** The number of jobs by class of the outcome. */
  readonly outcomes: Record<string, number>;
  /** The most machines that updates and repairs were at work on together. */
  busiest: number;
  /** The number of times that a machine was switched off. */
  offs: number;
}

export interface RepairJudgeOptions {
  readonly api: SimulatedApi;
  readonly nowMs: () => number;
  readonly hosts: ReadonlyMap<string, SimulatedHost>;
  /** The limit of the policy. */
  readonly maxUnavailable: number;
}

/** The time for which a release lives. */
const RELEASE_MS = 60_000;

interface Judging extends RepairJudgeOptions {
  readonly note: (machine: string, found: readonly string[]) => void;
  readonly counts: RepairCounts;
  readonly moments: Moments;
  readonly cordons: CordonRules;
  readonly ledgers: LedgerRules;
  /** The number of reboots by key of a try. */
  readonly reboots: Map<string, number>;
  /** The number of tries that began, by job and step. */
  readonly begun: Map<string, number>;
  readonly power: PowerRules;
  isPerson: boolean;
}

export function createRepairJudge(options: RepairJudgeOptions): RepairJudge {
  const { api, nowMs } = options;
  const violations: RolloutViolation[] = [];
  const judging: Judging = {
    ...options,
    note: (machine, found) => {
      for (const what of found) violations.push({ atMs: nowMs(), machine, what });
    },
    counts: { jobs: 0, reboots: 0, outcomes: {}, busiest: 0, offs: 0 },
    moments: createMoments(nowMs),
    cordons: createCordonRules(nowMs),
    ledgers: createLedgerRules(),
    reboots: new Map(),
    begun: new Map(),
    power: createPowerRules(options),
    isPerson: false,
  };
  return {
    violations,
    counts: judging.counts,
    written: (change) => judgeWrite(judging, change),
    began: (job, release) => judgeBegin(judging, job, release),
    rebooted: (machine, step) => judgeReboot(judging, machine, step),
    offRequested: (machine) => judgeOff(judging, machine),
    powerChanged: (machine, isOn) => {
      if (!isOn) judging.counts.offs += 1;
      judging.note(machine, judging.power.changed(machine, isOn));
    },
    byPerson: (act) => {
      judging.isPerson = true;
      try {
        return act();
      } finally {
        judging.isPerson = false;
      }
    },
    isOfPerson: (node) => judging.cordons.isOfPerson(node),
    quiet: () => {
      for (const { machine, what } of leftoverViolations(api)) judging.note(machine, [what]);
      for (const machine of judging.power.off()) {
        if (options.hosts.get(machine)?.isDown) judging.note(machine, ['a machine is left switched off']);
      }
    },
  };
}

function judgeWrite(judging: Judging, change: ApiChange): void {
  judging.moments.written(change);
  const { before, after } = change;
  const { kind } = after ?? before ?? {};
  if (kind === NODES.kind) judgeNode(judging, change);
  // Of the type of its kind.
  if (kind === DEFENDER_LEDGERS.kind && after) {
    judging.note(
      '',
      judging.ledgers.written(after as DefenderLedger, (grant) => jobOf(judging, grant)),
    );
  }
  if (kind === REMEDY_OPERATION_JOBS.kind && after) {
    judgeJob(judging, before as RemedyOperationJob | undefined, after as RemedyOperationJob);
  }
}

function judgeNode(judging: Judging, change: ApiChange): void {
  const { cordons, isPerson, note } = judging;
  const { after } = change;
  if (!after) return;
  const find = (grant: string): RemedyOperationJob | undefined => jobOf(judging, grant);
  note(after.metadata.name, cordons.written(change, { isPerson, jobOf: find }));
  note(after.metadata.name, judging.power.written(change));
  const job = isPerson ? undefined : cordons.cordonedFor(change, find);
  if (job) note(after.metadata.name, judgedStep(judging, job, 0));
}

function judgeJob(judging: Judging, before: RemedyOperationJob | undefined, after: RemedyOperationJob): void {
  const { api, note, ledgers } = judging;
  const jobs = api.list(REMEDY_OPERATION_JOBS);
  const machine = after.spec.machine.name;
  count(judging, before, after);
  note(machine, jobViolations(before, after, jobs));
  if (isReleasedAgain(before, after)) note(machine, judgedStep(judging, after, 0));
  const isSettled = hasFinalizer(before) && !hasFinalizer(after);
  if (isSettled) note(machine, ledgers.openGrantOf(ledgerOf(judging), after));
  judgeBudget(judging, jobs);
}

function count(
  { counts }: Judging,
  before: RemedyOperationJob | undefined,
  { status }: RemedyOperationJob,
): void {
  if (!before) counts.jobs += 1;
  const { outcome } = status ?? {};
  if (!outcome || before?.status?.outcome) return;
  counts.outcomes[outcome.class] = (counts.outcomes[outcome.class] ?? 0) + 1;
}

function isReleasedAgain(before: RemedyOperationJob | undefined, { status }: RemedyOperationJob): boolean {
  const { release } = status ?? {};
  return release !== undefined && release.notAfter !== before?.status?.release?.notAfter;
}

function hasFinalizer(job: RemedyOperationJob | undefined): boolean {
  return (job?.metadata.finalizers ?? []).includes(FINALIZER_SETTLE);
}

/** Judges the budget. Each number of machines is reported once. */
function judgeBudget(judging: Judging, jobs: readonly RemedyOperationJob[]): void {
  const { note, counts } = judging;
  const { busy, violations } = budgetOf({ ...judging, jobs });
  if (busy > counts.busiest) note('', violations);
  counts.busiest = Math.max(counts.busiest, busy);
}

function judgeBegin(judging: Judging, job: RemedyOperationJob, { step }: JobRelease): void {
  const { begun, note } = judging;
  const key = `${job.metadata.uid}/${step}`;
  const tries = (begun.get(key) ?? 0) + 1;
  begun.set(key, tries);
  const { retries = 0 } = job.spec.plan.find(({ id }) => id === step) ?? {};
  const found = tries > retries + 1 ? [`more tries of ${step} than the rung has`] : [];
  note(job.spec.machine.name, [...found, ...judgedStep(judging, job, RELEASE_MS)]);
}

function judgeReboot({ reboots, counts, note }: Judging, machine: string, step: string): void {
  const times = (reboots.get(step) ?? 0) + 1;
  reboots.set(step, times);
  counts.reboots += 1;
  if (times > 1) note(machine, ['a second reboot of one try']);
}

function judgeOff(judging: Judging, machine: string): void {
  const { found, job } = judging.power.offRequested(machine);
  judging.note(machine, [...found, ...(job ? judgedStep(judging, job, 0) : [])]);
}

/** Judges a step of a job. An agent knows the job as it was a moment before. */
function judgedStep(judging: Judging, job: RemedyOperationJob, lateMs: number): readonly string[] {
  const { api, moments, nowMs } = judging;
  const now = api.get(REMEDY_OPERATION_JOBS, job.metadata.name);
  const present = now?.metadata.uid === job.metadata.uid && now ? now : job;
  const ledger = ledgerOf(judging);
  return stepViolations({ job: present, ledger, since: moments.since, atMs: nowMs(), lateMs });
}

function ledgerOf({ api }: Judging): DefenderLedger | undefined {
  return api.get(DEFENDER_LEDGERS, LEDGER);
}

function jobOf({ api }: Judging, grant: string): RemedyOperationJob | undefined {
  return api.list(REMEDY_OPERATION_JOBS).find(({ spec }) => spec.grant.id === grant);
}
