/**
 * Runs the source of one Pipeline: polls its repository, checks its head, and renders accepted commits. When git, a render or a
 * check fails without a result, the accepted commits stay unchanged.
 */
import type { Pipeline } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Clock } from '../../../os/clock.ts';
import type {
  AcceptedCommit,
  AcceptedCommits,
  CommitStatusReport,
  HeadReport,
  HubProblem,
  ObjectCounts,
  WebhookReport,
} from '../../commits.ts';
import {
  createGitSource,
  isStale,
  type ObservedHead,
  type PollRequest,
  type SourceState,
} from '../../git/source.ts';
import type { ClusterContent, CommitSource } from '../../promote/ports.ts';
import type { CommitRenderer } from '../../render/renderer.ts';
import { emptyTargetFor, type RenderedTarget } from '../../rendered.ts';
import { type CommitAcceptance, refuseCommit } from '../acceptance/commit-checks.ts';
import {
  createHeadAcceptance,
  type HeadAcceptance,
  type HeadAcceptanceOptions,
} from '../acceptance/head-acceptance.ts';
import { createUnacceptedCommits } from '../acceptance/unaccepted-commits.ts';
import { createCommitLog } from '../commit-log.ts';
import { countChanges } from '../count-changes.ts';
import { createLatestCheck } from '../latest-check.ts';
import { createRenderStore, type RenderStore } from '../render-store.ts';

export interface PipelineSourceOptions extends Omit<HeadAcceptanceOptions, 'ref' | 'renders'> {
  readonly pipeline: Pipeline;
  readonly renderer: CommitRenderer;
  readonly clock: Clock;
  readonly random: () => number;
  /** Returns what keeps the objects of the hub itself from being applied: it is reported with the head. */
  readonly hubProblem?: () => HubProblem | undefined;
  /** Returns whether the webhook of the Pipeline can be used. */
  readonly webhook?: () => WebhookReport | undefined;
  /** Returns whether the git host accepts the commit statuses of the Pipeline. */
  readonly commitStatus?: () => CommitStatusReport | undefined;
  /** Returns whether the git host has the plans of pull requests. */
  readonly planComments?: () => CommitStatusReport | undefined;
  /** Reports on automatic reverts; undefined: there are none. */
  readonly reverts?: () => CommitStatusReport | undefined;
  readonly onChange: () => void;
}

export interface PipelineSource extends CommitSource {
  /** Polls until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
  head(): HeadReport;
  /** Polls at once for a new request. */
  pollNow(request: PollRequest): void;
  /** Tells whether the repository was read, or could not be: before that nothing is known about the head. */
  hasPolled(): boolean;
  /** Returns the newest accepted commit, which the hub's own objects follow. */
  newestAccepted(): string | undefined;
  close(): Promise<void>;
}

export function createPipelineSource(options: PipelineSourceOptions): PipelineSource {
  const { git, pipeline, clock } = options;
  const { ref, path, pollSeconds } = pipeline.spec.source;
  const renders = createRenderStore({ ...options, ref, path });
  const acceptance = createHeadAcceptance({ ...options, ref, renders });
  const commitLog = createCommitLog({ ...options, ref, renders, pipeline: pipeline.metadata.name });
  const unacceptedCommits = createUnacceptedCommits({ ...options, ref });
  const source = createGitSource({ ...options, ref, pollSeconds, onPoll: checkHead });
  const checking = createLatestCheck({
    check: (commit, signal) => acceptance.check(commit, signal),
    onEnd: onChecked,
  });
  let checkError: string | undefined;

  return {
    run,
    accepted: readAccepted,
    changes: (commit, clusters) => changesFrom(renders, commit, clusters),
    head: () => headReport(source.state()),
    pollNow: (request) => source.pollNow(request),
    hasPolled: () => source.state().polledAt !== undefined || source.state().error !== undefined,
    content: (target, commit) => contentFor(renders, target, commit),
    newestAccepted: () => acceptance.newestAccepted(),
    async close() {
      await Promise.all([checking.close(), renders.close()]);
      await git.close();
    },
  };

  async function readAccepted(mentioned: readonly string[]): Promise<AcceptedCommits> {
    const newest = acceptance.newestAccepted();
    const commits = withSigners(await commitLog.read(newest, mentioned), acceptance);
    const inHistory = new Set(commits.map(({ id }) => id));
    const named = options.appliedCommits().filter((commit) => !inHistory.has(commit));
    const question = { named, accepted: options.acceptedHeads() };
    const unaccepted =
      newest === undefined ? undefined : await unacceptedCommits.find({ ...question, newest });
    return { commits, head: headReport(source.state()), ...optional('unaccepted', unaccepted) };
  }

  /**
   * Starts the check of the head and does not wait for it: polling continues, so that a newer head is observed while this one is
   * rendered.
   */
  function checkHead({ head }: SourceState): void {
    if (head && !head.refused) checking.start(head.commit);
    options.onChange();
  }

  function onChecked(error?: Error): void {
    checkError = error?.message;
    if (error) options.log.error('checking the head failed', { ref, error });
    options.onChange();
  }

  async function run(signal: AbortSignal): Promise<void> {
    await source.run(signal);
    await checking.close();
  }

  function headReport(state: SourceState): HeadReport {
    const stale = isStale(state, pollSeconds, clock.now());
    const unread = stale ? (state.error?.message ?? 'the repository has not been read yet') : checkError;
    return {
      ...(state.head ? { commit: state.head.commit, observedAt: state.head.observedAt } : {}),
      ...optional('unread', unread),
      ...optional('polledFor', state.polledFor),
      ...optional('hub', options.hubProblem?.()),
      ...optional('webhook', options.webhook?.()),
      ...gitHostReports(options),
      ...verdictFor(state.head),
    };
  }

  function verdictFor(head: ObservedHead | undefined): Pick<HeadReport, 'verdict' | 'message'> {
    if (!head) return { verdict: 'Accepted' };
    const result = resultFor(head);
    if (!result) return { verdict: wasReleased(head) ? 'Accepted' : 'Rendering' };
    return result.accepted ? { verdict: 'Accepted' } : { verdict: result.verdict, message: result.message };
  }

  /** Tells whether a former process has rendered and accepted the head. */
  function wasReleased({ commit }: ObservedHead): boolean {
    return options.newestReleasedCommit() === commit;
  }

  function resultFor({ commit, refused }: ObservedHead): CommitAcceptance | undefined {
    return refused ? refuseCommit(refused) : acceptance.resultFor(commit);
  }
}

function gitHostReports(
  options: PipelineSourceOptions,
): Pick<HeadReport, 'commitStatus' | 'planComments' | 'reverts'> {
  const { commitStatus, planComments, reverts } = options;
  return {
    ...optional('commitStatus', commitStatus?.()),
    ...optional('planComments', planComments?.()),
    ...optional('reverts', reverts?.()),
  };
}

/** The Release of a commit keeps the names. */
function withSigners(
  commits: readonly AcceptedCommit[],
  { signersOf }: Pick<HeadAcceptance, 'signersOf'>,
): readonly AcceptedCommit[] {
  return commits.map((commit) => ({ ...commit, ...signersOf(commit.id) }));
}

export async function contentFor(
  renders: RenderStore,
  target: string,
  commit: string,
): Promise<RenderedTarget | undefined> {
  const { targets } = await renders.get(commit);
  return targets.find((rendered) => rendered.target === target) ?? emptyTargetFor(target);
}

/**
 * Counts the changes commit by commit, so that few renders are in memory. Clusters whose commit can no longer be rendered are
 * left out.
 */
async function changesFrom(
  renders: RenderStore,
  commit: string,
  clusters: readonly ClusterContent[],
): Promise<ReadonlyMap<string, ObjectCounts>> {
  const found = new Map<string, ObjectCounts>();
  for (const [before, own] of Map.groupBy(clusters, (each) => each.commit)) {
    const old = before === undefined ? NOTHING : await renders.getIfRenderable(before);
    const next = old && (await renders.getIfRenderable(commit));
    for (const { cluster } of next ? own : []) {
      const [was, after] = [old, next].map((each) => each?.targets.find(({ target }) => target === cluster));
      const desired = after ?? emptyTargetFor(cluster);
      if (desired) found.set(cluster, await countChanges(was, desired));
    }
  }
  return found;
}

const NOTHING = { targets: [] };
