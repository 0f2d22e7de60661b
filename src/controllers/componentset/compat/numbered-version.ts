/** Compares versions that begin with numbers, such as `1.34`, `v1.36.3` and `6.1.0-18-amd64`. Pure. */

/** The numbers at the start of a version. Undefined: it does not begin with one. */
export function numbersOf(version: string): readonly number[] | undefined {
  const [found] = /^v?\d+(?:[.-]\d+)*/.exec(version) ?? [];
  return found?.replace(/^v/, '').split(/[.-]/).map(Number);
}

/** Compares as many numbers as both have: 1.34 equals every patch version of it. */
export function compareCommon(a: readonly number[], b: readonly number[]): number {
  const length = Math.min(a.length, b.length);
  return compareNumbers(a.slice(0, length), b.slice(0, length));
}

/** Compares all numbers. One that is missing is 0: 6.1 is older than 6.1.2. */
export function compareNumbers(a: readonly number[], b: readonly number[]): number {
  const length = Math.max(a.length, b.length);
  for (let index = 0; index < length; index += 1) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
