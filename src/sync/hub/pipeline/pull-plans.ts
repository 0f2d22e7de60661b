/**
 * Renders and plans pull requests for a session of a Pipeline. They have a cache of their own, which is opened with the first one: what a
 * branch contains must not delay, or evict, what is promoted.
 */
import { join } from 'node:path';
import type { Pipeline } from '../../../api/generated/types.ts';
import type { Log } from '../../../kube/process/log.ts';
import type { Clock } from '../../../os/clock.ts';
import type { GitTransport } from '../../git/transport.ts';
import {
  type HeadPlan,
  type HeadQuestion,
  type PlanCommit,
  type PlanPull,
  planHead,
} from '../../pulls/head-plan.ts';
import type { CommitRenderer } from '../../render/renderer.ts';
import { createRenderStore, type RenderStore } from '../render-store.ts';
import { openRepository, type RepositoryAccess } from '../repository.ts';

export interface PullPlansOptions extends RepositoryAccess {
  readonly gitFolder: string;
  readonly renderer: CommitRenderer;
  /** Absent: this process plans no commits. */
  readonly planCommit?: PlanCommit;
  readonly clock: Clock;
  readonly log: Log;
}

export interface PullPlans {
  readonly planPull: PlanPull;
  close(): Promise<void>;
}

export function createPullPlans(pipeline: Pipeline, options: PullPlansOptions): PullPlans {
  const { planCommit, clock, log } = options;
  const { ref, path } = pipeline.spec.source;
  let opened: { readonly git: GitTransport; readonly renders: RenderStore } | undefined;

  return {
    planPull,
    async close() {
      await opened?.renders.close();
      await opened?.git.close();
    },
  };

  async function planPull(question: HeadQuestion, signal: AbortSignal): Promise<HeadPlan> {
    if (!planCommit) throw new Error('this process plans no commits: run kubenode sync');
    opened ??= open();
    const ports = { ...opened, pipeline: pipeline.metadata.name, path, planCommit, clock };
    return await planHead(ports, question, signal);
  }

  function open(): NonNullable<typeof opened> {
    const git = openRepository(pipeline, options, join(options.gitFolder, 'pulls'));
    // Their own place in the queue of renders: a branch whose program loops waits behind what is promoted.
    const rendered = { ...git, display: `${git.display} (pull requests)` };
    const { renderer } = options;
    return { git, renders: createRenderStore({ git: rendered, ref, path, renderer, clock, log }) };
  }
}
