/** The status of a Release: the recorded status, updated by the findings of this reconcile. Pure. */
import type { FailedCluster, Release, ReleaseStage, ReleaseStatus } from '../../../api/generated/types.ts';
import { releasePhases } from '../../../api/status/phase-tables.ts';
import { type ConditionUpdate, withConditions } from '../../../kube/objects/conditions.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import { MAX_NAMES } from '../bounds.ts';
import { waitFor } from '../wait.ts';

/** One stage of a Release, without the times that are recorded. */
export type StageFinding = Omit<ReleaseStage, 'waiting' | 'startedAt' | 'provenAt'> & {
  readonly wait?: Explanation;
};

export interface ReleaseFinding {
  readonly stages: readonly StageFinding[];
  readonly failed: readonly FailedCluster[];
  readonly supersededBy?: string;
  /** The explanation of a stage that is late, held or out of budget: only a person or a newer commit helps. */
  readonly stalled?: Explanation;
}

export function releaseStatus(release: Release, finding: ReleaseFinding, now: Date): ReleaseStatus {
  const before = release.status;
  const stages = finding.stages.map((stage) => stageStatus(before, stage, now));
  const current = stages.find(({ state }) => state !== 'Proven');
  const isFinished = !current || finding.supersededBy !== undefined;
  const observedGeneration = optional('observedGeneration', release.metadata.generation);
  const findings = conditionFindings(finding, current);
  const conditions = withConditions(before?.conditions, findings, now, release.metadata.generation);
  return {
    ...observedGeneration,
    phase: releasePhases.phaseOf({ conditions }),
    conditions,
    ...optional('waiting', isFinished ? undefined : current.waiting),
    stages,
    ...optional('stage', current?.name),
    clusters: { total: sum(stages, 'total'), proven: sum(stages, 'proven'), failed: sum(stages, 'failed') },
    ...(finding.failed.length > 0 ? { failedClusters: finding.failed.slice(0, MAX_NAMES) } : {}),
    ...optional('supersededBy', finding.supersededBy),
    ...times(before, stages, isFinished ? now : undefined),
  };
}

function times(
  before: ReleaseStatus | undefined,
  stages: readonly ReleaseStage[],
  end: Date | undefined,
): Partial<ReleaseStatus> {
  const started = stages.find((stage) => stage.startedAt !== undefined)?.startedAt;
  return {
    ...optional('startedAt', before?.startedAt ?? started),
    ...optional('finishedAt', before?.finishedAt ?? end?.toISOString()),
  };
}

const STARTED: ReadonlySet<ReleaseStage['state']> = new Set(['Promoting', 'Soaking', 'Proven', 'Failed']);

/** Proven and Superseded are final: later events revoke no proof. */
function stageStatus(before: ReleaseStatus | undefined, finding: StageFinding, now: Date): ReleaseStage {
  const old = before?.stages?.find(({ name }) => name === finding.name);
  return old && isFinal(old) ? old : merged(old, finding, now);
}

function merged(old: ReleaseStage | undefined, { wait, ...found }: StageFinding, now: Date): ReleaseStage {
  const since = (holds: boolean): string | undefined => (holds ? now.toISOString() : undefined);
  const { startedAt, failedAt, waiting }: Partial<ReleaseStage> = old ?? {};
  return {
    ...found,
    ...optional('startedAt', startedAt ?? since(STARTED.has(found.state))),
    ...optional('provenAt', since(found.state === 'Proven')),
    ...optional('failedAt', failedAt ?? since(found.state === 'Failed')),
    ...optional('waiting', wait && waitFor(waiting, wait, now)),
  };
}

export function isFinal({ state }: Pick<ReleaseStage, 'state'>): boolean {
  return state === 'Proven' || state === 'Superseded';
}

function sum(stages: readonly ReleaseStage[], field: 'total' | 'proven' | 'failed'): number {
  return stages.reduce((all, { clusters }) => all + (clusters?.[field] ?? 0), 0);
}

function conditionFindings(
  finding: ReleaseFinding,
  current: ReleaseStage | undefined,
): readonly ConditionUpdate[] {
  const { supersededBy } = finding;
  const succeeded = current === undefined;
  const superseded = supersededBy !== undefined;
  const stalled = succeeded || superseded ? undefined : finding.stalled;
  return [
    current && !superseded ? progressing(current, stalled) : finished(succeeded ? 'Succeeded' : 'Superseded'),
    booleanFinding('Succeeded', succeeded, {
      reason: 'Proven',
      yes: 'proven in every stage',
      no: 'not proven in every stage',
    }),
    booleanFinding('Superseded', superseded, {
      reason: 'NewerCommit',
      yes: `replaced by ${supersededBy}`,
      no: 'not replaced by a newer commit',
    }),
    stalled
      ? { type: 'Stalled', status: 'True', reason: stalled.reason, message: stalled.because }
      : { type: 'Stalled', status: 'False', reason: 'NotStalled', message: 'no action required' },
  ];
}

function finished(reason: string): ConditionUpdate {
  return { type: 'Progressing', status: 'False', reason, message: 'finished' };
}

function progressing({ state, waiting }: ReleaseStage, stalled: Explanation | undefined): ConditionUpdate {
  const isProgressing = (state === 'Promoting' || state === 'Soaking') && !stalled;
  const { reason, message } = { reason: 'Pending', message: 'not started yet', ...waiting };
  return { type: 'Progressing', status: isProgressing ? 'True' : 'False', reason, message };
}

export function booleanFinding(
  type: string,
  holds: boolean,
  texts: { readonly reason: string; readonly yes: string; readonly no: string },
): ConditionUpdate {
  return holds
    ? { type, status: 'True', reason: texts.reason, message: texts.yes }
    : { type, status: 'False', reason: `Not${texts.reason}`.slice(0, 64), message: texts.no };
}
