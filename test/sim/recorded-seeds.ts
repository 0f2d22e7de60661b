/** For each guard a seed that breaks its promise without it: 3 days of 60 machines, unless others are written. */
export interface RecordedSeed {
  readonly guard: string;
  readonly seed: number;
  /** What is broken. */
  readonly promise: string;
  readonly machines?: number;
  readonly days?: number;
}

/** In the order of the guards. */
export const RECORDED_SEEDS: readonly RecordedSeed[] = [
  { guard: 'kill-switch', seed: 2, promise: 'an act while stopped' },
  { guard: 'held', seed: 1, promise: 'an act on a held machine' },
  { guard: 'ledger-recovering', seed: 2, promise: 'an act while the ledger recovers' },
  { guard: 'ledger-full', seed: 6, promise: 'more grants than the ledger holds', days: 1, machines: 540 },
  { guard: 'ask-valid', seed: 1, promise: 'an act below its risk' },
  { guard: 'ask-recent', seed: 1, promise: 'an act by old facts' },
  { guard: 'revision-known', seed: 2, promise: 'an act of an unknown revision' },
  { guard: 'same-node', seed: 2, promise: 'an act on another Node' },
  { guard: 'clock-trusted', seed: 2, promise: 'an act while clockWrong' },
  { guard: 'view-fresh', seed: 1, promise: 'an act with a stale view' },
  { guard: 'api-errors', seed: 3, promise: 'an act while apiErrors' },
  { guard: 'mass-unknown', seed: 4, promise: 'an act while massUnknown' },
  { guard: 'control-plane', seed: 2, promise: 'an act that costs the quorum' },
  { guard: 'dark-zone', seed: 13, promise: 'an act in a dark zone' },
  { guard: 'zonal-shift', seed: 2, promise: 'an act in a zone that is shifted' },
  { guard: 'breaker-open', seed: 3, promise: 'an act under an open breaker' },
  { guard: 'common-cause', seed: 7, promise: 'an act on a machine of a bad version' },
  { guard: 'storm-cooldown', seed: 3, promise: 'more acts in a zone than it may begin after a storm' },
  { guard: 'quiet-window', seed: 1, promise: 'an act in a quiet window' },
  { guard: 'freeze', seed: 1, promise: 'an act in a freeze' },
  { guard: 'alerts', seed: 2, promise: 'an act while alerting' },
  { guard: 'foreign-owner', seed: 1, promise: 'an act on a machine of another tool' },
  { guard: 'blocking-pods', seed: 1, promise: 'an act under a blocking Pod' },
  { guard: 'one-act', seed: 1, promise: 'two acts on one machine' },
  { guard: 'node-age', seed: 3, promise: 'a repair of a young node' },
  { guard: 'repair-limits', seed: 1, promise: 'a repair too soon after the last' },
  { guard: 'last-ready', seed: 4, promise: 'an act on the last machine of its pool that serves' },
  { guard: 'concurrency', seed: 1, promise: '4 machines in work, and 3 allowed' },
  { guard: 'rates', seed: 1, promise: 'more reboots in an hour than allowed' },
  { guard: 'approvals', seed: 3, promise: 'an act without its approval' },
];

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
