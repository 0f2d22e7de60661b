/**
 * F10, Self Node Remediation #258 and #261: after a fixed time the node was taken for rebooted, its pods were released, and the
 * workload ran twice, because the node had been running all the time.
 */
import { faultRule, PERSON_RUNG, REBOOT_RUNG } from './fault-rules.ts';
import { createRepairBed, type RepairBed } from './repair-bed.ts';

const TYPE = 'FrequentTaskHung';

export type LostReboot =
  /** The agent answers that it has rebooted, and the boot id is the same. */
  | 'ReportedOnly'
  /** The agent does not answer at all, and the kubelet goes on. */
  | 'NoAnswer'
  /** The node boots, and hangs again at once. */
  | 'WithoutEffect';

export async function replayAssumedReboot(lost: LostReboot): Promise<RepairBed> {
  const verify = { ...REBOOT_RUNG.verify, conditions: NOT_HUNG };
  const ladder = [{ ...REBOOT_RUNG, verify }, { ...REBOOT_RUNG, name: 'again', verify }, PERSON_RUNG];
  const bed = createRepairBed([faultRule(TYPE, { ladder })]);
  const { node } = bed;
  if (lost === 'ReportedOnly') node.perform = () => 'Succeeded';
  node.report(TYPE, 'False');
  await bed.start();
  await bed.live(10);
  if (lost === 'NoAnswer') node.isAgentSilent = true;
  node.report(TYPE, 'True');
  await bed.live(60);
  await bed.live(7200, 5);
  return bed;
}

const NOT_HUNG = {
  all: [{ fact: 'condition', params: { type: TYPE }, path: '$.status', operator: 'equal', value: 'False' }],
};
