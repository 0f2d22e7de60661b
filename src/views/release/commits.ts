/** Shows the commits of a hub by stage, from its Releases: how far each is, what it changes there, and its page at the git host. Pure. */
import type { Pipeline, Release, ReleaseStage } from '../../api/generated/types.ts';
import { optional } from '../../kube/objects/optional.ts';
import { printableLine } from '../../kube/objects/printable.ts';
import type { HubStatus } from '../status/hub-status.ts';
import { shortCommit } from '../text/age.ts';
import { textField } from '../text/fields.ts';
import { commitLink } from './commit-link.ts';
import type { CommitStageView, CommitView } from './commit-view.ts';
import { stagePlans } from './text.ts';

/** The state of a hub that is watched, with its commits. */
export interface LiveHub extends HubStatus {
  readonly commits?: readonly CommitView[];
  /** By the name of a cluster: another text when it has to be connected again. */
  readonly connections?: ReadonlyMap<string, string>;
}

/** Keeps the order of the Releases. */
export function commitViews(
  releases: readonly Release[],
  pipelines: readonly Pipeline[],
): readonly CommitView[] {
  const repositories = new Map(
    pipelines.map((pipeline) => [pipeline.metadata.name, textField(pipeline, 'spec.source.repository')]),
  );
  return releases.map((release) => {
    const { metadata, spec, status } = release;
    const plans = stagePlans(release);
    return {
      name: metadata.name,
      pipeline: spec.pipeline,
      commit: shortCommit(spec.commit),
      phase: status?.phase ?? 'Pending',
      ...optional('subject', spec.subject && printableLine(spec.subject)),
      ...optional('author', spec.author && printableLine(spec.author)),
      ...optional('created', metadata.creationTimestamp),
      ...optional('link', commitLink(repositories.get(spec.pipeline) ?? '', spec.commit)),
      stages: (status?.stages ?? []).map((stage) => stageView(stage, plans.get(stage.name) ?? '')),
    };
  });
}

function stageView(stage: ReleaseStage, plan: string): CommitStageView {
  const { name, state, soakUntil, waiting, clusters: { proven = 0, total = 0 } = {} } = stage;
  return {
    name,
    state,
    ...optional('since', stageSince(stage)),
    ...optional('soakUntil', state === 'Soaking' ? soakUntil : undefined),
    proven,
    total,
    plan,
    because: waiting ? printableLine(waiting.message ?? waiting.reason) : '',
  };
}

function stageSince({ provenAt, waiting, startedAt }: ReleaseStage): string | undefined {
  return provenAt ?? waiting?.since ?? startedAt;
}
