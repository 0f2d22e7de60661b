/** An incident endangers the machines of a cluster, or stops their repairs and updates. The most urgent reason is first. */
export const INCIDENT_REASONS = [
  'NoControllers',
  'ZoneDark',
  'BreakerOpen',
  'Stopped',
  'FleetStopped',
  'PolicyMissing',
  'PolicyRefused',
  'LedgerNotReady',
  'RuleHeld',
] as const;

export type IncidentReason = (typeof INCIDENT_REASONS)[number];
