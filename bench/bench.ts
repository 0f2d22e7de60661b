/**
 * What a benchmark is. Each file `bench/<name>.ts` exports one as `bench`; `npm run bench [name…]` finds it,
 * runs it in a Node.js process of its own (so that memory is its own, too) and prints the result as one JSON line.
 */
export interface Bench {
  readonly name: string;
  /** One sentence: what is measured, against what. */
  readonly what: string;
  run(): Promise<BenchResult>;
}

export interface BenchResult {
  /** What we measured, with the unit in the name: `syncMs`, `residentMiB`. */
  readonly measured: Readonly<Record<string, number>>;
  /** The same work without us (or by another), measured in the same run. */
  readonly baseline: Readonly<Record<string, number>>;
  /** Measured divided by baseline, by name. */
  readonly ratios: Readonly<Record<string, number>>;
  readonly gates: readonly Gate[];
  /** Sizes and settings that a reader needs to understand the numbers. */
  readonly setting?: Readonly<Record<string, number | string>>;
}

/** A promise about one number. Prefer ratios: absolute times are those of one machine. */
export interface Gate {
  readonly what: string;
  readonly value: number;
  readonly atMost?: number;
  readonly atLeast?: number;
}

export function passes({ value, atMost = Infinity, atLeast = -Infinity }: Gate): boolean {
  return value <= atMost && value >= atLeast;
}

/** The smallest value that `share` (0..1) of the samples do not exceed. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
