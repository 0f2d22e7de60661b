/**
 * Runs `kubenode release`: lists, halts, resumes and approves releases. Fields that git owns change only by a commit; a halt is the user's.
 */
import { Command } from 'commander';
import { printableLine } from '../../../kube/objects/printable.ts';
import { excludedApprovers } from '../../../sync/promote/gates/approvers.ts';
import {
  createReleasesTable,
  formatRelease,
  formatTrouble,
  planChanges,
} from '../../../views/release/text.ts';
import { type HubObjects } from '../../../views/status/hub-objects.ts';
import { shortCommit } from '../../../views/text/age.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';
import { setExitCode } from '../../exit.ts';
import { findByName, readHub } from '../../fleet/hub-objects.ts';
import { readHubStatus } from '../../fleet/hub-status.ts';
import type { Io } from '../../io.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../output.ts';
import { createAcceptHeadCommand } from './accept-head.ts';
import { createAcknowledgeCommand } from './acknowledge.ts';
import { excludedText } from './excluded.ts';
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
    .addCommand(createApproveCommand(io))
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
    .description('show a release: its stages, what it is waiting for, and the clusters that failed')
    .argument('<release>', 'name of the Release')
    .addOption(createOutputOption());
  return addConnectionOptions(command).action((name: string, flags: Flags) =>
    withHub(io, flags, async (client) => {
      const { releases, pipelines } = await readHub(client, io.signal);
      const release = findByName('Release', releases, name);
      const pipeline = pipelines.find(({ metadata }) => metadata.name === release.spec.pipeline);
      if (flags.output === 'table') io.out(formatRelease(release, io.clock.now(), pipeline));
      else printResult(io, flags.output, release, () => ({ columns: [], rows: [] }));
    }),
  );
}

const APPROVE_HELP = `
An approval is a commit: it names the stage and the digest of the reviewed plan, and expires when the plan changes.
This command prints the entry for spec.approvals of the Pipeline in the fleet repository, so that an approval is
reviewed like any other change.`;

function createApproveCommand(io: Io): Command {
  const command = new Command('approve')
    .description('print the spec.approvals entry that approves a release for a stage')
    .argument('<release>', 'name of the Release')
    .argument('<stage>', 'name of the stage')
    .requiredOption('--reason <text>', 'why it is approved: recorded in git')
    .addHelpText('after', APPROVE_HELP);
  return addConnectionOptions(command).action(
    (name: string, stage: string, flags: ConnectionFlags & { reason: string }) =>
      withHub(io, flags, async (client) => {
        const { releases, pipelines } = await readHub(client, io.signal);
        const release = findByName('Release', releases, name);
        const { spec } = release;
        const { stages } = findByName('Pipeline', pipelines, spec.pipeline).spec;
        const found = stages.find((one) => one.name === stage);
        if (!found) {
          throw new CliError(`pipeline ${spec.pipeline} has no stage ${stage}`, {
            hint: `use one of: ${stages.map((one) => one.name).join(', ')}`,
            exitCode: EXIT.badInput,
          });
        }
        if (found.approvalByOther) io.err(excludedText(excludedApprovers(release, stage, releases)));
        io.err(
          `Add this to spec.approvals of Pipeline ${spec.pipeline} and commit it (approves commit ${shortCommit(spec.commit)}, ${printableLine(spec.subject ?? '')}):\n`,
        );
        for (const line of planChanges(release)) io.err(`  ${printableLine(line)}\n`);
        const entry = { stage, planDigest: spec.plan.digest, reason: flags.reason };
        io.out(`approvals: [\n  ${JSON.stringify(entry)},\n],\n`);
      }),
  );
}
