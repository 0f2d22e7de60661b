/**
 * F15, NodeHealthCheck beside MachineHealthCheck: two remediators saw the same node, and each repaired it. Here they are rules, and
 * each matches what the node has.
 */
import { faultRule } from './fault-rules.ts';
import { createRepairBed, type RepairBed } from './repair-bed.ts';

const TYPES = ['FrequentTaskHung', 'FrequentKubeletRestart', 'KubeletUnhealthy'] as const;

/** All rules match at the same moment; a reboot heals all. */
export async function replayTwoRemediators(): Promise<RepairBed> {
  const rules = TYPES.map((type, index) =>
    faultRule(type, { name: `rule-${index}`, changes: { '/priority': index === 1 ? 900 : 100 } }),
  );
  const bed = createRepairBed(rules);
  const report = (status: 'True' | 'False'): void => {
    for (const type of TYPES) bed.node.report(type, status);
  };
  bed.node.booted = () => report('False');
  report('False');
  await bed.start();
  await bed.live(10);
  report('True');
  await bed.live(900, 1);
  return bed;
}
