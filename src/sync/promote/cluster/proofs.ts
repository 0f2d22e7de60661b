/**
 * What was proven and what failed on one cluster. Proof belongs to (cluster, digest), not to a commit; a digest is in
 * one of the two lists, and the later word counts. Pure.
 */
import type { FailedDigest, ProvenDigest } from '../../../api/generated/types.ts';
import type { TargetDigests } from '../../commits.ts';
import { EMPTY_TARGET } from '../../commits.ts';
import type { History } from '../commit-history.ts';

export interface Book {
  readonly proven?: readonly ProvenDigest[];
  readonly failed?: readonly FailedDigest[];
}

/** As many as the rendered revisions that are kept: an older digest soaks again. */
const KEPT = 20;

export function isProven({ proven }: Book, digest: string): boolean {
  return proven?.some((entry) => entry.digest === digest) ?? false;
}

export function failureOf({ failed }: Book, digest: string): FailedDigest | undefined {
  return failed?.find((entry) => entry.digest === digest);
}

export function withProof(book: Book, proof: Required<ProvenDigest>): Required<Book> {
  return {
    proven: [proof, ...without(book.proven, proof.digest)].slice(0, KEPT),
    failed: without(book.failed, proof.digest),
  };
}

/** The first failure of a digest is kept: what comes later is often only its echo. */
export function withFailure(book: Book, failure: FailedDigest): Required<Book> {
  const known = failureOf(book, failure.digest);
  return {
    proven: without(book.proven, failure.digest),
    failed: [known ?? failure, ...without(book.failed, failure.digest)].slice(0, KEPT),
  };
}

function without<E extends { readonly digest?: string }>(
  entries: readonly E[] | undefined,
  digest: string,
): readonly E[] {
  return (entries ?? []).filter((entry) => entry.digest !== digest);
}

export interface Place {
  readonly history: History;
  readonly cluster: string;
}

/**
 * The units of a target that have to soak here. None: it was proven here, or every unit of it was, so it takes the fast
 * lane. A unit that is gone is a change like any other. What failed here has to soak as a whole, and is not asked about.
 */
export function unitsToSoak(book: Book, target: TargetDigests, place: Place): readonly string[] {
  if (isProven(book, target.digest)) return [];
  const known = [...targetsOf(book.proven, place), target];
  const units = [...new Set(known.flatMap((each) => [...each.units.keys()]))];
  const proven = provenStates(book, units, place);
  return units.filter((unit) => !proven.has(stateOf(unit, target)));
}

/**
 * A unit is proven when a digest that held it was. Of a digest that failed, the units to blame are those that were
 * proven in no other; where every unit was, the blame cannot be placed, and all of them lose their proof.
 */
function provenStates({ proven, failed }: Book, units: readonly string[], place: Place): ReadonlySet<string> {
  const states = (target: TargetDigests): string[] => units.map((unit) => stateOf(unit, target));
  const good = new Set(targetsOf(proven, place).flatMap(states));
  const beyondBlame = targetsOf(failed, place)
    .map(states)
    .filter((all) => all.every((state) => good.has(state)));
  for (const state of beyondBlame.flat()) good.delete(state);
  return good;
}

/** Without those whose commit is not rendered any more, or renders differently now: in doubt, soak. */
function targetsOf(
  entries: readonly ProvenDigest[] | undefined,
  { history, cluster }: Place,
): TargetDigests[] {
  return (entries ?? []).flatMap(({ commit, digest }) => {
    const target = history.target(commit, cluster);
    return target !== undefined && target.digest === digest ? target : [];
  });
}

function stateOf(unit: string, { units }: TargetDigests): string {
  return `${unit} ${units.get(unit) ?? EMPTY_TARGET.digest}`;
}
