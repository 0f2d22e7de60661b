/**
 * Plans the open pull requests of a Pipeline one after the other, and writes each plan to the git host as one comment and one commit
 * status, while this process holds the Lease of the Pipeline. What the host accepted is recorded in the hub afterwards: a process that is
 * killed in between finds its comment by the marker, and writes the same again. Nothing else of sync waits for it.
 */
import type { Pipeline } from '../../api/generated/types.ts';
import type { Store } from '../../kube/cache/store.ts';
import { createHostLoop, type HostLoop, type HostLoopOptions, IDLE_MS } from '../report/host-loop.ts';
import { createNextPlan, type NextPlanOptions } from './next-plan.ts';
import { planDestination } from './target.ts';

export interface PlanCommenterOptions extends NextPlanOptions, HostLoopOptions {
  readonly secrets: Pick<Store, 'get'>;
}

/** Reports whether the plans are at the git host; undefined: the Pipeline plans no pull requests. */
export type PlanCommenter = Pick<HostLoop, 'requeue' | 'report' | 'close'>;

export function createPlanCommenter(options: PlanCommenterOptions): PlanCommenter {
  const { log, onChange, secrets } = options;
  const loop = createHostLoop(
    { ...options, onChange: noteChange },
    { what: 'plan of a pull request', forgetUnrecorded: () => nextPlan.forgetUnrecorded(), step },
  );
  const nextPlan = createNextPlan(options, loop.signal);
  return loop;

  async function step(pipeline: Pipeline): Promise<number> {
    const target = planDestination(pipeline, secrets);
    if (!target) return await removeRecord(pipeline);
    const waitMs = await nextPlan.write(pipeline, target);
    loop.setReport(nextPlan.report());
    return waitMs;
  }

  async function removeRecord({ status }: Pipeline): Promise<number> {
    nextPlan.forget();
    loop.setReport(undefined);
    if (status?.planComments) await options.record(undefined);
    return IDLE_MS;
  }

  function noteChange(): void {
    const { problem } = loop.report() ?? {};
    if (problem) log.warn('pull requests not planned', { ...problem });
    onChange();
  }
}
