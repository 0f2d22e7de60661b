/**
 * F2, EKS node monitoring agent #39: two reasons of one condition took turns, each one reset the clock of the fault, and the node
 * was never repaired. Here the controllers are killed and the wall clock jumps as well.
 */
import { faultRule } from './fault-rules.ts';
import { createRepairBed, type RepairBed } from './repair-bed.ts';

const TYPE = 'FrequentTaskHung';
const MINUTES = 40;
const HOUR = 3600;

export interface AlternatingReasons {
  readonly bed: RepairBed;
  /** Seconds from the start of the fault until its job was created. */
  readonly repairedAfter: readonly number[];
  readonly kills: number;
}

/** The rule fires when the fault is 30 minutes old. */
export async function replayAlternatingReasons(): Promise<AlternatingReasons> {
  const bed = createRepairBed([faultRule(TYPE, { forSeconds: 1800 })]);
  const { node, clock } = bed;
  node.isAgentSilent = true;
  node.report(TYPE, 'False');
  let process = await bed.start();
  await bed.live(10);
  const beganMs = clock.now().getTime();
  let kills = 0;
  for (let minute = 0; minute < MINUTES; minute += 1) {
    // oxlint-disable no-await-in-loop -- time passes
    // As the detector writes it: with each reason the transition time is another one.
    const lastTransitionTime = clock.now().toISOString();
    node.report(TYPE, 'True', { reason: minute % 2 === 0 ? 'TaskHung' : 'OtherReason', lastTransitionTime });
    await bed.live(30);
    if (minute % 2 === 1) {
      await process.kill();
      bed.skewSeconds = kills % 2 === 0 ? HOUR : -HOUR;
      process = await bed.start();
      kills += 1;
    }
    await bed.live(30);
    // oxlint-enable no-await-in-loop
  }
  const created = bed.jobs().map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? ''));
  return { bed, kills, repairedAfter: created.map((ms) => (ms - beganMs) / 1000) };
}
