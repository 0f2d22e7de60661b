/* oxlint-disable vitest/valid-title, vitest/expect-expect -- titles and assertions are those of the cases */
/** How much of the contract a run shows: every case in memory, and of real members, which take seconds each, a part that the seed selects. */
import { it } from 'vitest';
import { LONG, SEED } from '../../sweep-size.ts';
import type { DriverTraits } from './faults.ts';

type Case = (title: string, run: () => Promise<void>) => void;

export interface Cases extends Case {
  /** Of a table of keys or certificates. */
  readonly of: <T>(rows: readonly T[]) => readonly T[];
  /** A case that only some drivers have. */
  readonly runIf: (isMeant: boolean) => Case;
}

export function casesOf({ oneOf }: DriverTraits): Cases {
  const share = LONG ? 1 : oneOf;
  let index = SEED % share;
  const isChosen = (): boolean => {
    index += 1;
    return index % share === 0;
  };
  const run: Case = (title, test) => it.runIf(isChosen())(title, test);
  return Object.assign(run, {
    of: <T>(rows: readonly T[]) => rows.filter(isChosen),
    runIf:
      (isMeant: boolean): Case =>
      (title, test) =>
        it.runIf(isChosen() && isMeant)(title, test),
  });
}
