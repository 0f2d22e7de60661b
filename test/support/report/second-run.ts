/** Tells chance from fault: what a second run of the files that failed, each alone, means for their first failures. */
import type { FileResult, RunResult } from './results.ts';

/** More files than this in one run did not fail by chance: something broke that all of them use. */
export const MOST_FLAKY_FILES = 2;

export interface FileName {
  readonly project: string;
  readonly file: string;
}

export interface Verdict {
  /** The first results; a flaky file has the counts of its second run. */
  readonly results: readonly RunResult[];
  /** Holds the flaky files as they were in the first run. */
  readonly flaky: readonly FileResult[];
  /** Explains the verdict in the log. */
  readonly lines: readonly string[];
}

export function filesThatFailed(results: readonly RunResult[]): readonly FileName[] {
  return failedFiles(results).map(({ project, file }) => ({ project, file }));
}

/** `second` has no entry for a file whose second run ended without a result. */
export function judgeSecondRun(results: readonly RunResult[], second: readonly FileResult[]): Verdict {
  const repeated = new Map(second.map((each) => [keyOf(each), each]));
  const flaky = failedFiles(results).filter((each) => hasPassed(repeated.get(keyOf(each)), each));
  const isChance = flaky.length <= MOST_FLAKY_FILES;
  return {
    results: isChance ? results.map((run) => ({ ...run, files: run.files.map(secondIfFlaky) })) : results,
    flaky,
    lines: [
      ...flaky.flatMap(describeFlaky),
      ...(isChance
        ? []
        : [
            `${flaky.length} files passed only when repeated, at most ${MOST_FLAKY_FILES} may: they count as failed`,
          ]),
    ],
  };

  function secondIfFlaky(first: FileResult): FileResult {
    return flaky.includes(first) ? (repeated.get(keyOf(first)) ?? first) : first;
  }
}

/** A second run that skips tests, or finds none, does not answer why they failed. */
function hasPassed(second: FileResult | undefined, first: FileResult): boolean {
  return second !== undefined && second.failed === 0 && second.passed > 0 && second.skipped <= first.skipped;
}

function failedFiles(results: readonly RunResult[]): readonly FileResult[] {
  return results.flatMap(({ files }) => files.filter(({ failed }) => failed > 0));
}

function describeFlaky({ file, failures }: FileResult): readonly string[] {
  return failures.map(({ test, error }) => `FLAKY ${file} > ${test}\n${error}\n`);
}

function keyOf({ project, file }: FileName): string {
  return `${project} ${file}`;
}
