/** Release: its name, and what it says of its commit. Pure. */
import type { Pipeline, Release, ReleasePlan } from '../../../api/generated/types.ts';
import { GROUP, LABEL_MANAGED_BY, LABEL_PIPELINE, MANAGED_BY } from '../../../api/names.ts';
import { byCode, digestOf } from '../../../kube/objects/digest.ts';
import type { AcceptedCommit } from '../../commits.ts';
import { EMPTY_TARGET } from '../../commits.ts';
import type { History } from '../commit-history.ts';
import { cut, optional } from '../snapshot.ts';
import { unexercisedIn } from '../stage/unexercised.ts';

const SHORT_COMMIT = 12;

export function releaseName(pipeline: string, commit: string): string {
  return `${pipeline}-${commit.slice(0, SHORT_COMMIT)}`;
}

/** Clusters of each stage, in the order of promotion. */
export type Stages = readonly (readonly string[])[];

export function newRelease(
  pipeline: Pipeline,
  commit: AcceptedCommit,
  stages: Stages,
  history: History,
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
      ...optional('author', commit.author && cut(commit.author, 128)),
      ...optional('subject', commit.subject && cut(commit.subject, 200)),
      ...optional('committedAt', commit.committedAt?.toISOString()),
      ...optional('revertOf', commit.revertOf),
      plan: planOf(commit, stages, history),
    },
  };
}

/**
 * The digest is over content alone: a commit on top that changes no cluster, as the one that adds an approval, has the same
 * plan. What changes is told against the commit before it among the accepted ones.
 */
function planOf(commit: AcceptedCommit, stages: Stages, history: History): ReleasePlan {
  const names = stages.flat();
  const before = history.before(commit.id);
  const target = (of: string | undefined, name: string): string =>
    history.target(of, name)?.digest ?? EMPTY_TARGET.digest;
  const range = { from: before?.id, to: commit.id };
  const unexercised = stages.map((own, index) =>
    unexercisedIn(history, range, own, stages.slice(0, index).flat()),
  );
  return {
    digest: contentDigest(commit),
    clusters: names.length,
    changed: names.filter((name) => target(commit.id, name) !== target(before?.id, name)).length,
    ...optional('deletes', commit.deletes),
    ...optional('disrupts', commit.disrupts),
    unexercised: unexercised.flat().length,
  };
}

/** Asked in every pass, of what never changes. */
const contentDigests = new WeakMap<object, string>();

function contentDigest({ targets = NO_TARGETS }: AcceptedCommit): string {
  const known = contentDigests.get(targets);
  if (known !== undefined) return known;
  const content = [...targets].map(([name, { digest }]) => [name, digest]);
  const found = digestOf(content.toSorted(([a = ''], [b = '']) => byCode(a, b)));
  contentDigests.set(targets, found);
  return found;
}

const NO_TARGETS: NonNullable<AcceptedCommit['targets']> = new Map();

/**
 * Another toolchain may render the same commit to something else: its name was promoted, but not what it says now. While it is not
 * rendered nothing is known against it.
 */
export function rendersAsPromoted({ spec }: Pick<Release, 'spec'>, history: History): boolean {
  return planDigestOf({ spec }, history) === spec.plan.digest;
}

export function planDigestOf({ spec }: Pick<Release, 'spec'>, history: History): string {
  const commit = history.commit(spec.commit);
  return commit?.targets === undefined ? spec.plan.digest : contentDigest(commit);
}
