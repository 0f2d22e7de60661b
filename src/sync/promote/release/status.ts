/** The status of a Release: what was written down and what was found, together. Pure. */
import type { FailedCluster, Release, ReleaseStage, ReleaseStatus } from '../../../api/generated/types.ts';
import { releasePhases } from '../../../api/phases.ts';
import { type ConditionUpdate, withConditions } from '../../../kube/objects/conditions.ts';
import { type Because, MAX_NAMES, optional } from '../snapshot.ts';
import { waitFor } from '../wait.ts';

/** What is known of one stage of a Release, before it is written down. */
export type StageFinding = Omit<ReleaseStage, 'waiting' | 'startedAt' | 'provenAt'> & {
  readonly wait?: Because;
};

export interface ReleaseFinding {
  readonly stages: readonly StageFinding[];
  readonly failed: readonly FailedCluster[];
  readonly supersededBy?: string;
  /** Late, held or out of budget: it does not get on without a person or a newer commit. */
  readonly stalled?: Because;
}

export function releaseStatus(release: Release, finding: ReleaseFinding, now: Date): ReleaseStatus {
  const before = release.status;
  const stages = finding.stages.map((stage) => stageStatus(before, stage, now));
  const current = stages.find(({ state }) => state !== 'Proven');
  const over = !current || finding.supersededBy !== undefined;
  const observedGeneration = optional('observedGeneration', release.metadata.generation);
  const said = findingsOf(finding, current).map((one) => ({ ...one, ...observedGeneration }));
  const conditions = withConditions(before?.conditions, said, now);
  return {
    ...observedGeneration,
    phase: releasePhases.phaseOf({ conditions }),
    conditions,
    ...optional('waiting', over ? undefined : current.waiting),
    stages,
    ...optional('stage', current?.name),
    clusters: { total: sum(stages, 'total'), proven: sum(stages, 'proven'), failed: sum(stages, 'failed') },
    ...(finding.failed.length > 0 ? { failedClusters: finding.failed.slice(0, MAX_NAMES) } : {}),
    ...optional('supersededBy', finding.supersededBy),
    ...moments(before, stages, over ? now : undefined),
  };
}

function moments(
  before: ReleaseStatus | undefined,
  stages: readonly ReleaseStage[],
  end: Date | undefined,
): Partial<ReleaseStatus> {
  const begun = stages.find((stage) => stage.startedAt !== undefined)?.startedAt;
  return {
    ...optional('startedAt', before?.startedAt ?? begun),
    ...optional('finishedAt', before?.finishedAt ?? end?.toISOString()),
  };
}

const BEGUN: ReadonlySet<ReleaseStage['state']> = new Set(['Promoting', 'Soaking', 'Proven', 'Failed']);

/** Proven and Superseded are final: what happens later takes no proof back. */
function stageStatus(before: ReleaseStatus | undefined, finding: StageFinding, now: Date): ReleaseStage {
  const old = before?.stages?.find(({ name }) => name === finding.name);
  return old && isFinal(old) ? old : merged(old, finding, now);
}

function merged(old: ReleaseStage | undefined, { wait, ...found }: StageFinding, now: Date): ReleaseStage {
  const startedAt = BEGUN.has(found.state) ? now.toISOString() : undefined;
  return {
    ...found,
    ...optional('startedAt', old?.startedAt ?? startedAt),
    ...optional('provenAt', found.state === 'Proven' ? now.toISOString() : undefined),
    ...optional('waiting', wait && waitFor(old?.waiting, wait, now)),
  };
}

export function isFinal({ state }: Pick<ReleaseStage, 'state'>): boolean {
  return state === 'Proven' || state === 'Superseded';
}

function sum(stages: readonly ReleaseStage[], field: 'total' | 'proven' | 'failed'): number {
  return stages.reduce((all, { clusters }) => all + (clusters?.[field] ?? 0), 0);
}

function findingsOf(finding: ReleaseFinding, current: ReleaseStage | undefined): readonly ConditionUpdate[] {
  const { supersededBy } = finding;
  const succeeded = current === undefined;
  const superseded = supersededBy !== undefined;
  const stalled = succeeded || superseded ? undefined : finding.stalled;
  return [
    current && !superseded ? progress(current, stalled) : ended(succeeded ? 'Succeeded' : 'Superseded'),
    yesNo('Succeeded', succeeded, {
      reason: 'Proven',
      yes: 'proven in every stage',
      no: 'not proven in every stage',
    }),
    yesNo('Superseded', superseded, {
      reason: 'NewerCommit',
      yes: `${supersededBy} took over`,
      no: 'no newer commit took over',
    }),
    stalled
      ? { type: 'Stalled', status: 'True', reason: stalled.reason, message: stalled.because }
      : { type: 'Stalled', status: 'False', reason: 'NotStalled', message: 'it goes on by itself' },
  ];
}

function ended(reason: string): ConditionUpdate {
  return { type: 'Progressing', status: 'False', reason, message: 'it has ended' };
}

/** A stage that moves or soaks goes on, whatever it waits for inside. */
function progress({ state, waiting }: ReleaseStage, stalled: Because | undefined): ConditionUpdate {
  const moves = (state === 'Promoting' || state === 'Soaking') && !stalled;
  const { reason, message } = { reason: 'Pending', message: 'its turn has not come', ...waiting };
  return { type: 'Progressing', status: moves ? 'True' : 'False', reason, message };
}

export function yesNo(
  type: string,
  holds: boolean,
  say: { readonly reason: string; readonly yes: string; readonly no: string },
): ConditionUpdate {
  return holds
    ? { type, status: 'True', reason: say.reason, message: say.yes }
    : { type, status: 'False', reason: `Not${say.reason}`.slice(0, 64), message: say.no };
}
