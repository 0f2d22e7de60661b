/** Metrics of rollouts. Machines are counted, never named. */
import type { MachineComponentSetStatus } from '../../api/generated/types.ts';
import type { Counter, Gauge, Histogram, Metrics } from '../../kube/process/metrics.ts';
import {
  ROLLOUT_BATCH,
  ROLLOUT_BLOCKED,
  ROLLOUT_GATES,
  ROLLOUT_MACHINES,
  ROLLOUT_ROLLBACKS,
  ROLLOUT_SETTLE,
  COUNTED_ROLLOUT_STATES as STATES,
} from '../../observability/metrics/rollout.ts';
import { hasNewRecord, registerComponentMetrics } from './component-metrics.ts';
import type { SetReport } from './status/report.ts';
import { WAIT_KINDS, type WaitKind, waitKinds } from './status/wait-kind.ts';

export interface RolloutMetrics {
  /** After each reconcile: `status` is what was written, that of `report.input.set` what was there before. */
  observe(report: SetReport, status: MachineComponentSetStatus): void;
  /** The set was deleted. */
  forget(set: string): void;
}

export function registerRolloutMetrics(metrics: Metrics): RolloutMetrics {
  const instruments = register(metrics);
  const components = registerComponentMetrics(metrics);
  /** Blocked time is counted from one reconcile to the next, so the process keeps what it saw last. */
  const last = new Map<string, LastReport>();
  return {
    observe: (report, status) => {
      const { set, now } = report.input;
      const { name } = set.metadata;
      countBlocked(instruments, name, last.get(name), now);
      last.set(name, { at: now, kinds: countKinds(report) });
      setGauges(instruments, name, status);
      countEvents(instruments, report, status);
      components.observe(report, status);
    },
    forget: (set) => {
      last.delete(set);
      components.forget(set);
      instruments.batch.remove({ set });
      for (const state of STATES) instruments.machines.remove({ set, state });
    },
  };
}

interface LastReport {
  readonly at: Date;
  readonly kinds: ReadonlyMap<WaitKind, number>;
}

interface Instruments {
  readonly batch: Gauge<'set'>;
  readonly machines: Gauge<'set' | 'state'>;
  readonly gates: Counter<'set' | 'result'>;
  readonly settle: Histogram<'set'>;
  readonly rollbacks: Counter<'set'>;
  readonly blocked: Counter<'set' | 'reason'>;
}

function register(metrics: Metrics): Instruments {
  return {
    batch: metrics.gauge(ROLLOUT_BATCH),
    machines: metrics.gauge(ROLLOUT_MACHINES),
    gates: metrics.counter(ROLLOUT_GATES),
    settle: metrics.histogram(ROLLOUT_SETTLE),
    rollbacks: metrics.counter(ROLLOUT_ROLLBACKS),
    blocked: metrics.counter(ROLLOUT_BLOCKED),
  };
}

function countBlocked(
  { blocked }: Instruments,
  set: string,
  before: LastReport | undefined,
  now: Date,
): void {
  if (!before) return;
  const seconds = Math.max(0, (+now - +before.at) / 1000);
  for (const [reason, machines] of before.kinds) blocked.add({ set, reason }, machines * seconds);
}

function countKinds(report: SetReport): LastReport['kinds'] {
  const counts = new Map<WaitKind, number>();
  for (const kind of waitKinds(report).values()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return new Map(WAIT_KINDS.flatMap((kind) => (counts.has(kind) ? [[kind, counts.get(kind) ?? 0]] : [])));
}

function setGauges({ batch, machines }: Instruments, set: string, status: MachineComponentSetStatus): void {
  if (status.batch?.index === undefined) batch.remove({ set });
  else batch.set({ set }, status.batch.index);
  for (const state of STATES) machines.set({ set, state }, status.counts?.[state] ?? 0);
}

const GATE_RESULTS: Readonly<Partial<Record<string, string>>> = {
  GateFailed: 'Failed',
  GateInconclusive: 'Inconclusive',
  HealthUnknown: 'Inconclusive',
};

/** Only what is new since the status before. */
function countEvents(
  instruments: Instruments,
  { input, plan }: SetReport,
  status: MachineComponentSetStatus,
): void {
  const set = input.set.metadata.name;
  for (const action of plan.actions) {
    if (action.type !== 'Settle' || action.outcome !== 'Succeeded' || !action.member.grant) continue;
    instruments.settle.observe({ set }, (+input.now - Date.parse(action.member.grant.issuedAt)) / 1000);
  }
  const before = input.set.status;
  if (hasNewRecord('RolledBack', before, status)) instruments.rollbacks.add({ set });
  const result = gateResult(before, status);
  if (result !== undefined) instruments.gates.add({ set, result });
}

function gateResult(
  before: MachineComponentSetStatus | undefined,
  after: MachineComponentSetStatus,
): string | undefined {
  const reason = reasonOfGates(after);
  if (reason === undefined || reasonOfGates(before) === reason) return undefined;
  return GATE_RESULTS[reason] ?? (reason === 'AsWanted' && hasPassed(before, after) ? 'Passed' : undefined);
}

/** The next batch was opened, or the revision completed. */
function hasPassed(before: MachineComponentSetStatus | undefined, after: MachineComponentSetStatus): boolean {
  const isSame = before?.updateRevision === after.updateRevision;
  return isSame && before?.batch?.soakUntil !== undefined && before.batch.index !== after.batch?.index;
}

function reasonOfGates(status: MachineComponentSetStatus | undefined): string | undefined {
  return status?.conditions.find(({ type }) => type === 'GatesPassed')?.reason;
}
