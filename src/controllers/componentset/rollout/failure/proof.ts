/** Judges whether a batch has proven its revision: hosts that were adopted and differ run what they ran before. Pure. */
import type { Explanation } from '../../../../rollout/explanation.ts';
import { nameList } from '../../machine/name-list.ts';
import { startedIn } from '../batch-phase.ts';
import type { OpenBatch, RolloutInput, RolloutProgress } from '../input.ts';

/**
 * Returns why no batch may follow this one: some of its hosts keep what they run, and no other one has come to run the revision. A batch
 * without a machine, because all of them left the set, does not hold the set up.
 */
export function proofWait(
  input: RolloutInput,
  progress: RolloutProgress,
  batch: OpenBatch,
): Explanation | undefined {
  const started = startedIn(input, progress, batch);
  const differing = started.filter(({ step }) => step === 'Differs');
  const [first] = differing;
  if (!first || started.some(({ step }) => step === 'Settled')) return undefined;
  const list = nameList(differing, MAX_NAMES);
  return {
    reason: 'NothingProven',
    because: `batch ${batch.index + 1} has proven nothing: no machine of it runs the version, and these were adopted and keep what their hosts run: ${list}`,
    blocker: { kind: 'Machine', name: first.name },
  };
}

const MAX_NAMES = 3;
