/**
 * Order of the files of a run: those that took longest begin first, so that none of them runs alone at the end. Files that wait for
 * servers and files that compute alternate, so that a core is never idle. What a file took is in the tables of test/README.md.
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
    return alternate(others, unit);
  }
}

/** Returns what each file took that has a row in these tables. */
export function secondsByFile(tables: string): ReadonlyMap<string, number> {
  const rows = tables.matchAll(/^\| (?<file>[\w./-]+) \| \d+ \| (?<seconds>\d+) \|/gm);
  return new Map(
    Array.from(rows, ({ groups }) => [`test/${groups?.['file']}.test.ts`, Number(groups?.['seconds'])]),
  );
}

/** Spreads the members of the second list evenly behind those of the first one. */
export function alternate<T>(first: readonly T[], second: readonly T[]): T[] {
  if (first.length === 0) return [...second];
  const share = second.length / first.length;
  return first.flatMap((one, index) => [
    one,
    ...second.slice(Math.round(index * share), Math.round((index + 1) * share)),
  ]);
}

function isOfUnit({ moduleId }: TestSpecification): boolean {
  return projectOf(relative(ROOT, moduleId)) === 'unit';
}
