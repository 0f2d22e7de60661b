/** A kernel that hangs: a rule reboots the machine, with a grant, and puts it back into service. */
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { REMEDY_OPERATION_JOBS } from '../../../../api/generated/resources.ts';
import type { Machine, RemedyOperationJob } from '../../../../api/generated/types.ts';
import { NODES } from '../../../../kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import { CliError } from '../../../errors.ts';
import { readMachines } from '../fleet-state.ts';
import { nodeBootId, notBackInServiceReason, notRepairedReason } from '../observed.ts';
import type { Tour, TourStep } from '../step.ts';

const CLUSTER = 'test';
const LOG = 'var/log/kernel.log';
const LINES = 3;
const REPAIR_SECONDS = 240;

export const kernelHangStep: TourStep = {
  name: 'kernel-hang',
  title: 'A machine whose kernel hangs is rebooted',
  explanation: [
    'Three lines in the kernel log become a condition of the Node. The rule matches, the Defender grants one repair,',
    'and its job cordons, drains, reboots, verifies and uncordons: kernel-hang.ts states each of these steps.',
  ],
  async run(tour) {
    const jobsBefore = await readJobs(tour);
    const { name, uid = '' } = leastRepaired(await readMachines(tour, CLUSTER), jobsBefore).metadata;
    const bootId = nodeBootId(await readNode(tour, name));
    const file = join(tour.hostFolder(CLUSTER, uid), LOG);
    const line = `${tour.now().toISOString()} task web:1 blocked for more than 120 seconds.`;
    tour.say(`$ echo "${line}" >> ${file}    # ${LINES} times`);
    await appendFile(file, `${line}\n`.repeat(LINES));
    const known = new Set(jobsBefore.map(({ metadata }) => metadata.name));
    let job: RemedyOperationJob | undefined;
    await tour.verify({
      what: `a repair job of ${name} succeeded`,
      withinSeconds: REPAIR_SECONDS,
      lookAt: `kubenode remedy list --context ${CLUSTER}`,
      reason: async () => {
        const jobs = (await readJobs(tour)).filter(({ metadata }) => !known.has(metadata.name));
        job = jobs.find(({ spec }) => spec.machine.name === name);
        return notRepairedReason(job);
      },
    });
    await tour.verify({
      what: `${name} has booted again and is in service`,
      withinSeconds: 60,
      lookAt: `kubenode why node ${name} --context ${CLUSTER}`,
      reason: async () => notBackInServiceReason(await readNode(tour, name), bootId),
    });
    await tour.show(['remedy', 'show', job?.metadata.name ?? '', '--context', CLUSTER]);
  },
};

/** So that a second tour repairs another machine. */
export function leastRepaired(machines: readonly Machine[], jobs: readonly RemedyOperationJob[]): Machine {
  const repairsOf = ({ metadata }: Machine): number =>
    jobs.filter(({ spec }) => spec.machine.name === metadata.name).length;
  const [first] = machines.toSorted((a, b) => repairsOf(a) - repairsOf(b));
  if (first === undefined) throw new CliError(`cluster ${CLUSTER} has no machine`);
  return first;
}

async function readJobs(tour: Tour): Promise<readonly RemedyOperationJob[]> {
  return (await (await tour.client(CLUSTER)).list<RemedyOperationJob>(REMEDY_OPERATION_JOBS)).items;
}

async function readNode(tour: Tour, name: string): Promise<KubeObject> {
  return await (await tour.client(CLUSTER)).get(NODES, { name });
}
