/** Plans the approval that `kubenode release approve` prints or commits. Pure. */
import type { Pipeline, Release, Stage } from '../../../../api/generated/types.ts';
import { excludedApprovers } from '../../../../sync/promote/gates/approvers.ts';
import type { HubObjects } from '../../../../views/status/hub-objects.ts';
import type { ListEntry } from '../../../commit/edit.ts';
import { CliError, EXIT } from '../../../errors.ts';
import { findByName } from '../../../fleet/hub-objects.ts';

export interface ApprovalRequest {
  readonly release: string;
  readonly stage: string;
  readonly reason: string;
  /** The plan that was reviewed, as a check. */
  readonly planDigest?: string;
}

export interface PlannedApproval {
  readonly release: Release;
  readonly pipeline: Pipeline;
  /** The entry for `spec.approvals`. */
  readonly entry: ListEntry;
  /** Whose approval does not count as that of another person. Undefined: the stage does not ask for another person. */
  readonly excluded: readonly string[] | undefined;
}

/** The limits of `spec.approvals` in the kind. */
const MAX_APPROVALS = 32;
const MAX_REASON = 256;

/** Refuses an approval that would have no effect. */
export function planReleaseApproval(
  { releases, pipelines }: Pick<HubObjects, 'releases' | 'pipelines'>,
  { release: name, stage: stageName, reason, planDigest }: ApprovalRequest,
): PlannedApproval {
  const release = findByName('Release', releases, name);
  const pipeline = findByName('Pipeline', pipelines, release.spec.pipeline);
  const stage = stageNamed(pipeline, stageName);
  const { digest } = release.spec.plan;
  checkReason(reason);
  checkDigest(release, planDigest);
  checkWaits(release, stage);
  const entry = { stage: stageName, planDigest: digest, reason };
  checkCount(pipeline, entry);
  return {
    release,
    pipeline,
    entry,
    excluded: stage.approvalByOther ? excludedApprovers(release, stageName, releases) : undefined,
  };
}

function stageNamed({ metadata, spec }: Pipeline, name: string): Stage {
  const found = spec.stages.find((stage) => stage.name === name);
  if (found) return found;
  const names = spec.stages.map((stage) => stage.name).join(', ');
  throw refused(`pipeline ${metadata.name} has no stage ${name}`, `use one of: ${names}`);
}

function checkReason(reason: string): void {
  if (reason.trim() !== '' && reason.length <= MAX_REASON) return;
  throw refused(
    `expected a reason of 1 to ${MAX_REASON} characters, got ${reason.trim() === '' ? 0 : reason.length}`,
    'tell people in --reason why it is approved',
  );
}

function checkDigest({ metadata, spec }: Release, planDigest: string | undefined): void {
  const { digest } = spec.plan;
  if (planDigest === undefined || planDigest === digest) return;
  throw refused(
    `the plan of Release ${metadata.name} is ${digest}, not ${planDigest}`,
    `review that plan: kubenode release show ${metadata.name}`,
  );
}

function checkWaits(release: Release, stage: Stage): void {
  const { metadata, status } = release;
  const { name } = metadata;
  const other = status?.supersededBy;
  if (other !== undefined) {
    throw refused(
      `Release ${name} was replaced by ${other}: its plan has lapsed`,
      `review the new one: kubenode release show ${other}`,
    );
  }
  const ended = endedState(release, stage.name);
  if (ended !== undefined) {
    throw refused(
      `stage ${stage.name} does not wait for Release ${name}, which is ${ended}`,
      'to see what waits: kubenode release list',
    );
  }
  if (stage.approval !== 'None') return;
  throw refused(
    `stage ${stage.name} asks for no approval`,
    'to ask for one, set approval of the stage in git',
  );
}

function endedState({ status }: Release, stage: string): string | undefined {
  const { stages = [], finishedAt } = status ?? {};
  const state = stages.find(({ name }) => name === stage)?.state;
  if (state !== undefined && DONE.has(state)) return `${state} there`;
  return finishedAt === undefined ? undefined : 'over';
}

/** The stage has begun with the commit, or never will. */
const DONE: ReadonlySet<string> = new Set(['Promoting', 'Soaking', 'Proven', 'Superseded']);

function checkCount({ metadata, spec }: Pipeline, { stage, planDigest }: ListEntry): void {
  const others = spec.approvals.filter((each) => each.stage !== stage || each.planDigest !== planDigest);
  if (others.length < MAX_APPROVALS) return;
  throw refused(
    `Pipeline ${metadata.name} has ${MAX_APPROVALS} approvals already`,
    'remove those of finished releases from spec.approvals',
  );
}

function refused(because: string, hint: string): CliError {
  return new CliError(`the approval cannot be declared: ${because}`, { hint, exitCode: EXIT.badInput });
}
