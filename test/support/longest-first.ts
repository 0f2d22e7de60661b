/**
 * Order of the files of a run: those that took longest begin first, so that none of them runs alone at the end. Files that wait for
 * servers and files that compute alternate, so that a core is never idle. The files of `unit` are the most and the shortest: all of them
 * begin in the first half, because a run that must end too early leaves out its last files. What a file took is in the tables of
 * test/README.md.
 */
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';
import { projectOf } from './report/results.ts';

const README = join(import.meta.dirname, '../README.md');
const ROOT = join(import.meta.dirname, '../..');
/** For a file that is in no table yet, by its project: before those of which it is known that they take less. */
const NEW_FILE_SECONDS: Readonly<Record<string, number>> = { unit: 0, cluster: 20, nodes: 60, e2e: 300 };

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- a method of vitest
    const sorted = await super.sort(files);
    const known = secondsByFile(readFileSync(README, 'utf8'));
    const secondsOf = ({ moduleId }: TestSpecification): number => {
      const file = relative(ROOT, moduleId);
      return known.get(file) ?? NEW_FILE_SECONDS[projectOf(file)] ?? 0;
    };
    const [unit, others] = [isOfUnit, (file: TestSpecification) => !isOfUnit(file)].map((isOf) =>
      sorted.filter(isOf).toSorted((one, other) => secondsOf(other) - secondsOf(one)),
    ) as [TestSpecification[], TestSpecification[]];
    return spreadBehind(others, unit, secondsOf);
  }
}

/** Returns what each file took that has a row in these tables. */
export function secondsByFile(tables: string): ReadonlyMap<string, number> {
  const rows = tables.matchAll(/^\| (?<file>[\w./-]+) \| \d+ \| (?<seconds>\d+) \|/gm);
  return new Map(
    Array.from(rows, ({ groups }) => [`test/${groups?.['file']}.test.ts`, Number(groups?.['seconds'])]),
  );
}

/** Spreads the members of the second list behind those of the first one until half of the seconds of the first one have begun. */
export function spreadBehind<T>(
  first: readonly T[],
  second: readonly T[],
  secondsOf: (member: T) => number,
): T[] {
  const half = first.reduce((sum, one) => sum + secondsOf(one), 0) / 2;
  let begun = 0;
  let used = 0;
  const spread = first.flatMap((one) => {
    begun += secondsOf(one);
    const from = used;
    used = begun < half ? Math.round((second.length * begun) / half) : second.length;
    return [one, ...second.slice(from, used)];
  });
  return [...spread, ...second.slice(used)];
}

function isOfUnit({ moduleId }: TestSpecification): boolean {
  return projectOf(relative(ROOT, moduleId)) === 'unit';
}
