/**
 * Prints one line with the totals at the end, and appends a JSON line to the file in KUBENODE_TOTALS: .ci/run adds up
 * several runs. A file that could not be run, and an error outside of any test, count as failures.
 */
import { appendFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

export class Totals implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const counts = count(modules, errors.length);
    process.stdout.write(
      `\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped (seed ${process.env['KUBENODE_SEED']})\n`,
    );
    const file = process.env['KUBENODE_TOTALS'];
    if (file) appendFileSync(file, `${JSON.stringify(counts)}\n`);
  }
}

function count(modules: readonly TestModule[], errors: number): Counts {
  const counts: Counts = { passed: 0, failed: errors, skipped: 0 };
  for (const module of modules) {
    // A file or a suite has its own errors beside those of its tests: a hook that failed, an import that threw.
    for (const suite of [module, ...module.children.allSuites()]) counts.failed += suite.errors().length;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      counts[state === 'pending' ? 'failed' : state] += 1; // pending: started and never ended
    }
  }
  return counts;
}
