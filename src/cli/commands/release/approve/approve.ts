/** `kubenode release approve`: shows what a commit has to contain to approve a release for a stage, or commits and pushes it. */
import { Command } from 'commander';
import { optional } from '../../../../kube/objects/optional.ts';
import { printableLine } from '../../../../kube/objects/printable.ts';
import { planChanges } from '../../../../views/release/text.ts';
import { shortCommit } from '../../../../views/text/age.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../../connection.ts';
import { CliError, EXIT } from '../../../errors.ts';
import { readHub } from '../../../fleet/hub-objects.ts';
import type { Io } from '../../../io.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../../output.ts';
import { excludedText } from '../excluded.ts';
import { withHub } from '../hub.ts';
import { type ApprovalCommit, commitApproval } from './commit.ts';
import { type PlannedApproval, planReleaseApproval } from './plan.ts';

const HELP = `
An approval is a commit: it names the stage and the digest of the reviewed plan, and expires when the plan changes.
This command prints the entry for spec.approvals of the Pipeline in the fleet repository, so that an approval is
reviewed like any other change.

With --commit it adds the entry to the repository and commits that, with your git and your name. If the Pipeline asks for
signatures, the commit is signed with your key (gpg.format, user.signingkey). It is pushed with --push only. It needs a clean
working tree on a branch that contains the head of the Pipeline. To run it again changes nothing.

Examples:
  kubenode release approve fleet-4f1c2d prod --reason "reviewed with ann"
  kubenode release approve fleet-4f1c2d prod --reason "reviewed with ann" --commit --repo ../my-fleet --push`;

interface Flags extends ConnectionFlags {
  readonly reason: string;
  readonly planDigest?: string;
  readonly commit?: true;
  readonly repo: string;
  readonly push?: true;
  readonly dryRun?: true;
  readonly output: OutputFormat;
}

export function createReleaseApproveCommand(io: Io): Command {
  const command = new Command('approve')
    .description('print the spec.approvals entry that approves a release for a stage, or commit it')
    .argument('<release>', 'name of the Release')
    .argument('<stage>', 'name of the stage')
    .requiredOption('--reason <text>', 'why it is approved: recorded in git')
    .option('--plan-digest <digest>', 'the plan that you reviewed: refused if it is another one now')
    .option('--commit', 'add it to the fleet repository, and commit that')
    .option('--repo <dir>', 'folder of the fleet repository, for --commit', '.')
    .option('--push', 'with --commit: push the branch as your git is configured')
    .option('--dry-run', 'with --commit: find the place in the repository, and change nothing')
    .addOption(createOutputOption())
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action((release: string, stage: string, flags: Flags) => {
    requireCommitFor(flags);
    return withHub(io, flags, async (client) => {
      const { reason, planDigest, output } = flags;
      const request = { release, stage, reason, ...optional('planDigest', planDigest) };
      const planned = planReleaseApproval(await readHub(client, io.signal), request);
      describe(io, planned);
      const result = flags.commit ? await commitApproval(io, planned, flags) : undefined;
      const { entry, pipeline } = planned;
      const data = { release, pipeline: pipeline.metadata.name, entry, outcome: 'Printed', ...result };
      if (output !== 'table') printResult(io, output, data, () => ({ columns: [], rows: [] }));
      else if (result) io.out(committedText(result));
      else printEntry(io, planned);
    });
  });
}

function requireCommitFor({ commit, push, dryRun }: Flags): void {
  if (commit || !(push || dryRun)) return;
  throw new CliError(`${push ? '--push' : '--dry-run'} is for --commit`, {
    hint: 'add --commit: without it the entry is printed, and nothing changes',
    exitCode: EXIT.usage,
  });
}

function describe(io: Io, { release, excluded }: PlannedApproval): void {
  if (excluded) io.err(excludedText(excluded));
  const { commit, subject = '' } = release.spec;
  io.err(`approves commit ${shortCommit(commit)}, ${printableLine(subject)}:\n`);
  for (const line of planChanges(release)) io.err(`  ${printableLine(line)}\n`);
}

function printEntry(io: Io, { pipeline, entry }: PlannedApproval): void {
  io.err(`Add this to spec.approvals of Pipeline ${pipeline.metadata.name} and commit it:\n`);
  io.out(`approvals: [\n  ${JSON.stringify(entry)},\n],\n`);
}

function committedText({ outcome, commit, branch, repository, path, next }: ApprovalCommit): string {
  const where = `${branch} of ${repository}`;
  const done = {
    Committed: `committed ${shortCommit(commit ?? '')} to ${where}: ${path ?? ''}`,
    Planned: `would commit to ${where}: ${path ?? ''}`,
    Present: `${where} has this approval already`,
  }[outcome];
  return `${done}\n${next === undefined ? '' : `next: ${next}\n`}`;
}
