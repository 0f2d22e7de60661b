import { appendFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LONG, SEED } from '../../../support/sweep-size.ts';
import { type Act, describeAct } from '../../../sync/fuzz/acts.ts';
import { sequenceFor } from '../../../sync/fuzz/sequence.ts';
import { shrink } from '../../../sync/fuzz/shrink.ts';
import { type FuzzFleet, startFuzzFleet } from './fuzz-fleet.ts';
import { runSequence, type SequenceResult, startOver } from './run.ts';

const MINUTE_MS = 60_000;
const MINUTES = Number(process.env['KUBENODE_FUZZ_MINUTES'] ?? 120);
/** `npm test` repeats the same sequences, so that it fails for a change of the code only. A long run searches for new ones. */
const FIRST_SEED = LONG ? SEED : 1;
const SHORT_SEQUENCES = 2;
/** Gets a line of JSON for each sequence, with its acts. */
const LOG_FILE = process.env['KUBENODE_FUZZ_LOG'];
/** Whether other managers have objects under the names of commits. */
const FOREIGN = process.env['KUBENODE_FUZZ_FOREIGN'] === '1';
const MAX_ACTS = 20;
const SHRINK_RUNS = 24;
/** For the last sequence, and to shrink what fails. */
const AFTERWARDS_MS = 60 * MINUTE_MS;

let fleet: FuzzFleet | undefined;
beforeAll(async () => {
  fleet = await startFuzzFleet();
});
afterAll(() => fleet?.stop());

describe('random commits, hands, kills and reverts', () => {
  it('SAF-2 leave everything as the good commit declares it after its revert, and hold up nothing else', {
    timeout: MINUTES * MINUTE_MS + AFTERWARDS_MS,
  }, async () => {
    if (!fleet) throw new Error('the fleet did not start');
    expect(await failures(fleet)).toEqual([]);
  });
});

/** A sequence starts where the last one ended, unless that failed. */
async function failures(tested: FuzzFleet): Promise<string[]> {
  const found: string[] = [];
  await startOver(tested);
  const endMs = performance.now() + MINUTES * MINUTE_MS;
  const isOver = (seed: number): boolean =>
    LONG ? performance.now() > endMs : seed >= FIRST_SEED + SHORT_SEQUENCES;
  for (let seed = FIRST_SEED; !isOver(seed); seed += 1) {
    const acts = sequenceFor(seed, { maxActs: MAX_ACTS, foreign: FOREIGN });
    const result = await runSequence(tested, acts);
    report({ seed, acts, result });
    if (result.problems.length === 0) continue;
    found.push(await explain(tested, { seed, acts, result }));
    await startOver(tested);
  }
  return found;
}

interface Failed {
  readonly seed: number;
  readonly acts: readonly Act[];
  readonly result: SequenceResult;
}

async function explain(tested: FuzzFleet, { seed, acts, result }: Failed): Promise<string> {
  const fails = async (part: readonly Act[]): Promise<boolean> => {
    await startOver(tested);
    return (await runSequence(tested, part)).problems.length > 0;
  };
  // Not every failure can be repeated from an empty fleet: then all acts are shown.
  const shrunk = await shrink(acts, { fails, maxRuns: SHRINK_RUNS });
  const words = shrunk.map((act, index) => `${index + 1}. ${describeAct(act)}`);
  const repeat = `Repeat it: KUBENODE_LONG=1 KUBENODE_SEED=${seed} KUBENODE_FUZZ_MINUTES=0.1 npx vitest run --project cluster test/cluster/sync/fuzz`;
  const failed = [`seed ${seed}:`, ...result.problems, 'after', ...words, repeat].join('\n');
  report({ seed, failed, shrunk });
  return failed;
}

function report(line: object): void {
  if (LOG_FILE !== undefined) appendFileSync(LOG_FILE, `${JSON.stringify(line)}\n`);
}
