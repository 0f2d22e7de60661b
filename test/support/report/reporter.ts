/**
 * Prints one line with the totals at the end of a run, and appends its result as a JSON line to the file in KUBENODE_RESULTS:
 * .ci/run adds up several runs, and runs again what failed. In CI it prints what failed in a file when the file ends, because
 * vitest prints it at the end of a run, which a run that is killed does not reach.
 */
import type { Reporter, SerializedError, TestModule } from 'vitest/node';
import { countAll, fileResultOf, fileResultsOf } from './results.ts';
import { appendResult } from './results-file.ts';

export class Totals implements Reporter {
  private startedMs = 0;

  onTestRunStart(): void {
    this.startedMs = performance.now();
  }

  onTestModuleEnd(module: TestModule): void {
    if (process.env['CI'] !== 'true') return;
    const { file, failures } = fileResultOf(module);
    for (const { test, error } of failures) process.stderr.write(`FAILED ${file} > ${test}\n${error}\n`);
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
