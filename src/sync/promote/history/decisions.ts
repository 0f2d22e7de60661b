/** Lists what people decided about a commit on one cluster, for its history. Pure. */
import type { CommitRun, HeldDeletes, Pipeline } from '../../../api/generated/types.ts';

export interface DecidedRun extends Pick<CommitRun, 'commit' | 'digest' | 'stage'> {
  /** The digest of the plan of its Release. */
  readonly planDigest?: string;
  /** The deletes that were held before this reconcile. */
  readonly held?: readonly HeldDeletes[];
}

export function decisionsAbout(spec: Pipeline['spec'], run: DecidedRun): readonly string[] {
  return [...acceptedHead(spec, run), ...approvals(spec, run), ...acknowledgements(spec, run)];
}

function acceptedHead({ acceptedHead: head, source }: Pipeline['spec'], { commit }: DecidedRun): string[] {
  if (head?.commit === commit) return [`head accepted by ${head.by}`];
  return source.acceptHead === commit ? ['head accepted in git, by spec.source.acceptHead'] : [];
}

function approvals(spec: Pipeline['spec'], { stage, planDigest }: DecidedRun): string[] {
  return spec.approvals
    .filter((approval) => approval.stage === stage && approval.planDigest === planDigest)
    .map(({ reason }) => `approved for stage ${stage}: ${reason}`);
}

/** An acknowledgement names the content that failed here, or the deletes that are held here. */
function acknowledgements(spec: Pipeline['spec'], { digest, held = [] }: DecidedRun): string[] {
  return spec.acknowledgements.flatMap(({ planDigest, unit, reason }) => {
    if (planDigest === digest) return [`failure acknowledged: ${reason}`];
    const isHeld = held.some((each) => each.unit === unit && each.planDigest === planDigest);
    return isHeld ? [`deletes of unit ${unit} acknowledged: ${reason}`] : [];
  });
}
