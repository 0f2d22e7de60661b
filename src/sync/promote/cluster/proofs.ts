/**
 * The digests that were proven and that failed on one cluster. Proof belongs to (cluster, digest), not to a commit. A digest
 * is in one of the two lists: the later result counts. Pure.
 */
import type { ClusterSync, FailedDigest, ProvenDigest } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { EMPTY_TARGET, type TargetDigests } from '../../commits.ts';
import type { CommitHistory } from '../commit-history.ts';

export interface ProofRecord {
  readonly proven?: readonly ProvenDigest[];
  readonly failed?: readonly FailedDigest[];
}

/** The number of rendered revisions that are kept is the same: an older digest soaks again. */
const MAX_ENTRIES = 20;

export function isProven({ proven }: ProofRecord, digest: string): boolean {
  return proven?.some((entry) => entry.digest === digest) ?? false;
}

export function failureOf({ failed }: ProofRecord, digest: string): FailedDigest | undefined {
  return failed?.find((entry) => entry.digest === digest);
}

export function withProof(record: ProofRecord, proof: Required<ProvenDigest>): Required<ProofRecord> {
  return {
    proven: [proof, ...withoutDigest(record.proven, proof.digest)].slice(0, MAX_ENTRIES),
    failed: withoutDigest(record.failed, proof.digest),
  };
}

/** Keeps the first failure of a digest: later ones are often only its consequences. */
export function withFailure(record: ProofRecord, failure: FailedDigest): Required<ProofRecord> {
  const { digest } = failure;
  const proof = record.proven?.find((entry) => entry.digest === digest);
  const first = failureOf(record, digest) ?? { ...failure, ...optional('provenAt', proof?.provenAt) };
  return {
    proven: withoutDigest(record.proven, digest),
    failed: [first, ...withoutDigest(record.failed, digest)].slice(0, MAX_ENTRIES),
  };
}

function withoutDigest<E extends { readonly digest?: string }>(
  entries: readonly E[] | undefined,
  digest: string,
): readonly E[] {
  return (entries ?? []).filter((entry) => entry.digest !== digest);
}

export interface ProofContext {
  readonly history: CommitHistory;
  readonly cluster: string;
}

/**
 * The units of a target that have to soak here. None: the digest, or every unit of it, was proven here, so the target skips
 * the soak (S33). A removed unit is a change like any other. Not to be asked about a failed digest: that soaks as a whole.
 */
export function unitsToSoak(
  record: ProofRecord,
  target: TargetDigests,
  context: ProofContext,
): readonly string[] {
  if (isProven(record, target.digest)) return [];
  const known = [...renderedTargets(record.proven, context), target];
  const units = [...new Set(known.flatMap((each) => [...each.units.keys()]))];
  const proven = provenUnits(record, units, context);
  return units.filter((unit) => !proven.has(unitKey(unit, target)));
}

/**
 * Tells whether the assigned content, or each unit of it, was proven here: a revert goes back to such content. Content that failed here
 * since counts as new.
 */
export function wasProven(
  record: ProofRecord & Pick<ClusterSync, 'commit' | 'renderedDigest'>,
  context: ProofContext,
): boolean {
  const { commit, renderedDigest: digest } = record;
  if (digest === undefined || failureOf(record, digest)) return false;
  if (isProven(record, digest)) return true;
  const target = context.history.target(commit, context.cluster);
  return target?.digest === digest && unitsToSoak(record, target, context).length === 0;
}

/**
 * A unit is proven by every proven digest that contains it. Of a failed digest, the units that are proven by no other digest
 * caused the failure; if all are, the cause is unknown and all of them lose their proof.
 */
function provenUnits(
  { proven, failed }: ProofRecord,
  units: readonly string[],
  context: ProofContext,
): ReadonlySet<string> {
  const keys = (target: TargetDigests): string[] => units.map((unit) => unitKey(unit, target));
  const good = new Set(renderedTargets(proven, context).flatMap(keys));
  const unexplained = renderedTargets(failed, context)
    .map(keys)
    .filter((all) => all.every((key) => good.has(key)));
  for (const key of unexplained.flat()) good.delete(key);
  return good;
}

/** Omits entries whose commit is not rendered any more or renders to other content now: their units are unknown, so they soak. */
function renderedTargets(
  entries: readonly ProvenDigest[] | undefined,
  { history, cluster }: ProofContext,
): TargetDigests[] {
  return (entries ?? []).flatMap(({ commit, digest }) => {
    const target = history.target(commit, cluster);
    return target !== undefined && target.digest === digest ? target : [];
  });
}

function unitKey(unit: string, { units }: TargetDigests): string {
  return `${unit} ${units.get(unit) ?? EMPTY_TARGET.digest}`;
}
