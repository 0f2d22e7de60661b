/** The Release of a commit: its name and its spec. Pure. */
import type { Pipeline, Release, ReleasePlan } from '../../../api/generated/types.ts';
import { GROUP, LABEL_MANAGED_BY, LABEL_PIPELINE, MANAGED_BY } from '../../../api/names.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { type AcceptedCommit, EMPTY_TARGET } from '../../commits.ts';
import { contentDigestOf } from '../../content-digest.ts';
import type { CommitHistory } from '../commit-history.ts';
import { unexercisedClusters } from '../stage/unexercised.ts';

const SHORT_COMMIT = 12;

export function releaseName(pipeline: string, commit: string): string {
  return `${pipeline}-${commit.slice(0, SHORT_COMMIT)}`;
}

/** Cluster names of each stage, in the order of promotion. */
export type ClusterNamesByStage = readonly (readonly string[])[];

export function newRelease(
  pipeline: Pipeline,
  commit: AcceptedCommit,
  stages: ClusterNamesByStage,
  history: CommitHistory,
): Release {
  const { name } = pipeline.metadata;
  return {
    apiVersion: `${GROUP}/v1alpha1`,
    kind: 'Release',
    metadata: {
      name: releaseName(name, commit.id),
      labels: { [LABEL_PIPELINE]: name, [LABEL_MANAGED_BY]: MANAGED_BY },
    },
    spec: {
      pipeline: name,
      commit: commit.id,
      ...optional('parent', commit.parent),
      ...optional('author', commit.author),
      ...optional('signer', commit.signer),
      ...optional('authors', commit.authors),
      ...optional('approvals', commit.approvals),
      ...optional('subject', commit.subject),
      ...optional('committedAt', commit.committedAt?.toISOString()),
      ...optional('revertOf', commit.revertOf),
      plan: planOf(commit, stages, history),
    },
  };
}

/**
 * Changes are relative to the previous accepted commit.
 */
function planOf(commit: AcceptedCommit, stages: ClusterNamesByStage, history: CommitHistory): ReleasePlan {
  const names = stages.flat();
  const previous = history.previous(commit.id);
  const digest = (of: string | undefined, name: string): string =>
    history.target(of, name)?.digest ?? EMPTY_TARGET.digest;
  const range = { from: previous?.id, to: commit.id };
  const unexercised = stages.map((own, index) =>
    unexercisedClusters(history, range, own, stages.slice(0, index).flat()),
  );
  return {
    digest: contentDigest(commit),
    clusters: names.length,
    changed: names.filter((name) => digest(commit.id, name) !== digest(previous?.id, name)).length,
    ...optional('deletes', commit.deletes),
    unexercised: unexercised.flat().length,
  };
}

/** Every reconcile needs the digest of the same immutable content. */
const contentDigests = new WeakMap<object, string>();

function contentDigest({ targets = NO_TARGETS }: AcceptedCommit): string {
  const known = contentDigests.get(targets);
  if (known !== undefined) return known;
  const found = contentDigestOf([...targets].map(([name, { digest }]) => [name, digest]));
  contentDigests.set(targets, found);
  return found;
}

const NO_TARGETS: NonNullable<AcceptedCommit['targets']> = new Map();

/** Another version of the toolchain may render the same commit to other content, which is not proven. */
export function rendersAsPromoted({ spec }: Pick<Release, 'spec'>, history: CommitHistory): boolean {
  return currentPlanDigest({ spec }, history) === spec.plan.digest;
}

/** The recorded digest while the commit is not rendered. */
export function currentPlanDigest({ spec }: Pick<Release, 'spec'>, history: CommitHistory): string {
  const commit = history.commit(spec.commit);
  return commit?.targets === undefined ? spec.plan.digest : contentDigest(commit);
}
