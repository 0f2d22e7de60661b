/** Chances of independent events, as logarithms: they may be too small for a number. Pure. */

/** Below this, a further term changes nothing. */
const NEGLIGIBLE = 1e-17;

/** Logarithm of the chance that `least` or more of `attempts` succeed: 0, which is certainty, for as many as are expected. */
export function logBinomialTail(attempts: number, least: number, chance: number): number {
  if (least <= attempts * chance) return 0;
  if (chance <= 0 || least > attempts) return Number.NEGATIVE_INFINITY;
  const odds = chance / (1 - chance);
  let [term, sum] = [1, 1];
  for (let successes = least; successes < attempts && term > sum * NEGLIGIBLE; successes += 1) {
    term *= ((attempts - successes) / (successes + 1)) * odds;
    sum += term;
  }
  const exactly =
    logChoose(attempts, least) + least * Math.log(chance) + (attempts - least) * Math.log1p(-chance);
  return Math.min(0, exactly + Math.log(sum));
}

function logChoose(attempts: number, successes: number): number {
  const few = Math.min(successes, attempts - successes);
  let sum = 0;
  for (let index = 1; index <= few; index += 1) sum += Math.log((attempts - few + index) / index);
  return sum;
}
