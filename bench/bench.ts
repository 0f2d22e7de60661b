import { readFileSync } from 'node:fs';

/**
 * The flags with which `kubenode` runs (bin/kubenode.js): without them V8 lets the young generation take 64 MiB, and the heap
 * double before it collects.
 */
export const KUBENODE_FLAGS = JSON.parse(
  readFileSync(new URL('../bin/node-flags.json', import.meta.url), 'utf8'),
) as readonly string[];

/**
 * The interface of a benchmark. Each file `bench/<name>.ts` exports one as `bench`; `npm run bench [name…]` runs it
 * in its own Node.js process (so that memory is measured separately) and prints the result as one JSON line.
 */
export interface Bench {
  readonly name: string;
  /** One sentence: what is measured, and the baseline. */
  readonly what: string;
  /** It does in its own process what `kubenode` does, and measures the memory of that. */
  readonly needsKubenodeFlags?: true;
  run(): Promise<BenchResult>;
}

export interface BenchResult {
  /** The measured values, with the unit in the name: `syncMs`, `residentMiB`. */
  readonly measured: Readonly<Record<string, number>>;
  /** The same work without kubenode (or by another library), measured in the same run. */
  readonly baseline: Readonly<Record<string, number>>;
  /** Measured divided by baseline, by name. */
  readonly ratios: Readonly<Record<string, number>>;
  readonly gates: readonly Gate[];
  /** Sizes and settings that a reader needs to understand the numbers. */
  readonly setting?: Readonly<Record<string, number | string>>;
}

/** A limit for one number. Prefer ratios: absolute times depend on the machine. */
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
