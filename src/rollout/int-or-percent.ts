/** An Amount of our kinds: an integer, or a percentage of a set. Pure. */
import type { Amount } from '../api/generated/types.ts';

/** A percentage is rounded down, but a percentage above 0 is at least 1: "10%" of three clusters is one, not zero. */
export function resolveIntOrPercent(amount: Amount, total: number): number {
  if (typeof amount === 'number') return amount;
  const percent = Number.parseInt(amount, 10);
  if (!/^\d{1,3}%$/.test(amount) || percent > 100) {
    throw new RangeError(`expected an integer or a percentage from 0% to 100%, got '${amount}'`);
  }
  if (percent === 0 || total === 0) return 0;
  return Math.max(1, Math.floor((total * percent) / 100));
}
