/** Removes what leaves the ledger by itself: lapsed grants, settled ones, old counters, replaced machines. Pure. */
import type { LedgerGone, LedgerRate } from '../../api/generated/types.ts';
import { isInFlight } from '../../api/grants.ts';
import type { FleetFacts } from '../facts/facts.ts';
import { NO_KEY } from '../facts/grouping.ts';
import { LEDGER_MAXIMUM } from '../guards/ledger-state.ts';
import type { PreparedPolicies } from '../policies/prepare.ts';
import { isCounter } from './counter-key.ts';
import type { LedgerDraft } from './draft.ts';
import { grantOn, isLapsed, isLingering } from './entries.ts';
import { isSpent } from './rates.ts';
import { correctFutureTimes } from './upkeep/clock-jumps.ts';

/** How long a settled grant stays for people who look, and without policies that state otherwise. */
const LINGER_SECONDS = 900;
/**
 * The number of grants above which a settled one stays only while a policy counts it: 1,000 machines that are updated within
 * minutes must find room.
 */
const ROOMY_GRANTS = LEDGER_MAXIMUM.grants / 2;
/** How long an approval stays after its end, so that an asker learns that it ended. */
const APPROVAL_KEPT_SECONDS = 3600;
const OUTCOMES_KEPT_SECONDS = 7 * 86_400;

export interface ExpiryInput {
  readonly policies: PreparedPolicies;
  readonly facts: Pick<FleetFacts, 'missingIn'>;
  /** Ids of grants whose acts live objects show in work: settled ones stay, because the ledger would look edited without them. */
  readonly inWork?: ReadonlySet<string>;
  readonly now: Date;
}

/** Returns whether anything left or changed. */
export function expireEntries(draft: LedgerDraft, { policies, facts, inWork, now }: ExpiryInput): boolean {
  const isCorrected = correctFutureTimes(draft, now);
  const linger = lingerSeconds(draft.grants, policies);
  const removed = [
    ...removeFrom(
      draft.grants,
      (grant) =>
        isLapsed(grant, now) ||
        !(isInFlight(grant) || isLingering(grant, linger, now) || inWork?.has(grant.id)),
    ),
    ...removeFrom(draft.approvals, ({ until }) => Date.parse(until) + APPROVAL_KEPT_SECONDS * 1000 < +now),
    ...removeFrom(draft.rates, (rate, key) => isOldRate(key, rate, now)),
    ...removeReplaced(draft, facts),
    ...releaseProbes(draft),
  ];
  return isCorrected || removed.length > 0;
}

function lingerSeconds(grants: LedgerDraft['grants'], { valid }: PreparedPolicies): number {
  const counted = valid.map(({ spec }) => spec.counting.lingerSeconds);
  const isRoomy = Object.keys(grants).length <= ROOMY_GRANTS;
  return Math.max(...counted, isRoomy || counted.length === 0 ? LINGER_SECONDS : 0);
}

function removeFrom<T>(
  map: Record<string, T>,
  isOver: (value: T, key: string) => boolean,
): readonly string[] {
  const keys = Object.keys(map).filter((key) => isOver(map[key] as T, key));
  for (const key of keys) delete map[key];
  return keys;
}

function isOldRate(key: string, rate: LedgerRate, now: Date): boolean {
  if (!isCounter(key, 'acts')) return isSpent(rate, now);
  return Date.parse(rate.firstBucketAt) + OUTCOMES_KEPT_SECONDS * 1000 < +now;
}

/** Releases a probe whose grant left without an outcome: it lapsed before its act began. The next act is the probe. */
function releaseProbes({ breakers, grants }: LedgerDraft): readonly string[] {
  const released = Object.entries(breakers).filter(
    ([, { probe }]) => probe !== undefined && !isActing(grants, probe),
  );
  for (const [id, { probe: _, ...waiting }] of released) breakers[id] = waiting;
  return released.map(([id]) => id);
}

function isActing(grants: LedgerDraft['grants'], machine: string): boolean {
  const grant = grantOn(grants, machine);
  return grant !== undefined && isInFlight(grant);
}

/** Removes the deleted machines that were replaced. As many machines of a pool stay as it misses, the last deleted ones. */
function removeReplaced({ gone }: LedgerDraft, facts: ExpiryInput['facts']): readonly string[] {
  const byPool = Map.groupBy(Object.entries(gone), ([, { pool }]) => pool ?? NO_KEY);
  const replaced = [...byPool].flatMap(([pool, entries]) => {
    const missing = facts.missingIn(pool);
    if (missing === undefined || entries.length <= missing) return [];
    return entries.toSorted(lastFirst).slice(missing);
  });
  for (const [machine] of replaced) delete gone[machine];
  return replaced.map(([machine]) => machine);
}

function lastFirst(
  [a, first]: readonly [string, LedgerGone],
  [b, second]: readonly [string, LedgerGone],
): number {
  return Date.parse(second.since) - Date.parse(first.since) || (a < b ? -1 : 1);
}
