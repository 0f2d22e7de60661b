/** Counts what happens to rollouts, for each component that they change. Each event is a difference between two statuses. */
import type { MachineComponentSetStatus, RevisionRecord } from '../../api/generated/types.ts';
import { canonicalJson } from '../../kube/objects/digest.ts';
import type { Counter, Histogram, Metrics } from '../../kube/process/metrics.ts';
import {
  COMPONENT_ROLLBACK,
  COMPONENT_ROLLOUT_EVENTS,
  COMPONENT_ROLLOUTS,
} from '../../observability/metrics/rollout.ts';
import { secondsBetween } from '../../os/dates.ts';
import type { RolloutInput, RolloutMode } from './rollout/input.ts';
import { rollsOut } from './rollout/mode.ts';
import type { SetReport } from './status/report.ts';

type RolloutEvent = (typeof COMPONENT_ROLLOUT_EVENTS)[number];

export interface ComponentMetrics {
  /** After each reconcile: `status` is what was written, that of `report.input.set` what was there before. */
  observe(report: SetReport, status: MachineComponentSetStatus): void;
  forget(set: string): void;
}

export function registerComponentMetrics(metrics: Metrics): ComponentMetrics {
  const rollouts: Counter<'component' | 'event'> = metrics.counter(COMPONENT_ROLLOUTS);
  const rollback: Histogram<'component'> = metrics.histogram(COMPONENT_ROLLBACK);
  /** When the rollouts failed that go back now, by set. */
  const failedAt = new Map<string, Date>();
  return { observe, forget: (set) => void failedAt.delete(set) };

  function observe({ input, plan }: SetReport, status: MachineComponentSetStatus): void {
    const { metadata, status: before } = input.set;
    begin(input.desired);
    const components = changedComponents(input);
    for (const event of rolloutEvents(before, status, plan.mode)) {
      for (const component of components) rollouts.add({ component, event });
      if (event === 'RolledBack') failedAt.set(metadata.name, input.now);
    }
    if (!hasRolledBack(before, status)) return;
    const since = failedAt.get(metadata.name);
    failedAt.delete(metadata.name);
    if (!since) return;
    for (const component of components) rollback.observe({ component }, secondsBetween(since, input.now));
  }

  /** Prometheus does not count the first event of a series that appears with it. */
  function begin(desired: RolloutInput['desired']): void {
    if (!('revision' in desired)) return;
    for (const { name: component } of desired.revision.components) {
      for (const event of COMPONENT_ROLLOUT_EVENTS) rollouts.add({ component, event }, 0);
      rollback.begin({ component });
    }
  }
}

/** Returns the components of which the revision that is asked for differs from the one to return to; all of a first one. */
function changedComponents({ desired, stable }: RolloutInput): readonly string[] {
  if (!('revision' in desired)) return [];
  const { components } = desired.revision;
  const before = new Set(stable?.components.map((each) => canonicalJson(each)));
  const changed = components.filter((each) => !before.has(canonicalJson(each)));
  return (changed.length > 0 ? changed : components).map(({ name }) => name);
}

function isUnderWay(mode: RolloutMode): boolean {
  return rollsOut(mode) || mode === 'RollingBack';
}

type Status = MachineComponentSetStatus | undefined;

type HasHappened = (before: Status, after: MachineComponentSetStatus) => boolean;

const HAPPENED: Readonly<Record<RolloutEvent, HasHappened>> = {
  Started: (before, after) => isNew(before?.startedAt, after.startedAt),
  BatchStarted: (before, after) => isNew(before?.batch?.startedAt, after.batch?.startedAt),
  Paused: (before, after) => before?.pausedAt === undefined && after.pausedAt !== undefined,
  Completed: (before, after) => isNew(completedRevision(before), completedRevision(after)),
  Stopped: (before, after) => before?.stopped === undefined && after.stopped !== undefined,
  RolledBack: (before, after) => hasNewRecord('RolledBack', before, after),
};

function isNew(before: string | undefined, after: string | undefined): boolean {
  return after !== undefined && after !== before;
}

/** A pause of a set that rolls nothing out delays nothing. */
function rolloutEvents(
  before: Status,
  after: MachineComponentSetStatus,
  mode: RolloutMode,
): readonly RolloutEvent[] {
  const found = COMPONENT_ROLLOUT_EVENTS.filter((event) => HAPPENED[event](before, after));
  return isUnderWay(mode) ? found : found.filter((event) => event !== 'Paused');
}

/** A revert completes a revision that has a record already, so the newest record counts. */
function completedRevision(status: Status): string | undefined {
  const newest = status?.history?.[0];
  return newest?.result === 'Completed' && newest.revision === status?.updateRevision
    ? newest.revision
    : undefined;
}

/** Not by their number: a record replaces that of the oldest revision. A rollback is recorded when it begins, and again when it ends. */
export function hasNewRecord(
  result: RevisionRecord['result'],
  before: Status,
  after: MachineComponentSetStatus,
): boolean {
  const known = new Set(before?.history?.map(recordKey));
  return (after.history ?? []).some((record) => record.result === result && !known.has(recordKey(record)));
}

function recordKey({ revision, result, retryToken }: RevisionRecord): string {
  return [revision, result, retryToken].join(' ');
}

/** The last machine of a rollback is back, or a newer revision ended it. */
function hasRolledBack(before: Status, after: MachineComponentSetStatus): boolean {
  const open = before?.history?.find(
    ({ result, finishedAt }) => result === 'RolledBack' && finishedAt === undefined,
  );
  const ended = after.history?.find(({ revision }) => revision === open?.revision);
  return open !== undefined && ended?.result === 'RolledBack' && ended.finishedAt !== undefined;
}
