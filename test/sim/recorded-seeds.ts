/** For each guard a seed that breaks a promise without it: 3 days of 60 machines, or of as many as written. */
export interface RecordedSeed {
  readonly guard: string;
  readonly seed: number;
  readonly machines?: number;
}

/** In the order of the guards. */
export const RECORDED_SEEDS: readonly RecordedSeed[] = [
  { guard: 'kill-switch', seed: 1 },
  { guard: 'held', seed: 1 },
  { guard: 'ledger-recovering', seed: 1 },
  { guard: 'ledger-full', seed: 2, machines: 600 },
  { guard: 'ask-valid', seed: 1 },
  { guard: 'ask-recent', seed: 2 },
  { guard: 'revision-known', seed: 2 },
  { guard: 'same-node', seed: 2 },
  { guard: 'clock-trusted', seed: 2 },
  { guard: 'view-fresh', seed: 1 },
  { guard: 'api-errors', seed: 1 },
  { guard: 'mass-unknown', seed: 1 },
  { guard: 'control-plane', seed: 3 },
  { guard: 'dark-zone', seed: 2 },
  { guard: 'zonal-shift', seed: 1 },
  { guard: 'breaker-open', seed: 2 },
  { guard: 'quiet-window', seed: 1 },
  { guard: 'freeze', seed: 4 },
  { guard: 'alerts', seed: 1 },
  { guard: 'foreign-owner', seed: 1 },
  { guard: 'blocking-pods', seed: 1 },
  { guard: 'one-act', seed: 1 },
  { guard: 'node-age', seed: 2 },
  { guard: 'repair-limits', seed: 1 },
  { guard: 'last-ready', seed: 4 },
  { guard: 'concurrency', seed: 1 },
  { guard: 'rates', seed: 1 },
  { guard: 'approvals', seed: 1 },
];
