/** Time as an argument: `now` for what is written down, `monotonicMs` for how long something took. */
export interface Clock {
  now(): Date;
  /** Never goes back, also when the wall clock does. */
  monotonicMs(): number;
  /** Resolves after that time, or rejects with the signal's reason. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
