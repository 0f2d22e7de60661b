/** A kernel that hangs: a rule reboots the machine, with a grant, and puts it back into service. */
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Machine, RemedyOperationJob } from '../../../api/generated/types.ts';
import { CliError } from '../../../cli/errors.ts';
import { readClusterNode, readJobs, readLedger, readMachines, readRuleProof } from '../fleet-state.ts';
import {
  nodeBootId,
  notBackInServiceReason,
  notPastFirstWaveReason,
  notRepairedReason,
} from '../observed.ts';
import type { Tour, TourStep } from '../step.ts';

const CLUSTER = 'test';
const RULE = 'kernel-hang';
const LOG = 'var/log/kernel.log';
const LINES = 3;
const REPAIR_SECONDS = 240;

export const kernelHangStep: TourStep = {
  name: 'kernel-hang',
  title: 'A machine whose kernel hangs is rebooted',
  explanation: [
    'Three lines in the kernel log become a condition of the Node. The rule matches, the Defender grants one repair,',
    'and its job cordons, drains, reboots, verifies and uncordons. The rule is new: it repairs one machine first, then all.',
  ],
  async run(tour) {
    const machine = leastRepaired(await readMachines(tour, CLUSTER), await readJobs(tour, CLUSTER));
    const job = await hangAndHeal(tour, CLUSTER, machine);
    await tour.show(['remedy', 'show', job, '--context', CLUSTER]);
    await verifyWave(tour);
  },
};

/** A rule that is new repairs one machine first. */
async function verifyWave(tour: Tour): Promise<void> {
  await tour.verify({
    what: `the first wave of rule ${RULE} has passed: from now on it repairs every machine`,
    withinSeconds: 90,
    lookAt: `kubenode defender status --context ${CLUSTER}`,
    reason: async () => notPastFirstWaveReason(await readLedger(tour, CLUSTER), RULE),
  });
  tour.say(`NodeRemedier ${RULE}: ${await readRuleProof(tour, CLUSTER, RULE)}`);
}

/** Resolves to the name of the job that repaired it. */
export async function hangAndHeal(tour: Tour, cluster: string, { metadata }: Machine): Promise<string> {
  const { name, uid = '' } = metadata;
  const known = new Set((await readJobs(tour, cluster)).map((each) => each.metadata.name));
  const bootId = nodeBootId(await readClusterNode(tour, cluster, name));
  const file = join(tour.hostFolder(cluster, uid), LOG);
  const line = `${tour.now().toISOString()} task web:1 blocked for more than 120 seconds.`;
  tour.say(`$ echo "${line}" >> ${file}    # ${LINES} times`);
  await appendFile(file, `${line}\n`.repeat(LINES));
  let job: RemedyOperationJob | undefined;
  await tour.verify({
    what: `a repair job of ${name} succeeded`,
    withinSeconds: REPAIR_SECONDS,
    lookAt: `kubenode remedy list ${tour.selects(cluster)}`,
    reason: async () => {
      const jobs = (await readJobs(tour, cluster)).filter((each) => !known.has(each.metadata.name));
      job = jobs.find(({ spec }) => spec.machine.name === name);
      const machines = await readMachines(tour, cluster);
      return notRepairedReason(
        job,
        machines.find((each) => each.metadata.name === name),
      );
    },
  });
  await tour.verify({
    what: `${name} has booted again and is in service`,
    withinSeconds: 60,
    lookAt: `kubenode why node ${name} ${tour.selects(cluster)}`,
    reason: async () => notBackInServiceReason(await readClusterNode(tour, cluster, name), bootId),
  });
  return job?.metadata.name ?? '';
}

/** So that a second tour repairs another machine. */
export function leastRepaired(machines: readonly Machine[], jobs: readonly RemedyOperationJob[]): Machine {
  const repairsOf = ({ metadata }: Machine): number =>
    jobs.filter(({ spec }) => spec.machine.name === metadata.name).length;
  const [first] = machines.toSorted((a, b) => repairsOf(a) - repairsOf(b));
  if (first === undefined) throw new CliError('the cluster has no machine');
  return first;
}
