/**
 * Plans the open pull requests of a Pipeline one after the other, and writes each plan to the git host as one comment and one commit
 * status, while this process holds the Lease of the Pipeline. What the host accepted is recorded in the hub afterwards: a process that is
 * killed in between finds its comment by the marker, and writes the same again. Nothing else of sync waits for it.
 */
import type { Pipeline } from '../../api/generated/types.ts';
import type { Store } from '../../kube/cache/store.ts';
import { createLoop } from '../../kube/controller/loop.ts';
import type { CommitStatusReport } from '../commits.ts';
import { gitHostProblem } from '../report/problem.ts';
import { createNextPlan, type NextPlanOptions } from './next-plan.ts';
import { planDestination } from './target.ts';

export interface PlanCommenterOptions extends NextPlanOptions {
  readonly secrets: Pick<Store, 'get'>;
  /** Is called when the report has changed. */
  readonly onChange: () => void;
}

export interface PlanCommenter {
  /** Looks for pull requests to plan, soon. Returns at once. */
  requeue(): void;
  /** Returns whether the plans are at the git host; undefined: the Pipeline plans no pull requests. */
  report(): CommitStatusReport | undefined;
  close(): Promise<void>;
}

const GATHER_MS = 500;
/** The Pipeline is reconciled as often: a Lease that was lost and acquired again triggers nothing. */
const IDLE_MS = 15_000;
const RETRY_RECORD_MS = 5000;

export function createPlanCommenter(options: PlanCommenterOptions): PlanCommenter {
  const { clock, log, onChange } = options;
  const closing = new AbortController();
  const nextPlan = createNextPlan(options, closing.signal);
  let report: CommitStatusReport | undefined;
  const loop = createLoop({ clock, gatherMs: GATHER_MS, round });

  return {
    requeue: () => loop.trigger(),
    report: () => report,
    async close() {
      closing.abort(new Error('the repository was closed'));
      await loop.close();
    },
  };

  async function round(): Promise<number> {
    const pipeline = options.pipeline();
    if (!pipeline || options.lease.notHeldReason() !== undefined) {
      nextPlan.forgetUnrecorded();
      return IDLE_MS;
    }
    try {
      return await writeNext(pipeline);
    } catch (error) {
      if (closing.signal.aborted) return IDLE_MS;
      const problem = gitHostProblem(error);
      if (problem) {
        setReport({ problem });
        return IDLE_MS;
      }
      log.warn('plan of a pull request not recorded', { pipeline: pipeline.metadata.name, error });
      return RETRY_RECORD_MS;
    }
  }

  async function writeNext(pipeline: Pipeline): Promise<number> {
    const target = planDestination(pipeline, options.secrets);
    if (!target) return await removeRecord(pipeline);
    const waitMs = await nextPlan.write(pipeline, target);
    setReport(nextPlan.report());
    return waitMs;
  }

  async function removeRecord({ status }: Pipeline): Promise<number> {
    nextPlan.forget();
    setReport(undefined);
    if (status?.planComments) await options.record(undefined);
    return IDLE_MS;
  }

  function setReport(next: CommitStatusReport | undefined): void {
    if (JSON.stringify(next) === JSON.stringify(report)) return;
    report = next;
    if (next?.problem) log.warn('pull requests not planned', { ...next.problem });
    onChange();
  }
}
