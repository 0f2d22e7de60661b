/**
 * Order of the files of a run: those that take minutes begin first, so that none of them runs alone at the end. Files that wait for
 * servers and files that compute alternate, so that a core is never idle.
 */
import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/** Each takes minutes beside others, the longest first. */
const LONG = [
  'test/e2e/demo.test.ts',
  'test/e2e/guides.test.ts',
  'test/e2e/readme.test.ts',
  'test/e2e/first-hour.test.ts',
  'test/cluster/controllers/rollout.test.ts',
  'test/cluster/local/fleet.test.ts',
  'test/cluster/sync/split-leases.test.ts',
  'test/cluster/controllers/rights/remedy.test.ts',
  'test/cluster/sync/fleet.test.ts',
  'test/cluster/controllers/componentset-rights.test.ts',
  'test/cluster/controllers/rights/defender.test.ts',
  'test/cluster/controllers/machine-rights.test.ts',
  'test/cluster/controllers/approver.test.ts',
  'test/cluster/controllers/hostdoctor.test.ts',
  'test/cluster/agent/self-upgrade.test.ts',
  'test/cluster/sync/drift.test.ts',
  'test/cluster/sync/crash.test.ts',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- a method of vitest
    const sorted = await super.sort(files);
    const [unit, others] = [isOfUnit, (file: TestSpecification) => !isOfUnit(file)].map((isOf) =>
      sorted.filter(isOf),
    ) as [TestSpecification[], TestSpecification[]];
    return alternate(
      others.toSorted((one, other) => placeOf(one) - placeOf(other)),
      unit,
    );
  }
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
  return !/\/test\/(?:cluster|e2e|nodes)\//.test(moduleId);
}

function placeOf({ moduleId }: TestSpecification): number {
  const index = LONG.findIndex((file) => moduleId.endsWith(file));
  return index < 0 ? LONG.length : index;
}
