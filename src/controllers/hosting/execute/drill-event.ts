/** Words the Event about a restore drill that has ended since the last report. Pure. A drill runs beside the reconciles, and its end is read from the driver. */
import { EVENT_PREFIX, MANAGER_HOSTING } from '../../../api/names.ts';
import type { ContextEvent } from '../../../kube/controller/reconcile-context.ts';
import { conditionOf } from '../../../kube/objects/conditions.ts';
import { wholeSeconds } from '../../../os/dates.ts';
import { backupReady } from '../backups.ts';
import { drillText } from '../drivers/etcd/drill/check.ts';
import type { HostingInput } from '../plan/input.ts';

const PREFIX = EVENT_PREFIX[MANAGER_HOSTING];
const FAILED = 'DrillFailed';

/** Undefined: an Event was sent before. A drill that fails again and again has one, as the condition changes once. */
export function drillEvent(input: HostingInput): ContextEvent | undefined {
  return successEvent(input) ?? failureEvent(input);
}

function successEvent({ cluster, plane }: HostingInput): ContextEvent | undefined {
  const { drill } = plane.backup ?? {};
  if (!drill?.checked || wholeSeconds(drill.at) === cluster.status?.hosted?.etcd?.lastDrillAt) {
    return undefined;
  }
  const note = `the restore drill succeeded: ${drillText(drill.checked)}`;
  return { type: 'Normal', reason: `${PREFIX}DrillSucceeded`, action: 'Drill', note };
}

function failureEvent(input: HostingInput): ContextEvent | undefined {
  const failed = backupReady(input).find(({ reason }) => reason === FAILED);
  if (!failed || conditionOf(input.cluster.status?.conditions, failed.type)?.reason === FAILED) {
    return undefined;
  }
  return { type: 'Warning', reason: `${PREFIX}${FAILED}`, action: 'Drill', note: failed.message ?? '' };
}
