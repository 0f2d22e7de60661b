/** `kubenode remedy list`: one line for each repair job. */
import { Command } from 'commander';
import { REMEDY_OPERATION_JOBS } from '../../../api/generated/resources.ts';
import { type JobView, viewJob } from '../../../views/repair/job.ts';
import { formatJobs, sortJobs } from '../../../views/repair/list.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { collect } from '../../fleet/read.ts';
import { itemsOf, readFleet } from '../../fleet/read-fleet.ts';
import type { Io } from '../../io.ts';
import { createIntegerParser } from '../../option-parsers.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../output.ts';

const HELP = `
Jobs that need a person come first, then those in work, then those that ended, the newest first. WHY is what a job waits for, or
how it ended. On a hub the jobs of all its clusters are listed; a cluster that does not answer is named, and the exit code is 69 then. -o json and yaml list all jobs unless --limit is set.

Examples:
  kubenode remedy list
  kubenode remedy list --machine node-a17
  kubenode remedy list --rule kernel-hang --phase Failed --limit 500`;

const DEFAULT_LIMIT = 50;

interface ListFlags extends ConnectionFlags {
  readonly output: OutputFormat;
  readonly limit?: number;
  readonly machine?: string;
  readonly rule?: string;
  readonly phase?: string;
}

export function createRemedyListCommand(io: Io): Command {
  const command = new Command('list')
    .description('list the repair jobs: machine, rule, rung, phase, and what each waits for')
    .option('--machine <name>', 'only jobs of this Machine')
    .option('--rule <name>', 'only jobs of this NodeRemedier')
    .option('--phase <phase>', 'only jobs in this phase')
    .option('--limit <n>', `at most this many (default: ${DEFAULT_LIMIT})`, createIntegerParser(1, 100_000))
    .addOption(createOutputOption())
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action(async (flags: ListFlags) => {
    const fleet = await readFleet(io, flags, (client, signal) =>
      collect(client, REMEDY_OPERATION_JOBS, { signal }, viewJob),
    );
    const views = itemsOf(fleet).filter((view) => isAsked(view, flags));
    if (flags.output === 'table') {
      const size = { limit: flags.limit ?? DEFAULT_LIMIT, columns: io.screen()?.columns ?? 80 };
      io.out(formatJobs(views, io.clock.now(), { ...size, isFleet: fleet.isFleet }));
      return;
    }
    const jobs = sortJobs(views).slice(0, flags.limit ?? views.length);
    printResult(io, flags.output, { total: views.length, jobs }, () => ({ columns: [], rows: [] }));
  });
}

function isAsked(view: JobView, { machine, rule, phase }: ListFlags): boolean {
  const isOf = (machine ?? view.machine) === view.machine && (rule ?? view.rule) === view.rule;
  return isOf && (phase === undefined || view.phase.toLowerCase() === phase.toLowerCase());
}
