/**
 * F6, NVSentinel #450 and #1280: what had been held up was done when the breaker closed, and a restart of the controller rebooted
 * healthy nodes with their workloads.
 */
import { faultRule, PERSON_RUNG, READY } from './fault-rules.ts';
import { createRepairBed, type RepairBed } from './repair-bed.ts';

const TYPE = 'FrequentTaskHung';
const LATCHED = 'ReadonlyFilesystem';
const FAULTS = 12;

/** A fault comes and ends again and again while every repair is denied. The denial ends when the node is well. */
export async function replayBacklog(): Promise<RepairBed> {
  const bed = createRepairBed([faultRule(TYPE)]);
  const { node, grants } = bed;
  grants.deny = () => 'stopped';
  node.report(TYPE, 'False');
  await bed.start();
  for (let fault = 0; fault < FAULTS; fault += 1) {
    // oxlint-disable no-await-in-loop -- time passes
    node.report(TYPE, 'True');
    await bed.live(120, 5);
    node.report(TYPE, 'False');
    await bed.live(60, 5);
    // oxlint-enable no-await-in-loop
  }
  grants.deny = () => undefined;
  await bed.live(3600, 10);
  return bed;
}

/** The repair of a condition that never clears was verified, without a reboot. Then the controllers are started again and again. */
export async function replayRestarts(): Promise<RepairBed> {
  const rung = {
    name: 'restart',
    plan: [{ step: 'RestartService', with: { service: 'kubelet' } }],
    verify: { conditions: READY, holdSeconds: 10, timeoutSeconds: 60 },
  };
  const bed = createRepairBed([faultRule(LATCHED, { ladder: [rung, PERSON_RUNG] })]);
  bed.node.report(LATCHED, 'False');
  let process = await bed.start();
  await bed.live(10);
  bed.node.report(LATCHED, 'True');
  await bed.live(120, 1);
  for (let restart = 0; restart < 3; restart += 1) {
    // oxlint-disable no-await-in-loop -- one process after the other
    await process.kill();
    await bed.live(30, 5);
    process = await bed.start();
    await bed.live(1200, 5);
    // oxlint-enable no-await-in-loop
  }
  return bed;
}
