/**
 * Which gates a commit is judged by: those in force before it, and what it tightens itself. They are recorded in
 * `status.gates` of the Pipeline, the object that also has the new ones, so that every process reads both or neither. Pure.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Pipeline, PipelineGates, Stage } from '../../../api/generated/types.ts';
import { ANNOTATION_COMMIT } from '../../../api/names.ts';
import { byCode } from '../../../kube/objects/digest.ts';
import { type GateSet, gatesOf, isApproved, strictestGates } from './strictest.ts';

/** The Pipeline with the gates that count now. */
export interface JudgingPipeline {
  readonly pipeline: Pipeline;
  /** Stages whose selectors decide, the first list that selects a cluster in one stage: those in force, then the new ones. */
  readonly stageLists: readonly (readonly Stage[])[];
}

/** Returns the Pipeline with the gates as recorded. Until the gates of a new commit are recorded, those in force before it count too. */
export function judgingPipeline(pipeline: Pipeline): JudgingPipeline {
  const { gates } = pipeline.status ?? {};
  const recorded = gates ? [...(gates.judging ? [gates.judging.gates] : []), gates.inForce] : [];
  const sets = [...recorded, gatesOf(pipeline.spec)];
  const strictest = sets.reduce(strictestGates);
  const { approvals } = pipeline.spec;
  const { forceManagers = [], healthExpressions = [], identities = [] } = strictest;
  return {
    pipeline: {
      ...pipeline,
      spec: { ...pipeline.spec, ...strictest, forceManagers, healthExpressions, identities, approvals },
    },
    stageLists: sets.map(({ stages }) => stages),
  };
}

export interface GatesContext {
  /** The newest accepted commit. Its Release exists. */
  readonly newest: string;
  /** Commits with an unfinished Release: each keeps the gates that it is judged by. */
  readonly live: readonly string[];
  /** Commits that have a Release, also a finished one. */
  readonly released: readonly string[];
}

/** The record after this reconcile. The first commit of a Pipeline has no gates before it but its own. */
export function recordGates(pipeline: Pipeline, context: GatesContext): PipelineGates {
  const { newest } = context;
  const inForce = gatesOf(pipeline.spec);
  const before = pipeline.status?.gates;
  if (!before) return { commit: newest, inForce };
  const commits = judgedCommits(pipeline, before, context);
  const gates = judgingGates(before, inForce);
  if (commits.length === 0 || isDeepStrictEqual(gates, inForce)) return { commit: newest, inForce };
  return { commit: newest, inForce, judging: { commits, gates } };
}

function judgingGates({ judging, inForce }: PipelineGates, now: GateSet): GateSet {
  return [...(judging ? [judging.gates] : []), inForce, now].reduce(strictestGates);
}

/**
 * With the commit that the Pipeline was applied from: when another Pipeline of the same repository applied it, the commit is
 * accepted here only later, and is still the one that loosened the gates.
 */
function judgedCommits(
  { metadata, spec }: Pipeline,
  before: PipelineGates,
  { newest, live, released }: GatesContext,
): readonly string[] {
  const isChanged = !isDeepStrictEqual(before.inForce, gatesOf(spec));
  const changedBy = metadata.annotations?.[ANNOTATION_COMMIT];
  const added = isChanged ? [newest, ...live, ...(changedBy ? [changedBy] : [])] : [];
  const all = [...new Set([...(before.judging?.commits ?? []), ...added])].toSorted(byCode);
  const isAwaited = (commit: string): boolean =>
    commit === changedBy && newest === before.commit && !released.includes(commit);
  return all.filter((commit) => commit === newest || live.includes(commit) || isAwaited(commit));
}

/**
 * Approvals that count. One that a commit brings for its own plan does not count yet: a plan is approved once it has a Release,
 * so `others` are the plan digests of the Releases of other commits.
 */
export function countedApprovals(
  { spec, status }: Pipeline,
  others: ReadonlySet<string>,
): GateSet['approvals'] {
  const { judging, inForce } = status?.gates ?? {};
  const before = judging?.gates.approvals ?? inForce?.approvals ?? spec.approvals;
  return spec.approvals.filter((each) => isApproved(before, each) || others.has(each.planDigest));
}
