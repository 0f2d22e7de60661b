/** Interprets the entries of the ledger. Pure. */
import type { Risk } from '../../api/enums.ts';
import { RISKS } from '../../api/enums.ts';
import type { LedgerApproval, LedgerGrant, LedgerHolder } from '../../api/generated/types.ts';
import { isInFlight } from '../../api/grants.ts';
import { ownValue } from '../../kube/objects/json.ts';

/** Returns the grant on the machine. It reads own properties only, because a machine may have a name that every object has. */
export function grantOn(
  grants: Readonly<Record<string, LedgerGrant>>,
  machine: string,
): LedgerGrant | undefined {
  return ownValue(grants, machine);
}

/** Tells whether an act is in flight on the machine. */
export function isActedOn(grants: Readonly<Record<string, LedgerGrant>>, machine: string): boolean {
  const grant = grantOn(grants, machine);
  return grant !== undefined && isInFlight(grant);
}

/** Tells whether a grant is settled and still counted: the machine may fall ill again right after the act. */
export function isLingering(grant: LedgerGrant, lingerSeconds: number, now: Date): boolean {
  return grant.state === 'Settled' && !(lingersUntil(grant, lingerSeconds) <= +now);
}

/** Returns when a settled grant stops to count, in milliseconds; NaN while it is not settled. */
export function lingersUntil({ settledAt }: LedgerGrant, lingerSeconds: number): number {
  return Date.parse(settledAt ?? '') + lingerSeconds * 1000;
}

/** Tells whether an act has not begun and is not permitted any more: the next write drops it. */
export function isLapsed({ state, notAfter }: LedgerGrant, now: Date): boolean {
  return state === 'Granted' && Date.parse(notAfter) <= +now;
}

/** Tells whether an act began and is past its end: it counts until its holder's true state is known. */
export function isSuspect({ state, notAfter }: LedgerGrant, now: Date): boolean {
  return state === 'Started' && Date.parse(notAfter) <= +now;
}

/** Returns the rule or set that the holder acts for: its acts are counted together. */
export function holderKey({ kind, name, origin }: LedgerHolder): string {
  return origin ?? `${kind}/${name}`;
}

type HolderName = Pick<LedgerHolder, 'kind' | 'name'>;

export function isSameHolder(a: HolderName, b: HolderName): boolean {
  return a.kind === b.kind && a.name === b.name;
}

export function isAtLeast(risk: Risk, least: Risk): boolean {
  return RISKS.indexOf(risk) >= RISKS.indexOf(least);
}

/** Tells whether an act takes the node out of service: then every limit counts it, whatever acts the limit is for. */
export function takesNodeDown(risk: Risk): boolean {
  return isAtLeast(risk, 'Node');
}

/** Tells whether the list contains the value. An empty or absent list means all. */
export function isListed<T>(list: readonly T[] | undefined, value: T): boolean {
  return list === undefined || list.length === 0 || list.includes(value);
}

export interface ActOfHolder {
  readonly action: string;
  readonly risk: Risk;
  readonly holder: Pick<LedgerHolder, 'kind' | 'name'>;
}

/** Tells whether the answer of a person is for this act. Rules of approval select by risk and kind too, so these are compared. */
export function isAnswerTo(
  answer: LedgerApproval | undefined,
  { action, risk, holder }: ActOfHolder,
): boolean {
  return (
    answer?.action === action &&
    answer.holder === holder.name &&
    (answer.risk ?? risk) === risk &&
    (answer.holderKind ?? holder.kind) === holder.kind
  );
}
