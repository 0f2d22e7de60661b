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
  /** As they were in the first run. */
  readonly flaky: readonly FileResult[];
  /** For the log. */
  readonly lines: readonly string[];
}

export function filesThatFailed(results: readonly RunResult[]): readonly FileName[] {
  return failedFiles(results).map(({ project, file }) => ({ project, file }));
}

/** `second` has no entry for a file whose second run ended without a result. */
export function judgeSecondRun(results: readonly RunResult[], second: readonly FileResult[]): Verdict {
  const passed = new Map(second.filter(({ failed }) => failed === 0).map((each) => [keyOf(each), each]));
  const flaky = failedFiles(results).filter((each) => passed.has(keyOf(each)));
  const isChance = flaky.length <= MOST_FLAKY_FILES;
  return {
    results: isChance ? results.map((run) => ({ ...run, files: run.files.map(secondIfPassed) })) : results,
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

  function secondIfPassed(first: FileResult): FileResult {
    return first.failed === 0 ? first : (passed.get(keyOf(first)) ?? first);
  }
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
