/** The Pipeline by which this reconcile judges, and the record of its gates. Pure. */
import type { PipelineGates, Release } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { CommitHistory } from '../commit-history.ts';
import { currentPlanDigest } from '../release/release.ts';
import type { PromotionInput } from '../snapshot.ts';
import { countedApprovals, type JudgingPipeline, judgingPipeline, recordGates } from './in-force.ts';

export interface GatesPlan extends JudgingPipeline {
  /** The gates to record; absent before the first commit. */
  readonly gates?: PipelineGates;
}

/** Plans the record of the gates. It stays without an accepted commit that is rendered, and so gets a Release. */
export function planGates(snapshot: PromotionInput, history: CommitHistory): GatesPlan {
  const { pipeline, releases } = snapshot;
  const newest = history.newest?.targets && history.newest.id;
  const others = releases.filter(({ spec }) => spec.commit !== newest);
  const unfinished = others.filter(({ status }) => status?.finishedAt === undefined);
  const gates =
    newest === undefined
      ? pipeline.status?.gates
      : recordGates(pipeline, { newest, live: commitsOf(unfinished), released: commitsOf(releases) });
  const recorded =
    gates && pipeline.status ? { ...pipeline, status: { ...pipeline.status, gates } } : pipeline;
  const judging = judgingPipeline(recorded);
  const plans = new Set(others.map((release) => currentPlanDigest(release, history)));
  const approvals = countedApprovals(recorded, plans);
  const spec = { ...judging.pipeline.spec, approvals };
  return {
    stageLists: judging.stageLists,
    // The status as recorded: what is planned here is compared with it.
    pipeline: { ...judging.pipeline, spec, ...optional('status', pipeline.status) },
    ...optional('gates', gates),
  };
}

function commitsOf(releases: readonly Release[]): readonly string[] {
  return releases.map(({ spec }) => spec.commit);
}
