/**
 * F1, node-problem-detector #474 and #936, EKS agent #250: one log line raises a condition that the detector never clears. After
 * the repair its start-up reads the same line again, and remediators that trust the condition repair the healthy node for ever.
 */
import { faultRule, PERSON_RUNG, REBOOT_RUNG } from './fault-rules.ts';
import { createRepairBed, type RepairBed } from './repair-bed.ts';

const TYPE = 'ReadonlyFilesystem';
/** Twelve times as long as a repair. */
const A_LONG_TIME = 3600;

export type AfterRepair =
  /** The condition is not written again. */
  | 'StaysTrue'
  /** The detector clears it when it starts, and finds the line of the earlier boot within its look-back. */
  | 'ReadsOldLine'
  /** The detector is armed again, and finds a new line. */
  | 'ReadsNewLine';

export async function replayLatchedCondition(after: AfterRepair): Promise<RepairBed> {
  const bed = createRepairBed([faultRule(TYPE, { ladder: [REBOOT_RUNG, PERSON_RUNG] })]);
  const { node, clock } = bed;
  node.report(TYPE, 'False');
  await bed.start();
  await bed.live(10);
  const lastTransitionTime = clock.now().toISOString();
  node.report(TYPE, 'True', { reason: 'FilesystemIsReadOnly', lastTransitionTime });
  node.booted = () => {
    if (after === 'ReadsOldLine') node.report(TYPE, 'False');
  };
  await bed.live(120);
  if (after === 'ReadsOldLine') node.report(TYPE, 'True', { lastTransitionTime });
  if (after === 'ReadsNewLine') {
    node.report(TYPE, 'False');
    await bed.live(60);
    node.report(TYPE, 'True');
  }
  await bed.live(A_LONG_TIME, 5);
  return bed;
}
