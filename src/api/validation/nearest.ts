/** Suggests a known word for a misspelled one. */

/** Up to a third of the letters may differ: enough for a typo, too few for another word. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const scored = known.map((candidate) => ({
    candidate,
    away: distance(word.toLowerCase(), candidate.toLowerCase()),
  }));
  const [best] = scored.toSorted((a, b) => a.away - b.away || (a.candidate < b.candidate ? -1 : 1));
  return best && best.away <= Math.max(1, Math.floor(word.length / 3)) ? best.candidate : undefined;
}

/** Levenshtein distance: the number of letters to add, remove or change. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [i, letter] of Array.from(from).entries()) {
    const next = [i + 1];
    for (const [j, other] of Array.from(to).entries()) {
      const changed = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(changed, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
