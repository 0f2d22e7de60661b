/** Forms the names of what a breaker counts. The counts are kept among the rates of the ledger. Pure. */

/**
 * `acts`: the last outcomes. `failed`: failures within a period. `trips`: trips of a day. `probes`: verified probes so far.
 * `storm`: acts at the same time that are allowed after a storm.
 */
export type CounterName = 'acts' | 'failed' | 'trips' | 'probes' | 'storm';

/** The maximum length of a key of the ledger. */
const MAX_LENGTH = 160;

export function counterKey(breaker: string, counter: CounterName): string {
  const suffix = `#${counter}`;
  return `${breaker.slice(0, MAX_LENGTH - suffix.length)}${suffix}`;
}

export function isCounter(key: string, counter: CounterName): boolean {
  return key.endsWith(`#${counter}`);
}
