/** The only place that draws chance: jitter, nothing that has to be secret or repeated. */
import { randomInt } from 'node:crypto';

/** In [0, 1). */
export function systemRandom(): number {
  return randomInt(2 ** 32) / 2 ** 32;
}
