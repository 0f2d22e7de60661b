/**
 * Answers commits that have spent the failure budget of a stage with one revert each, while this process holds the Lease of the Pipeline
 * (S35). Nothing else of sync waits for it.
 */
import type { Pipeline } from '../../api/generated/types.ts';
import type { Store } from '../../kube/cache/store.ts';
import { createHostLoop, type HostLoop, type HostLoopOptions, IDLE_MS } from '../report/host-loop.ts';
import { revertDestination } from './destination.ts';
import { createNextRevert, type NextRevertOptions } from './next-revert.ts';

export interface ReverterOptions extends NextRevertOptions, HostLoopOptions {
  readonly secrets: Pick<Store, 'get'>;
}

/** Reports whether failed stages are answered; undefined: the Pipeline has no automatic reverts. */
export type Reverter = Pick<HostLoop, 'requeue' | 'report' | 'close'>;

export function createReverter(options: ReverterOptions): Reverter {
  const loop = createHostLoop(options, { what: 'revert', forgetUnrecorded: () => undefined, step });
  const nextRevert = createNextRevert(options, loop.signal);
  return loop;

  async function step(pipeline: Pipeline): Promise<number> {
    const target = revertDestination(pipeline, options.secrets);
    if (!target) {
      loop.setReport(undefined);
      return IDLE_MS;
    }
    const waitMs = await nextRevert.make(pipeline, target);
    loop.setReport(nextRevert.report());
    return waitMs;
  }
}
