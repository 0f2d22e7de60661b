/**
 * Decides when the agent observes its whole host. Watches of files and units report what changed; what they miss is found by a scan. In
 * between, a component at rest costs its probes only. Pure.
 */
import { DRAIN_PENDING } from '../../api/machine/drain-wait.ts';
import type { ComponentWaitReason } from '../component/operation.ts';
import type { ReportedComponent } from '../status/report.ts';
import type { TriggerReason } from './trigger.ts';

/** The time between two scans: a change that no watch reports is found within this time and one heartbeat. */
export const SCAN_MS = 20_000;

export interface ScanInput {
  readonly reason: TriggerReason;
  readonly sinceScanMs: number;
  /** The reports of the last observation. */
  readonly reports: ReadonlyMap<string, ReportedComponent>;
}

export function needsScan({ reason, sinceScanMs, reports }: ScanInput): boolean {
  return reason === 'Changed' || sinceScanMs >= SCAN_MS || ![...reports.values()].every(isAtRest);
}

/** The waits that last long: what ends them is declared, or far away. */
const LONG_WAITS: ReadonlySet<ComponentWaitReason> = new Set([
  'Denied',
  'DependencyMismatch',
  DRAIN_PENDING,
  'GrantNeeded',
  'Held',
  'InvalidEntry',
  'NoWayBack',
  'Orphaned',
  'StillNeeded',
]);

/** Tells whether a component is at rest: only a change can give it something to do. */
function isAtRest({ progress, findings, wait, failure }: ReportedComponent): boolean {
  if (failure || findings.length > 0) return false;
  return wait ? LONG_WAITS.has(wait.reason) : !progress.transition;
}
