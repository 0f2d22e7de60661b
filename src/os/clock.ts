/** Time as an argument: `now` for timestamps, `monotonicMs` for durations. */
export interface Clock {
  now(): Date;
  /** Never goes back, even when the wall clock does. */
  monotonicMs(): number;
  /** Resolves after that time, or rejects with the signal's reason. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
