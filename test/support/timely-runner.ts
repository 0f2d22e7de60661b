/**
 * A runner of vitest that begins no file after KUBENODE_TESTS_UNTIL, in milliseconds since the epoch: .ci/run ends within its limit also on
 * a slow machine. Each file that was left out is printed, and its tests count as skipped.
 */
import { type RunnerTestSuite, TestRunner } from 'vitest';
import { createSystemClock } from '../../src/os/system-clock.ts';

const clock = createSystemClock();

export class TimelyRunner extends TestRunner {
  override async onBeforeRunSuite(suite: RunnerTestSuite): Promise<void> {
    const isFile = !('suite' in suite) || suite.suite === undefined;
    if (isFile && isOver(process.env['KUBENODE_TESTS_UNTIL'], Number(clock.now()))) {
      suite.mode = 'skip';
      process.stderr.write(`skipped, no time is left for it: ${suite.name}\n`);
    }
    await super.onBeforeRunSuite(suite);
  }
}

/** Returns whether the time is at or after a limit. Without a limit it never is. */
export function isOver(until: string | undefined, nowMs: number): boolean {
  return until !== undefined && until !== '' && nowMs >= Number(until);
}

// oxlint-disable-next-line import/no-default-export -- vitest reads the default export
export default TimelyRunner;
