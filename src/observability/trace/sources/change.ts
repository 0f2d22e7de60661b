/** Makes the trace of a commit on a hub: from the commit to the last stage, with the clusters of each stage. Pure. */
import type { Cluster, Release } from '../../../api/generated/types.ts';
import { changeSpan, type StepOutcome, type Trace } from '../trace.ts';
import { changeStart } from './change-start.ts';
import type { EndedTrace } from './ended.ts';
import { releaseStep } from './release-step.ts';

export interface ChangeObjects {
  /** Those of the same commit: one for each Pipeline. */
  readonly releases: readonly Release[];
  readonly clusters: readonly Cluster[];
}

/** Returns the Releases of a trace: this one, and those of the same commit that change a cluster. Others may never end. */
export function releasesOfChange(release: Release, all: readonly Release[]): readonly Release[] {
  const { metadata, spec } = release;
  const others = all.filter(
    (each) =>
      each.spec.commit === spec.commit && each.metadata.name !== metadata.name && each.spec.plan.changed > 0,
  );
  return [release, ...others];
}

/** The Release is any of those. */
export function changeTrace({ spec }: Release, { releases, clusters }: ChangeObjects): Trace {
  const { commit, subject, author, revertOf } = spec;
  const [created] = inOrder(releases.map(({ metadata }) => metadata.creationTimestamp));
  const { startedAt, attributes } = changeStart(spec.committedAt, created);
  const ends = releases.map(({ status }) => status?.finishedAt);
  const steps = releases.map((release) => releaseStep(release, clusters));
  return {
    traceId: changeSpan(commit).traceId,
    root: {
      key: 'change',
      name: 'change',
      subject: commit.slice(0, 12),
      startedAt,
      endedAt: ends.includes(undefined) ? undefined : inOrder(ends).at(-1),
      outcome: worst(steps.map(({ outcome }) => outcome)),
      reason: steps.find(({ outcome }) => outcome === 'Error')?.reason,
      because: subject,
      attributes: {
        'kubenode.commit': commit,
        'vcs.ref.head.revision': commit,
        'kubenode.commit.subject': subject,
        'kubenode.commit.author': author,
        'kubenode.commit.revert_of': revertOf,
        ...attributes,
      },
      steps,
    },
  };
}

/** Returns what is exported when a Release has ended; where it is the last one of its commit, the span of the commit, too. */
export function endedChange(release: Release, { releases, clusters }: ChangeObjects): readonly EndedTrace[] {
  const { commit, pipeline } = release.spec;
  const endedAt = release.status?.finishedAt;
  if (endedAt === undefined) return [];
  const own = (): Trace => {
    const { traceId, spanId: parentSpanId } = changeSpan(commit);
    return { traceId, parentSpanId, root: releaseStep(release, clusters) };
  };
  const key = `release/${release.metadata.uid ?? pipeline}/${commit}`;
  return [{ key, what: 'change', endedAt, trace: own }, ...wholeChange(release, releases)];
}

/** The span of the commit alone: its releases have been exported before. */
function wholeChange(release: Release, releases: readonly Release[]): readonly EndedTrace[] {
  const { traceId, root } = changeTrace(release, { releases, clusters: [] });
  const { endedAt } = root;
  if (endedAt === undefined) return [];
  const trace = (): Trace => ({ traceId, root: { ...root, steps: [] } });
  return [{ key: `change/${release.spec.commit}/${endedAt}`, what: 'change', endedAt, trace }];
}

function worst(outcomes: readonly StepOutcome[]): StepOutcome {
  if (outcomes.includes('Error')) return 'Error';
  return outcomes.length > 0 && outcomes.every((outcome) => outcome === 'Ok') ? 'Ok' : 'Unset';
}

function inOrder(times: readonly (string | undefined)[]): readonly string[] {
  return times.flatMap((time) => time ?? []).toSorted((a, b) => Date.parse(a) - Date.parse(b));
}
