/**
 * Records what the queries of a policy found in its status, and reads it there: the process that leads asks Prometheus, and every
 * process that decides reads the same answer. An answer that is too old, or of another query, is Unknown. Pure.
 */
import type { DefenderPolicy, PolicyAlert } from '../../api/generated/types.ts';
import { digestOf } from '../../kube/objects/digest.ts';
import { wholeSeconds } from '../../os/dates.ts';
import { MAX_CLOCK_SKEW_SECONDS } from '../guards/view/self-doubt.ts';
import type { AlertResult } from './alert-state.ts';

export interface AskedAlert extends AlertResult {
  /** When the query was sent. */
  readonly at: Date;
}

/** Answers are asked for each half minute: so old is one of which four in a row are missing. */
export const MAX_ALERT_AGE_SECONDS = 150;
const MAX_MESSAGE = 256;

/**
 * Returns the entries of a policy. What this process has not asked yet, or asked long ago when it led before, stays as another process
 * recorded it.
 */
export function recordAlerts(
  { spec, status }: Pick<DefenderPolicy, 'spec' | 'status'>,
  resultOf: (query: string) => AskedAlert | undefined,
  now: Date,
): readonly PolicyAlert[] {
  return spec.blockers.promql.flatMap(({ name, query }): readonly PolicyAlert[] => {
    const asked = askedDigest(query);
    const found = resultOf(query);
    if (found && isOfNow(found.at, now)) {
      const { state, at, message } = found;
      return [{ name, asked, state, at: wholeSeconds(at), message: message.slice(0, MAX_MESSAGE) }];
    }
    return (status?.alerts ?? []).filter((each) => each.name === name && each.asked === asked);
  });
}

/** Returns what is known about a query now. */
export function recordedAlert(
  policy: Pick<DefenderPolicy, 'status'> | undefined,
  { name, query }: { readonly name: string; readonly query: string },
  now: Date,
): AlertResult {
  const entry = policy?.status?.alerts?.find((each) => each.name === name);
  if (!entry || entry.asked !== askedDigest(query)) return unknown('Prometheus was not asked yet');
  if (!isOfNow(new Date(entry.at), now)) return unknown(`the last answer is of ${entry.at}`);
  return { state: entry.state, message: entry.message ?? '' };
}

/** An answer of the future was written by a clock that was wrong. */
function isOfNow(at: Date, now: Date): boolean {
  const ageSeconds = (+now - +at) / 1000;
  return ageSeconds <= MAX_ALERT_AGE_SECONDS && ageSeconds >= -MAX_CLOCK_SKEW_SECONDS;
}

function unknown(message: string): AlertResult {
  return { state: 'Unknown', message };
}

const digests = new Map<string, string>();
const MAX_DIGESTS = 256;

/** Kept, because every decision compares it. */
function askedDigest(query: string): string {
  const known = digests.get(query);
  if (known !== undefined) return known;
  const digest = digestOf({ promql: query }).slice('sha256:'.length, 'sha256:'.length + DIGEST_LENGTH);
  if (digests.size >= MAX_DIGESTS) digests.clear();
  digests.set(query, digest);
  return digest;
}

const DIGEST_LENGTH = 12;
