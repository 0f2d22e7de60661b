/**
 * Prints one line with the totals at the end of a run, and appends its result as a JSON line to the file in KUBENODE_RESULTS:
 * .ci/run adds up several runs, and runs again what failed.
 */
import type { Reporter, SerializedError, TestModule } from 'vitest/node';
import { countAll, fileResultsOf } from './results.ts';
import { appendResult } from './results-file.ts';

export class Totals implements Reporter {
  private startedMs = 0;

  onTestRunStart(): void {
    this.startedMs = performance.now();
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const seconds = (performance.now() - this.startedMs) / 1000;
    const seed = process.env['KUBENODE_SEED'] ?? '';
    const result = { seed, seconds, ...fileResultsOf(modules, errors) };
    const { passed, failed, skipped } = countAll(result);
    process.stdout.write(`\n${passed} passed, ${failed} failed, ${skipped} skipped (seed ${result.seed})\n`);
    const file = process.env['KUBENODE_RESULTS'];
    if (file) appendResult(file, result);
  }
}
