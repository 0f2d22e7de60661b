/** The only source of random numbers for jitter; never for secrets or for anything that must be reproducible. */
import { randomInt } from 'node:crypto';

/** In [0, 1). */
export function systemRandom(): number {
  return randomInt(2 ** 32) / 2 ** 32;
}
