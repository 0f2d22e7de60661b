/**
 * Runs one Pipeline for as long as this process holds its Lease: polls its repository, keeps the hub's own objects at
 * the newest accepted commit, and lets promotion decide what each cluster gets. It remembers nothing that matters.
 */
import type { Pipeline } from '../../api/generated/types.ts';
import { createLoop } from '../../kube/controller/loop.ts';
import type { AcceptedCommits } from '../commits.ts';
import { unsupportedFields } from '../judge/unsupported.ts';
import type { RenderedTarget } from '../rendered.ts';
import {
  openPipelineSession,
  type PipelineSession,
  type PipelineSessionOptions,
} from './pipeline-session.ts';
import { repositoryVersion } from './repository.ts';

export interface PipelineWorkerOptions extends Omit<PipelineSessionOptions, 'onChange'> {
  /** One pass of promotion; when to come back, if time alone brings news. */
  readonly promote: (pipeline: string) => Promise<Date | undefined>;
}

export interface PipelineWorker {
  wake(): void;
  accepted(named: readonly string[]): Promise<AcceptedCommits>;
  content(target: string, commit: string): Promise<RenderedTarget | undefined>;
  close(): Promise<void>;
}

/** A pass at least so often, so that ages in the status stay true. */
const LONGEST_MS = 15_000;
const GATHER_MS = 100;
const RETRY_MS = 2000;

export function createPipelineWorker(options: PipelineWorkerOptions): PipelineWorker {
  const { name, hub, lease, clock, log } = options;
  const loop = createLoop({ clock, gatherMs: GATHER_MS, round });
  let open: (PipelineSession & { readonly version: string }) | undefined;

  return {
    wake: () => loop.trigger(),
    accepted: async (named) => (await open?.source.accepted(named)) ?? NOTHING_YET,
    content: async (target, commit) => open?.source.content(target, commit),
    async close() {
      await loop.close();
      await shut();
    },
  };

  async function round(): Promise<number> {
    try {
      await keepOpen();
      // Before the head is known, nothing is known of what is newest.
      if (open?.source.head().commit === undefined) return LONGEST_MS;
      if (!(await open.syncHub())) return LONGEST_MS;
      const wakeAt = await options.promote(name);
      return wakeAt
        ? Math.min(LONGEST_MS, Math.max(0, wakeAt.getTime() - clock.now().getTime()))
        : LONGEST_MS;
    } catch (error) {
      log.warn('promotion pass not finished', { pipeline: name, error });
      return RETRY_MS;
    }
  }

  /** Open while there is such a Pipeline and it is ours to run; anew when its repository is another one. */
  async function keepOpen(): Promise<void> {
    const pipeline = lease.notHeldReason() === undefined ? await present() : undefined;
    const version = pipeline && repositoryVersion(pipeline, hub.stores.secrets);
    if (open?.version === version) return;
    await shut();
    if (pipeline && version) {
      open = { ...openPipelineSession(pipeline, { ...options, onChange: () => loop.trigger() }), version };
    }
  }

  async function present(): Promise<Pipeline | undefined> {
    const pipeline = await hub.pipeline(name);
    const [limit] = pipeline ? unsupportedFields(pipeline) : [];
    // Judged out of every commit, so a person's hand has put it there.
    if (limit !== undefined) throw new Error(`Pipeline ${name} moves nothing on: ${limit}`);
    return pipeline;
  }

  async function shut(): Promise<void> {
    const closing = open;
    open = undefined;
    await closing?.close();
  }
}

const NOTHING_YET: AcceptedCommits = {
  commits: [],
  head: { verdict: 'Accepted', unread: 'the repository has not been read yet' },
};
