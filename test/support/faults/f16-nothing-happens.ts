/** F16, Cluster API #5451: remediation was short-circuited, and nothing on the machine told it. */
import type { Denial } from '../../../src/api/grants.ts';
import { faultRule } from './fault-rules.ts';
import { createRepairBed, type RepairBed } from './repair-bed.ts';

const TYPE = 'FrequentTaskHung';

/** A node that needs a repair, and every ask is denied. */
export async function replayDeniedRepair(denial: string | Denial): Promise<RepairBed> {
  const bed = createRepairBed([faultRule(TYPE)]);
  bed.grants.deny = () => denial;
  bed.node.report(TYPE, 'False');
  await bed.start();
  await bed.live(10);
  bed.node.report(TYPE, 'True');
  await bed.live(40, 1);
  return bed;
}
