/** What one run of vitest found, file by file, as plain data that another process can read. */
import { stripVTControlCharacters } from 'node:util';
import type { SerializedError, TestModule } from 'vitest/node';
import type { FileCost } from '../cost/meter.ts';

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export interface Failure {
  /** The full title; for a file or a suite that failed outside of its tests, its name. */
  readonly test: string;
  readonly error: string;
}

export interface FileResult extends Counts {
  readonly project: string;
  /** The path, relative to the root of the project. */
  readonly file: string;
  /** The sum of its tests and hooks. */
  readonly seconds: number;
  readonly cost?: FileCost | undefined;
  readonly failures: readonly Failure[];
}

export interface RunResult {
  readonly seed: string;
  /** The time from the start of the run to its end. */
  readonly seconds: number;
  readonly files: readonly FileResult[];
  /** Errors that belong to no file, as the leaks of a whole run do. */
  readonly errors: readonly string[];
}

export const NONE: Counts = { passed: 0, failed: 0, skipped: 0 };

export function countAll({ files, errors }: RunResult): Counts {
  return sum([...files, { ...NONE, failed: errors.length }]);
}

export function sum(all: readonly Counts[]): Counts {
  return all.reduce<Counts>(
    (total, { passed, failed, skipped }) => ({
      passed: total.passed + passed,
      failed: total.failed + failed,
      skipped: total.skipped + skipped,
    }),
    NONE,
  );
}

export function fileResultsOf(
  modules: readonly TestModule[],
  errors: readonly SerializedError[],
): Pick<RunResult, 'files' | 'errors'> {
  return {
    files: modules.map(fileResultOf),
    errors: errors.map(textOf),
  };
}

export function fileResultOf(module: TestModule): FileResult {
  const tests = [...module.children.allTests()];
  const suites = [module, ...module.children.allSuites()];
  // A file or a suite has its own errors beside those of its tests: a hook that failed, an import that threw.
  const failures = [
    ...suites.flatMap((suite) =>
      suite.errors().map((error) => ({ test: nameOf(suite), error: textOf(error) })),
    ),
    ...tests
      .filter((test) => isFailed(test.result().state))
      .map((test) => ({
        test: test.fullName,
        error: test.result().errors?.map(textOf).join('\n') ?? 'started and never ended',
      })),
  ];
  const stateCount = (state: string): number => tests.filter((test) => test.result().state === state).length;
  return {
    project: projectOf(module.relativeModuleId),
    file: module.relativeModuleId,
    passed: stateCount('passed'),
    failed: failures.length,
    skipped: stateCount('skipped'),
    seconds: module.diagnostic().duration / 1000,
    cost: module.meta().cost,
    failures,
  };
}

/** The project that runs the file alone: `npm run test:all` runs two of them as one. */
export function projectOf(file: string): string {
  const [, folder = ''] = file.split('/');
  return ['cluster', 'e2e', 'nodes'].includes(folder) ? folder : 'unit';
}

/** A test that is pending was started and never ended. */
function isFailed(state: string): boolean {
  return state === 'failed' || state === 'pending';
}

function nameOf(suite: { readonly type: string; readonly fullName?: string }): string {
  return suite.fullName ?? 'the file';
}

/** Holds what was expected and received, too, which is not in the stack. */
function textOf(error: {
  readonly stack?: string;
  readonly message: string;
  readonly diff?: string;
}): string {
  const { stack, message, diff } = error;
  return stripVTControlCharacters([stack ?? message, diff].filter(Boolean).join('\n'));
}
