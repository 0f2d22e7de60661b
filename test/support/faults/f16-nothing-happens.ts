/** F16, Cluster API #5451: remediation was short-circuited, and nothing on the machine told it. */
import { faultRule } from './fault-rules.ts';
import { createRepairBed, type RepairBed } from './repair-bed.ts';

const TYPE = 'FrequentTaskHung';

/** A node that needs a repair, and every ask is denied. */
export async function replayDeniedRepair(message: string): Promise<RepairBed> {
  const bed = createRepairBed([faultRule(TYPE)]);
  bed.grants.deny = () => message;
  bed.node.report(TYPE, 'False');
  await bed.start();
  await bed.live(10);
  bed.node.report(TYPE, 'True');
  await bed.live(60);
  return bed;
}
