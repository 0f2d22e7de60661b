/** Builds the view of a rollout for people and programs, from the set and the machines that it selects. Pure. */
import type {
  CheckResult,
  FailedMachine,
  Machine,
  MachineComponentEntry,
  MachineComponentReport,
  MachineComponentSet,
  RolloutCounts,
  RolloutPlan,
  Wait,
} from '../../api/generated/types.ts';
import { versionsText } from '../../api/machine/versions-text.ts';
import { conditionOf } from '../../kube/objects/conditions.ts';
import { byCode } from '../../kube/objects/digest.ts';
import { optional } from '../../kube/objects/optional.ts';
import { judgingTimes } from '../../rollout/closed-times.ts';
import type { ClosedTimes } from '../../rollout/maintenance-windows.ts';
import { isSetObserved, type RolloutOutcome, rolloutOutcome } from './outcome.ts';
import { unblockOf } from './unblock.ts';

export interface RolloutView {
  readonly set: string;
  readonly phase: string;
  readonly outcome: RolloutOutcome;
  /** The revision that completed last. */
  readonly from?: string;
  readonly to?: string;
  /** The versions that the set asks for: `web 2.2.0, kubelet 1.36.3`. */
  readonly versions: string;
  readonly changes: readonly VersionChange[];
  readonly batch?: BatchView;
  readonly counts: Required<RolloutCounts>;
  readonly plan?: RolloutPlan;
  readonly waiting?: Wait;
  /** The time when the state of the rollout began. */
  readonly since?: string;
  readonly unblock: string;
  /** The times at which the set begins no update. */
  readonly closedTimes: ClosedTimes;
  readonly checks: readonly CheckResult[];
  /** The first machines that failed; `counts` has the number of all. */
  readonly failed: readonly FailedMachine[];
  readonly inWork: readonly MachineInWork[];
}

export interface BatchView {
  /** The index of the batch, from 0. */
  readonly index: number;
  /** The number of all batches, as far as they are known. */
  readonly of?: number;
  readonly size: number;
  readonly updated: number;
  readonly failed: number;
  readonly startedAt?: string;
  readonly soakUntil?: string;
}

export interface VersionChange {
  readonly component: string;
  /** The version before. Undefined: the component is new. */
  readonly from?: string;
  /** The version after. Undefined: the component is removed. */
  readonly to?: string;
}

export interface MachineInWork {
  readonly name: string;
  readonly componentRef: string;
  readonly state: string;
  readonly since?: string;
  readonly because: string;
}

type Status = NonNullable<MachineComponentSet['status']>;

const NO_STATUS: Status = { conditions: [] };
const NO_COUNTS: Required<RolloutCounts> = {
  selected: 0,
  updated: 0,
  ready: 0,
  inProgress: 0,
  failed: 0,
  rolledBack: 0,
  skipped: 0,
  held: 0,
  pinned: 0,
  drifted: 0,
  blocked: 0,
};

export function viewRollout(set: MachineComponentSet, inWork: readonly MachineInWork[]): RolloutView {
  const { metadata, status = NO_STATUS } = set;
  const { phase = 'Pending', counts, checks = [], failedMachines = [] } = status;
  const outcome = rolloutOutcome(set);
  return {
    set: metadata.name,
    phase: isSetObserved(set) ? phase : 'Pending',
    outcome,
    ...optional('from', fromRevision(status)),
    ...optional('to', status.updateRevision),
    versions: versionsText(set.spec.components),
    changes: versionChanges(set),
    ...optional('batch', viewBatch(status)),
    counts: { ...NO_COUNTS, ...counts },
    ...optional('plan', status.plan),
    ...optional('waiting', status.waiting),
    ...optional('since', sinceOf(status, outcome)),
    unblock: unblockOf(set),
    closedTimes: judgingTimes(set.spec.rollout, set.status?.closedTimes),
    checks,
    failed: failedMachines,
    inWork: inWork.toSorted((a, b) => byCode(a.name, b.name)),
  };
}

function viewBatch({ batch = {} }: Status): BatchView | undefined {
  const { index, of, size = 0, updated = 0, failed = 0, startedAt, soakUntil } = batch;
  if (index === undefined) return undefined;
  return {
    index,
    size,
    updated,
    failed,
    ...optional('of', of),
    ...optional('startedAt', startedAt),
    ...optional('soakUntil', soakUntil),
  };
}

/**
 * Returns the open component of a machine of the newest revision whose agent is not at its end. A machine counts once, with its first open
 * component.
 */
export function machineInWork(
  { metadata: { name }, spec, status }: Machine,
  { metadata, status: of = NO_STATUS }: MachineComponentSet,
): MachineInWork | undefined {
  const own = spec.components.filter(
    ({ assignment }) => assignment?.set === metadata.name && assignment.revision === of.updateRevision,
  );
  const reports = new Map(status?.components?.map((report) => [report.name, report]));
  const open = own.find((entry) => !isCommitted(entry, reports.get(entry.name)));
  return open && { name, componentRef: open.componentRef, ...workOf(reports.get(open.name)) };
}

function isCommitted({ digest }: MachineComponentEntry, report: MachineComponentReport | undefined): boolean {
  return report?.state === 'Committed' && report.digest === digest;
}

function workOf(report: MachineComponentReport | undefined): Omit<MachineInWork, 'name' | 'componentRef'> {
  const { state = 'NotReported', since, waiting, error } = report ?? {};
  return { state, because: waiting?.message ?? error?.message ?? '', ...optional('since', since) };
}

function sinceOf(status: Status, { state, isBehind }: RolloutOutcome): string | undefined {
  const { conditions, waiting, batch } = status;
  const transition = (type: string): string | undefined => conditionOf(conditions, type)?.lastTransitionTime;
  if (isBehind) return completedAt(status) ?? transition('Progressing');
  if (state === 'Completed') return transition('UpToDate');
  return waiting?.since ?? batch?.startedAt ?? transition('Progressing');
}

function completedAt({ history, currentRevision }: Status): string | undefined {
  return history?.find(({ revision }) => revision === currentRevision)?.finishedAt;
}

function fromRevision({ currentRevision, updateRevision }: Status): string | undefined {
  return currentRevision === updateRevision ? undefined : currentRevision;
}

/** Lists the changes of versions against the revision that completed last; without one everything is new. */
function versionChanges({ spec, status }: MachineComponentSet): readonly VersionChange[] {
  const record = status?.history?.find(({ revision }) => revision === status.currentRevision);
  const refs = record?.components ?? [];
  return spec.components.flatMap(({ name, componentRef, state }): readonly VersionChange[] => {
    const from = refs.find((ref) => ref.startsWith(`${name}-`) && !isOfOther(ref, name, spec));
    if (state === 'Absent') return [{ component: name, ...optional('from', from) }];
    return from === componentRef ? [] : [{ component: name, ...optional('from', from), to: componentRef }];
  });
}

/**
 * Tells whether the ref is one of another component: `node-exporter-1.8` is not a version of `node` when the set has a component
 * node-exporter.
 */
function isOfOther(ref: string, name: string, { components }: MachineComponentSet['spec']): boolean {
  return components.some((each) => each.name.length > name.length && ref.startsWith(`${each.name}-`));
}
