/**
 * Runs `kubenode release`: lists, halts, resumes and approves releases. Fields that git owns change only by a commit; a halt is the user's.
 */
import { Command } from 'commander';
import { createReleasesTable, formatRelease, formatTrouble } from '../../../views/release/text.ts';
import { type HubObjects } from '../../../views/status/hub-objects.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { EXIT } from '../../errors.ts';
import { setExitCode } from '../../exit.ts';
import { findByName, readHub, releaseContext } from '../../fleet/hub-objects.ts';
import { readHubStatus } from '../../fleet/hub-status.ts';
import type { Io } from '../../io.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../output.ts';
import { createAcceptHeadCommand } from './accept-head.ts';
import { createAcknowledgeCommand } from './acknowledge.ts';
import { createReleaseApproveCommand } from './approve/approve.ts';
import { createHaltCommand, createResumeCommand } from './halt.ts';
import { withHub } from './hub.ts';

type Flags = ConnectionFlags & { readonly output: OutputFormat };

export function createReleaseCommand(io: Io): Command {
  return new Command('release')
    .description('list releases, and halt, resume, approve or acknowledge them')
    .addCommand(createListCommand(io))
    .addCommand(createShowCommand(io))
    .addCommand(createHaltCommand(io))
    .addCommand(createResumeCommand(io))
    .addCommand(createReleaseApproveCommand(io))
    .addCommand(createAcknowledgeCommand(io))
    .addCommand(createAcceptHeadCommand(io));
}

const LIST_HELP = `
Exits with 1 if a person is needed for a commit, and prints why. How machines are is shown by "kubenode status".`;

/** Selects the objects that concern this Pipeline; without a name, all. */
export function ofPipeline(hub: HubObjects, pipeline: string | undefined): HubObjects {
  if (pipeline === undefined) return hub;
  return {
    pipelines: hub.pipelines.filter(({ metadata }) => metadata.name === pipeline),
    clusters: hub.clusters.filter(({ status }) => status?.assigned?.pipeline === pipeline),
    releases: hub.releases.filter(({ spec }) => spec.pipeline === pipeline),
  };
}

function createListCommand(io: Io): Command {
  const command = new Command('list')
    .description('list the releases, newest first')
    .option('--pipeline <name>', 'only the releases of this pipeline')
    .addOption(createOutputOption())
    .addHelpText('after', LIST_HELP);
  return addConnectionOptions(command).action((flags: Flags & { pipeline?: string }) =>
    withHub(io, flags, async (client) => {
      const hub = ofPipeline(await readHub(client, io.signal), flags.pipeline);
      printResult(io, flags.output, hub.releases, () => createReleasesTable(hub.releases, io.clock.now()));
      const { trouble } = await readHubStatus(io, client, hub, flags);
      if (trouble.length === 0) return;
      if (flags.output === 'table') io.err(formatTrouble(trouble));
      setExitCode(io, EXIT.failed);
    }),
  );
}

function createShowCommand(io: Io): Command {
  const command = new Command('show')
    .description(
      'show a release: who signed and approved it, its stages, what it is waiting for, and the clusters that failed',
    )
    .argument('<release>', 'name of the Release')
    .addOption(createOutputOption());
  return addConnectionOptions(command).action((name: string, flags: Flags) =>
    withHub(io, flags, async (client) => {
      const hub = await readHub(client, io.signal);
      const release = findByName('Release', hub.releases, name);
      const context = releaseContext(release, hub);
      const { approvals } = context;
      if (flags.output === 'table') io.out(formatRelease(release, io.clock.now(), context));
      else printResult(io, flags.output, { ...release, approvals }, () => ({ columns: [], rows: [] }));
    }),
  );
}
