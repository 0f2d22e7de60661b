/** Describes a commit for the audit record by what the hub knows: its Release, and the approvals in its Pipeline. */
import type { AuditApproval } from '../../api/audit/lines.ts';
import type { Cluster, Pipeline, Release } from '../../api/generated/types.ts';
import { activeRollback } from '../../api/status/rollbacks.ts';
import type { Store } from '../../kube/cache/store.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { CommitOrigin } from '../apply/audit/apply-audit.ts';
import { findApproving } from '../promote/gates/approvers.ts';
import { type OrderedRelease, releasesByTime } from '../promote/release/order.ts';
import { releaseName } from '../promote/release/release.ts';

export interface OriginStores {
  readonly releases: Pick<Store<Release>, 'get' | 'byIndex'>;
  readonly pipelines: Pick<Store<Pipeline>, 'get'>;
}

/** Returns who rolled the cluster back to the commit, and why. */
export function rollbackOrigin(
  cluster: Pick<Cluster, 'spec' | 'status'> | undefined,
  commit: string,
): Pick<CommitOrigin, 'rollback'> {
  const rollback = cluster && activeRollback(cluster);
  if (rollback?.commit !== commit) return {};
  const { by, reason, since } = rollback;
  return { rollback: { by, reason, since } };
}

/**
 * Returns the approvals of the plan of a Release that the Pipeline declares: for each the commit that brought it, and who signed that.
 * `known` returns the Releases of the Pipeline.
 */
export function approvalsOf(
  { plan }: Pick<Release['spec'], 'plan'>,
  pipeline: Pipeline | undefined,
  known: () => readonly Release[],
): readonly AuditApproval[] {
  const own = (pipeline?.spec.approvals ?? []).filter(({ planDigest }) => planDigest === plan.digest);
  const releases = own.length === 0 ? [] : releasesByTime(known());
  return own.map((approval) => ({ ...approval, ...approverOf(approval, releases) }));
}

function approverOf(
  { stage, planDigest }: Pick<AuditApproval, 'stage'> & { readonly planDigest: string },
  releases: readonly OrderedRelease[],
): Pick<AuditApproval, 'commit' | 'by'> {
  const { commit, signer } = findApproving({ stage, planDigest, releases })?.release.spec ?? {};
  return { ...optional('commit', commit), ...optional('by', signer) };
}

/** Returns nothing about a commit without a Release: the hub's own objects may be applied before it is created. */
export function commitOrigin(
  { releases, pipelines }: OriginStores,
  pipeline: string,
  commit: string,
): CommitOrigin {
  const release = releases.get(releaseName(pipeline, commit));
  if (release?.spec.commit !== commit) return {};
  const { author, subject, signer, plan } = release.spec;
  const approvals = approvalsOf(release.spec, pipelines.get(pipeline), () =>
    releases.byIndex('pipeline', pipeline),
  );
  return {
    ...optional('author', author),
    ...optional('subject', subject),
    ...optional('signer', signer),
    plan: plan.digest,
    ...(approvals.length === 0 ? {} : { approvals }),
  };
}
