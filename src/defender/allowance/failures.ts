/**
 * Reports to the hub what failed in this cluster, so that it notices what fails in several: rollouts, repairs of a rule, and what faulty
 * machines have in common. It is read from the objects, and nothing is counted for it. Pure.
 */
import { valueKey } from '../../api/diagnosis/dimensions.ts';
import { FLEET_CAUSES, type FleetCauseDimension } from '../../api/enums.ts';
import type {
  DefenderLedgerSpec,
  FailedRollout,
  FleetFailure,
  MachineComponentSet,
  RemedyOperationJob,
} from '../../api/generated/types.ts';
import { remedyOperationJobPhases } from '../../api/status/phase-tables.ts';
import { conditionOf } from '../../kube/objects/conditions.ts';
import type { PreparedPolicies } from '../policies/prepare.ts';
import { type RolloutFailure, rolloutFailures } from './rollout-failures.ts';

export interface FailureInput {
  readonly ledger: Pick<DefenderLedgerSpec, 'breakers'>;
  readonly policies: Pick<PreparedPolicies, 'valid'>;
  readonly sets: readonly MachineComponentSet[];
  readonly jobs: readonly RemedyOperationJob[];
  readonly now: Date;
}

export interface FailureReport {
  readonly failures: readonly FleetFailure[];
  readonly failedRollouts: readonly FailedRollout[];
}

const DAY_MS = 86_400_000;
/** A failure that goes on is reported again after this time: each report is a write. */
const REPORT_MS = 300_000;
const MAX_FAILURES = 32;
/** Fewer repairs that failed may have failed by chance. */
const FAILED_REPAIRS = 2;

export function failureReport(input: FailureInput): FailureReport {
  const { sets, now } = input;
  const rollouts = sets.flatMap((set) => rolloutFailures(set, stillAt(now)));
  const recent = rollouts.filter(({ at }) => isRecent(at, now));
  const found = [...recent.flatMap(causesOfRollout), ...causesOfBreakers(input), ...causesOfRules(input)];
  return {
    failures: newest(found),
    failedRollouts: recent
      .toSorted((a, b) => (a.at < b.at ? 1 : -1))
      .slice(0, MAX_FAILURES)
      .map(({ set, revision, at }) => ({ set, revision, at })),
  };
}

/** Returns when a failure that goes on was last known. */
function stillAt(now: Date): string {
  return new Date(Math.floor(+now / REPORT_MS) * REPORT_MS).toISOString();
}

function isRecent(at: string, now: Date): boolean {
  return +now - Date.parse(at) < DAY_MS;
}

function causesOfRollout({ set, components, lastAt, because }: RolloutFailure): readonly FleetFailure[] {
  const message = `rollout of MachineComponentSet ${set}: ${because}`;
  return components.map((value) => ({ dimension: 'componentUpdate', value, at: lastAt, message }));
}

/** A half-open breaker tries whether its cause is over. */
function causesOfBreakers({ ledger, policies, now }: FailureInput): readonly FleetFailure[] {
  const starts = policies.valid.flatMap(({ name, spec }) =>
    spec.breakers.filter(({ type }) => type === 'CommonCause').map((breaker) => `${name}/${breaker.name}/`),
  );
  return Object.entries(ledger.breakers).flatMap(([id, { state, evidence = 'machines are faulty' }]) => {
    const start = starts.find((each) => id.startsWith(each));
    if (start === undefined || state === 'HalfOpen') return [];
    const [dimension = '', ...rest] = id.slice(start.length).split('=');
    const value = rest.join('=');
    const report = { at: stillAt(now), message: evidence };
    if (!isFleetCause(dimension) || value === '') return [];
    const own: FleetFailure = { dimension, value, ...report };
    // Machines that have it are faulty: then it is not brought to others either.
    return dimension === 'componentVersion' ? [own, { ...own, dimension: 'componentUpdate' }] : [own];
  });
}

function isFleetCause(dimension: string): dimension is FleetCauseDimension {
  return (FLEET_CAUSES as readonly string[]).includes(dimension);
}

/** A rule fails when more of its repairs failed within a day than not. */
function causesOfRules({ jobs, now }: FailureInput): readonly FleetFailure[] {
  const ended = jobs.flatMap((job) => {
    const at = conditionOf(job.status?.conditions, 'Settled')?.lastTransitionTime;
    if (at === undefined || !isRecent(at, now)) return [];
    const phase = remedyOperationJobPhases.phaseOf({ ...job.status });
    const hasFailed = phase === 'Failed';
    return hasFailed || phase === 'Succeeded' ? [{ rule: job.spec.cause.remedier, at, hasFailed }] : [];
  });
  return [...Map.groupBy(ended, ({ rule }) => rule)].flatMap(([rule, all]) => {
    const failed = all.filter(({ hasFailed }) => hasFailed).toSorted((a, b) => (a.at < b.at ? 1 : -1));
    const [last] = failed;
    if (!last || failed.length < FAILED_REPAIRS || failed.length * 2 <= all.length) return [];
    const message = `${failed.length} of ${all.length} repairs failed within a day`;
    return [{ dimension: 'rule', value: rule, at: last.at, message }];
  });
}

/** Keeps the last one of failures that are reported twice, and the newest of more than fit. */
function newest(found: readonly FleetFailure[]): readonly FleetFailure[] {
  const sorted = found.toSorted((a, b) => (a.at < b.at ? 1 : -1) || order(a, b));
  const unique = [...Map.groupBy(sorted, keyOf).values()].flatMap(([last]) => last ?? []);
  return unique.slice(0, MAX_FAILURES).toSorted(order);
}

function keyOf({ dimension, value }: FleetFailure): string {
  return valueKey(dimension, value);
}

/** A stable order, so that an equal report needs no write. */
function order(a: FleetFailure, b: FleetFailure): number {
  return keyOf(a) < keyOf(b) ? -1 : 1;
}
