/** An Amount of our kinds: a number, or a share of the set in question. */
import type { Amount } from '../api/generated/types.ts';

/** A share is rounded down, but is at least 1 when it is above 0: "10%" of three clusters is one, not none. */
export function amountOf(amount: Amount, total: number): number {
  if (typeof amount === 'number') return amount;
  const percent = Number.parseInt(amount, 10);
  if (!/^\d{1,3}%$/.test(amount) || percent > 100) {
    throw new RangeError(`'${amount}' is no amount: write a whole number, or a share as "10%"`);
  }
  if (percent === 0 || total === 0) return 0;
  return Math.max(1, Math.floor((total * percent) / 100));
}
