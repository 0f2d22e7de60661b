/** Runs of rollouts that broke a promise once. */
export interface RecordedRollouts {
  readonly seed: number;
  readonly hours: number;
  readonly machines: number;
  /** What was broken. */
  readonly found: string;
}

export const RECORDED_ROLLOUTS: readonly RecordedRollouts[] = [
  { seed: 2005, hours: 0.5, machines: 5, found: 'a batch began after 90 of 120 seconds of soak' },
  { seed: 2174, hours: 0.5, machines: 5, found: 'a restart begins after its set was deleted' },
  { seed: 2211, hours: 0.5, machines: 5, found: 'a first rollout that stopped keeps a grant for ever' },
];

/** With repairs. */
export const RECORDED_REPAIRS: readonly RecordedRollouts[] = [
  { seed: 136, hours: 2, machines: 8, found: 'TooManyUnavailable for ever' },
  { seed: 138, hours: 2, machines: 8, found: 'an update to an earlier revision waits for its own slot' },
  { seed: 139, hours: 2, machines: 8, found: 'a restart that waits for hung machines names none of them' },
  { seed: 161, hours: 2, machines: 8, found: 'a first rollout that stopped keeps a cordon for ever' },
  { seed: 149, hours: 0.35, machines: 8, found: 'a machine that a person cordons counts as taken out by us' },
  {
    seed: 160,
    hours: 0.2,
    machines: 8,
    found: 'one machine too many, as the Node of another registers again',
  },
  { seed: 287, hours: 0.5, machines: 8, found: 'a restart is permitted and given up again and again' },
  { seed: 151, hours: 2, machines: 8, found: 'a person who uncordons in a drain is never asked again' },
];
