/**
 * The source of one Pipeline: its repository, polled; its head, judged; the accepted commits, rendered. What git, a
 * render or the judge cannot say leaves everything as it is: the last accepted commits stay the accepted ones.
 */
import type { Pipeline } from '../../api/generated/types.ts';
import type { Clock } from '../../os/clock.ts';
import type { AcceptedCommits, HeadReport } from '../commits.ts';
import { EMPTY_TARGET } from '../commits.ts';
import { createGitSource, isStale, type SourceState } from '../git/source.ts';
import type { Renderer } from '../render/renderer.ts';
import { HUB_TARGET, type RenderedTarget } from '../rendered.ts';
import { createCommitLog } from './commit-line.ts';
import { createHeadAcceptance, type HeadAcceptanceOptions } from './head-acceptance.ts';
import { createRenderStore } from './render-store.ts';

export interface PipelineSourceOptions extends Omit<HeadAcceptanceOptions, 'ref' | 'renders'> {
  readonly pipeline: Pipeline;
  readonly renderer: Renderer;
  readonly clock: Clock;
  readonly random: () => number;
  readonly onChange: () => void;
}

export interface PipelineSource {
  /** Polls until the signal. */
  run(signal: AbortSignal): Promise<void>;
  wake(): void;
  /** With the commits that a Release or a cluster names: they were accepted before. */
  accepted(named: readonly string[]): Promise<AcceptedCommits>;
  head(): HeadReport;
  content(target: string, commit: string): Promise<RenderedTarget | undefined>;
  /** The newest accepted commit, which the hub's own objects follow. */
  newest(): string | undefined;
  close(): Promise<void>;
}

export function createPipelineSource(options: PipelineSourceOptions): PipelineSource {
  const { git, pipeline, clock } = options;
  const { ref, path, pollSeconds } = pipeline.spec.source;
  const renders = createRenderStore({ ...options, ref, path });
  const judge = createHeadAcceptance({ ...options, ref, renders });
  const line = createCommitLog({ ...options, ref, renders });
  const source = createGitSource({ ...options, ref, pollSeconds, onPoll: checkHead });
  let doubt: string | undefined;

  return {
    run: (signal) => source.run(signal),
    wake: () => source.pollNow(),
    accepted: async (named) => ({
      commits: await line(judge.accepted(), named),
      head: headReport(source.state()),
    }),
    head: () => headReport(source.state()),
    content: async (target, commit) => {
      const { targets } = await renders.get(commit);
      return targets.find((one) => one.target === target) ?? nothingFor(target);
    },
    newest: () => judge.accepted(),
    close: () => git.close(),
  };

  async function checkHead({ head }: SourceState): Promise<void> {
    try {
      if (head) await judge.judge(head.commit);
      doubt = undefined;
    } catch (error) {
      doubt = error instanceof Error ? error.message : String(error);
      throw error;
    } finally {
      options.onChange();
    }
  }

  function headReport(state: SourceState): HeadReport {
    const stale = isStale(state, pollSeconds, clock.now());
    const unread = stale ? (state.error?.message ?? 'the repository has not been read yet') : doubt;
    return {
      ...(state.head ? { commit: state.head.commit, observedAt: state.head.observedAt } : {}),
      ...(unread === undefined ? {} : { unread }),
      ...verdictOn(state.head?.commit),
    };
  }

  function verdictOn(head: string | undefined): Pick<HeadReport, 'verdict' | 'message'> {
    const verdict = head === undefined ? undefined : judge.verdictOn(head);
    return !verdict || verdict.accepted
      ? { verdict: 'Accepted' }
      : { verdict: verdict.verdict, message: verdict.message };
  }
}

/**
 * A commit that is rendered and does not mention a cluster has no objects for it: that is known, and promotion counts on
 * it. What of the cluster would go is for the judge. The hub's own objects are never taken away by not being mentioned.
 */
function nothingFor(target: string): RenderedTarget | undefined {
  return target === HUB_TARGET ? undefined : { target, units: [], digest: EMPTY_TARGET.digest };
}
