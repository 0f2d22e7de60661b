/** What failed how often in several runs of the same tests. */
import { countAll, type RunResult } from './results.ts';

export function describeSteadiness(results: readonly RunResult[], runs: number): readonly string[] {
  const failed = failuresByTest(results);
  const clean = results.filter((result) => countAll(result).failed === 0).length;
  return [
    `${results.length} of ${runs} runs ended, ${clean} without a failure`,
    ...[...failed]
      .toSorted(([, one], [, other]) => other.length - one.length)
      .map(([test, seeds]) => `${seeds.length} × ${test} (seed ${seeds.join(', ')})`),
  ];
}

function failuresByTest(results: readonly RunResult[]): ReadonlyMap<string, readonly string[]> {
  const failed = new Map<string, string[]>();
  for (const result of results) {
    for (const name of failuresOf(result)) failed.set(name, [...(failed.get(name) ?? []), result.seed]);
  }
  return failed;
}

function failuresOf(result: RunResult): readonly string[] {
  const inFiles = result.files.flatMap(({ file, failures }) =>
    failures.map(({ test }) => `${file} > ${test}`),
  );
  return [...inFiles, ...result.errors.map((error) => error.split('\n')[0] ?? '')];
}
