/** Every reason for which the Defender denies an ask, in order of precedence. No npm package here. */

/** When several reasons apply, the first in this order is the reason of the denial; the others are listed with it. */
export const DENY_REASONS_BY_GROUP = {
  stop: ['KillSwitch', 'ClusterPaused', 'HumanHold', 'NodeExcluded'],
  cannotDecide: [
    'PolicyMissing',
    'PolicyInvalid',
    'FactUnknown',
    'LedgerUnavailable',
    'LedgerConflict',
    'LedgerFull',
    'LedgerRecovering',
    'AskInvalid',
    'AskStale',
    'RevisionUnknown',
    'NodeIdentityChanged',
  ],
  selfDoubt: ['WatchStale', 'APIErrors', 'MassUnknown', 'SecondVantageMissing', 'SecondVantageDisagrees'],
  controlPlane: [
    'ControlPlaneBusy',
    'ControlPlaneUnreadable',
    'EtcdQuorum',
    'APIServersNotEnough',
    'LeaderGoesLast',
    'SingleControlPlane',
    'ControlPlaneActionNotAllowed',
  ],
  wholeAreas: [
    'ZoneDark',
    'ZonalShift',
    'BreakerOpen',
    'BreakerHalfOpenBusy',
    'BreakerNeedsPerson',
    'CommonCause',
    'DetectorSuspect',
    'StormCooldown',
  ],
  time: ['QuietWindow', 'Freeze', 'RunsIntoWindow'],
  blockers: ['BlockedByAlert', 'AlertUnreadable', 'ForeignOwner', 'UnregisteredRemediator', 'BlockedByPod'],
  machine: [
    'NodeBusy',
    'NodeTooYoung',
    'NodeInterval',
    'NodeJobLimit',
    'NodeRebootLimit',
    'Lemon',
    'LastReadyOfPool',
  ],
  budgets: [
    'ConcurrencyCluster',
    'ConcurrencyZone',
    'ConcurrencyPool',
    'ConcurrencyLabel',
    'ConcurrencyHolder',
    'SmallPool',
    'RateWindow',
    'RateBurst',
    'RuleWave',
  ],
  capacity: ['PodsFitNowhere', 'CapacityReserve', 'ReplacementOutOfStock'],
  people: ['ApprovalPending', 'ApprovalRefused', 'ApprovalTimedOut'],
} as const;

export type DenyReasonGroup = keyof typeof DENY_REASONS_BY_GROUP;
export type DenyReason = (typeof DENY_REASONS_BY_GROUP)[DenyReasonGroup][number];

export const DENY_REASONS: readonly DenyReason[] = Object.values(DENY_REASONS_BY_GROUP).flat();

/** Where the documentation tells what the reason means, and what to do. */
export function denialPage(reason: DenyReason): string {
  return `docs/runbooks/denials.md#${reason.toLowerCase()}`;
}
