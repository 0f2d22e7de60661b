/** `kubenode remedy show`: the timeline and the steps of one repair job. */
import { Command } from 'commander';
import { REMEDY_OPERATION_JOBS } from '../../../api/generated/resources.ts';
import { viewJob } from '../../../views/repair/job.ts';
import { formatJob } from '../../../views/repair/show.ts';
import { COLUMNS } from '../../../views/text/wrap.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { readNamed, withCluster } from '../../fleet/read.ts';
import type { Io } from '../../io.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../output.ts';

export function createRemedyShowCommand(io: Io): Command {
  const command = new Command('show')
    .description('show a repair job: what it repairs, when what happened, its steps and what it waits for')
    .argument('<job>', 'name of the RemedyOperationJob')
    .addOption(createOutputOption())
    .addHelpText('after', '\nThe rule behind it, and what comes next: kubenode why job NAME');
  return addConnectionOptions(command).action(
    (name: string, flags: ConnectionFlags & { readonly output: OutputFormat }) =>
      withCluster(io, flags, async (client) => {
        const view = viewJob(await readNamed(client, REMEDY_OPERATION_JOBS, name, io.signal));
        if (flags.output === 'table') {
          io.out(formatJob(view, io.clock.now(), io.screen()?.columns ?? COLUMNS));
        } else printResult(io, flags.output, view, () => ({ columns: [], rows: [] }));
      }),
  );
}
