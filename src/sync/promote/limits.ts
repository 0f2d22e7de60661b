/**
 * Every brake of a promotion is the same thing: how many more clusters may begin, and why not one more. Those of
 * `entryLimits` also keep a stage from taking a new commit at all; windows and freezes are lines of that list.
 */
import type { Pipeline, Stage } from '../../api/generated/types.ts';
import { amountOf } from '../../rollout/int-or-percent.ts';
import type { Because } from './snapshot.ts';

export interface Limit extends Because {
  readonly places: number;
}

export interface Entry {
  readonly pipeline: Pipeline;
  readonly stage: Stage;
  /** Of what the commit renders to now. */
  readonly planDigest: string;
  /** Clusters of no stage. */
  readonly unassigned: readonly string[];
  /** Clusters of this stage that the commit changes. */
  readonly changes: number;
  /** Of these changes, those that no earlier stage ran. */
  readonly unexercised: number;
}

const OPEN: Limit = { places: Number.POSITIVE_INFINITY, reason: 'Open', because: 'nothing holds it up' };

export function entryLimit(entry: Entry): Limit {
  return tightest([...paused(entry.pipeline), ...unassigned(entry), ...approval(entry), OPEN]);
}

export interface Begin {
  readonly pipeline: Pipeline;
  readonly stage: Stage;
  readonly unassigned: readonly string[];
  readonly total: number;
  readonly busy: number;
  readonly failed: readonly string[];
  /** The commit, when it renders to what the stage before has not proven. */
  readonly rerendered?: string;
}

/** Asked before each cluster. */
export function beginLimit(begin: Begin): Limit {
  return tightest([
    ...paused(begin.pipeline),
    ...unassigned(begin),
    ...rerendered(begin),
    ...failureBudget(begin),
    concurrency(begin),
  ]);
}

function paused({ metadata, spec }: Pipeline): Limit[] {
  if (!spec.paused) return [];
  const blocker = { kind: 'Pipeline', name: metadata.name };
  return [{ places: 0, reason: 'Paused', because: `pipeline ${metadata.name} is paused`, blocker }];
}

function unassigned({ pipeline, unassigned: names }: Pick<Entry, 'pipeline' | 'unassigned'>): Limit[] {
  const [first] = names;
  if (pipeline.spec.unassigned !== 'Fail' || first === undefined) return [];
  const because = `${names.length} clusters belong to no stage: ${names.slice(0, 20).join(', ')}`;
  return [{ places: 0, reason: 'ClusterUnassigned', because, blocker: { kind: 'Cluster', name: first } }];
}

/** S32: proof is of content. A newer commit, or the stage before, brings it on. */
function rerendered({ stage, rerendered: commit }: Begin): Limit[] {
  if (commit === undefined) return [];
  const because = `${commit} renders to something else than what was promoted to ${stage.name}: the stage before has to prove that first`;
  return [{ places: 0, reason: 'RenderChanged', because }];
}

/** What changes nothing here needs nobody's word. */
function approval({ pipeline, stage, planDigest, changes, unexercised }: Entry): Limit[] {
  const asked = { None: 0, Unexercised: unexercised, Required: changes }[stage.approval];
  const approved = pipeline.spec.approvals.some(
    (given) => given.stage === stage.name && given.planDigest === planDigest,
  );
  if (asked === 0 || approved) return [];
  const what = stage.approval === 'Unexercised' ? ' for what no earlier stage ran' : '';
  const because = `stage ${stage.name} needs an approval${what}: plan ${planDigest} in spec.approvals`;
  const blocker = { kind: 'Pipeline', name: pipeline.metadata.name };
  return [{ places: 0, reason: 'ApprovalRequired', because, blocker }];
}

export function failureBudget({ stage, total, failed }: Pick<Begin, 'stage' | 'total' | 'failed'>): Limit[] {
  const allowed = amountOf(stage.maxFailedClusters, total);
  const [first] = failed;
  if (first === undefined || failed.length <= allowed) return [];
  const because = `clusters failed in ${stage.name}: ${failed.length}, allowed: ${allowed} (${failed.slice(0, 20).join(', ')})`;
  return [{ places: 0, reason: 'FailureBudgetSpent', because, blocker: { kind: 'Cluster', name: first } }];
}

function concurrency({ stage, total, busy }: Begin): Limit {
  const allowed = amountOf(stage.maxConcurrentClusters, total);
  return {
    places: allowed - busy,
    reason: 'StageFull',
    because: `clusters busy in ${stage.name}: ${busy}, allowed: ${allowed}`,
  };
}

/** Of equally tight limits the first is named, so they are listed by what people should hear first. */
function tightest(limits: readonly [...Limit[], Limit]): Limit {
  return limits.reduce((tight, next) => (Math.max(0, next.places) < tight.places ? next : tight));
}
