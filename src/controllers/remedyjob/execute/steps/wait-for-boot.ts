/** Waits until the Node reports another boot than the one in which the job was granted. */
import { bootIdOf } from '../../../../api/status/step-records.ts';
import { type CentralResult, type CentralRun, stepWaits } from './central-step.ts';

export async function runWaitForBoot({ observation, node }: CentralRun): Promise<CentralResult> {
  const { job, now } = observation;
  const bootID = bootIdOf(node);
  if (bootID !== undefined && bootID !== job.spec.node.bootID) {
    return { state: 'Succeeded', message: `the node reports boot ${bootID}`, bootIDAfter: bootID };
  }
  const blocker = { kind: 'Node', name: node.metadata.name };
  return stepWaits(
    { reason: 'Boot', message: `the node reports no boot after ${job.spec.node.bootID}`, blocker },
    now,
  );
}
