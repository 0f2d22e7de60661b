/** `kubenode remedy cancel`: `spec.cancel` of a job, by which a person stops it before its next step. */
import { Command } from 'commander';
import { REMEDY_OPERATION_JOBS } from '../../../api/generated/resources.ts';
import { readUserName } from '../../../kube/auth/self-review.ts';
import { isOver, type JobView, viewJob } from '../../../views/repair/job.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import {
  applyAsPerson,
  DRY_RUN,
  type PersonWrite,
  reportWrite,
  type WriteFlags,
} from '../../fleet/person-write.ts';
import { readNamed, withCluster } from '../../fleet/read.ts';
import type { Io } from '../../io.ts';

const HELP = `
The step that runs is finished, and no further one begins. The job then takes back its own cordon and taints, returns its grant, and
ends as Cancelled. It cannot be resumed: the rule may create another job while the fault lasts. To keep repairs off the machine:
kubenode machine hold.

Example:
  kubenode remedy cancel node-a17-kernel-hang-7c1f02ab-r1-a1 --reason "the disk is being changed"`;

interface CancelFlags extends ConnectionFlags, WriteFlags {
  readonly reason: string;
}

/** The length of the CRD. */
const MAX_NAME = 128;

export function createRemedyCancelCommand(io: Io): Command {
  const command = new Command('cancel')
    .description('stop a repair job before its next step')
    .argument('<job>', 'name of the RemedyOperationJob')
    .requiredOption('--reason <text>', 'why: it stays on the job')
    .option(...DRY_RUN)
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action((name: string, flags: CancelFlags) =>
    withCluster(io, flags, async (client) => {
      const resource = REMEDY_OPERATION_JOBS;
      const object = await readNamed(client, resource, name, io.signal);
      await cancel({ io, client, resource, object, dryRun: flags.dryRun ?? false }, viewJob(object), flags);
    }),
  );
}

async function cancel(write: PersonWrite, view: JobView, { reason }: CancelFlags): Promise<void> {
  const { job, state, phase, machine, cancel: before } = view;
  if (isOver(state)) {
    reportWrite(write, `${job} has ended already: ${phase}`);
    return;
  }
  if (before) {
    reportWrite(write, `${job} is cancelled already, by ${before.by}: ${before.reason}`);
    return;
  }
  const by = (await readUserName(write.client, write.io.signal)).slice(0, MAX_NAME);
  await applyAsPerson(write, { cancel: { by, reason } });
  reportWrite(
    write,
    `${job} is cancelled. Follow it with: kubenode remedy watch ${job}. Keep repairs off with: kubenode machine hold ${machine}`,
  );
}
