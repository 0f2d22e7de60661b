/** Describes what ends the wait of a MaintenanceEvent. Pure. */
import type { Wait } from '../../api/generated/types.ts';
import { ownValue } from '../../kube/objects/json.ts';

/** The hint for each reason, in which `EVENT`, `MACHINE` and `JOB` are replaced. */
const UNBLOCKS: Readonly<Record<string, string>> = {
  NotScheduled:
    'no action required: the reporter makes it certain, with spec.hint false and spec.state Scheduled',
  TooEarly: 'no action required',
  Undoing: 'no action required: kubenode remedy show JOB follows it',
  EventNotOver:
    'when the maintenance is over: kubectl patch kme EVENT --type merge -p \'{"spec":{"state":"Executing"}}\', and then Done; or Cancelled',
  Inconsistent: 'the reporter corrects spec.state, or reports a new event',
  MachineNotFound: 'create the Machine before the event, or delete the event: kubectl delete kme EVENT',
  MachineReplaced: 'delete the event, and report a new one if it is still meant: kubectl delete kme EVENT',
  OtherProvider: 'delete the event, and report it with the provider of the Machine: kubectl delete kme EVENT',
  ProviderNotSupported: 'delete the event, and report it with provider local: kubectl delete kme EVENT',
  NoRule: 'add the rule `maintenance` to git: `kubenode init` has it in rules/',
  Observe: 'set spec.mode Enforce of the rule `maintenance` in git',
  Shadow: 'set spec.mode Enforce of the rule `maintenance` in git',
  JobEnded: 'kubenode why job JOB shows why it ended; kubenode why node MACHINE shows what comes next',
};

export function maintenanceUnblock({ reason, blocker }: Wait, event: string, machine: string): string {
  const byJob = 'kubenode remedy show JOB shows what it waits for';
  const fallback = blocker === undefined ? 'kubenode why node MACHINE shows what is in the way' : byJob;
  return (ownValue(UNBLOCKS, reason) ?? fallback)
    .replaceAll('EVENT', event)
    .replaceAll('MACHINE', machine)
    .replaceAll('JOB', blocker?.name ?? 'NAME');
}
