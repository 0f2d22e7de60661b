/** `kubenode release`: commits on their way. What git owns is changed by a commit; a halt is a person's own. */
import { Command } from 'commander';
import { PIPELINES } from '../../../api/generated/resources.ts';
import { MANAGER_CLI } from '../../../api/names.ts';
import { API_VERSION } from '../../../api/version.ts';
import type { Client } from '../../../kube/client/client.ts';
import { shortCommit } from '../../age.ts';
import { type ConnectionFlags, connectFrom, connectionOptions } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';
import { pick, readHub } from '../../hub-objects.ts';
import type { Io } from '../../io.ts';
import { type Format, outputOption, print } from '../../output.ts';
import { releasesTable, releaseText } from './text.ts';

type Flags = ConnectionFlags & { readonly output: Format };

export function releaseCommand(io: Io): Command {
  return new Command('release')
    .description('look at commits on their way, and halt, resume or approve them')
    .addCommand(listCommand(io))
    .addCommand(showCommand(io))
    .addCommand(pauseCommand(io, 'halt', true))
    .addCommand(pauseCommand(io, 'resume', false))
    .addCommand(approveCommand(io));
}

function listCommand(io: Io): Command {
  const command = new Command('list')
    .description('the releases, newest first')
    .option('--pipeline <name>', 'only those of one pipeline')
    .addOption(outputOption());
  return connectionOptions(command).action((flags: Flags & { pipeline?: string }) =>
    withHub(io, flags, async (client) => {
      const { releases } = await readHub(client, io.signal);
      const chosen = releases.filter(({ spec }) => !flags.pipeline || spec.pipeline === flags.pipeline);
      print(io, flags.output, chosen, () => releasesTable(chosen, io.clock.now()));
    }),
  );
}

function showCommand(io: Io): Command {
  const command = new Command('show')
    .description('one release: stage by stage, what it waits for, which clusters failed')
    .argument('<name>', 'name of the Release')
    .addOption(outputOption());
  return connectionOptions(command).action((name: string, flags: Flags) =>
    withHub(io, flags, async (client) => {
      const release = pick((await readHub(client, io.signal)).releases, name);
      if (flags.output === 'table') io.out(releaseText(release, io.clock.now()));
      else print(io, flags.output, release, () => ({ columns: [], rows: [] }));
    }),
  );
}

const PAUSE_HELP = {
  halt: 'begin nothing more in any stage of a pipeline; clusters under way finish',
  resume: 'let a halted pipeline go on',
};

function pauseCommand(io: Io, verb: 'halt' | 'resume', paused: boolean): Command {
  const command = new Command(verb)
    .description(PAUSE_HELP[verb])
    .argument('<pipeline>', 'name of the Pipeline');
  return connectionOptions(command).action((name: string, flags: ConnectionFlags) =>
    withHub(io, flags, async (client) => {
      pick((await readHub(client, io.signal)).pipelines, name);
      await setPaused(client, name, paused);
      io.err(
        paused
          ? `pipeline ${name} is halted; go on with: kubenode release resume ${name}\n`
          : `pipeline ${name} goes on\n`,
      );
    }),
  );
}

/** One field, as kubenode-cli. Where git sets it too, git is the owner, and says so by a conflict. */
async function setPaused(client: Client, name: string, paused: boolean): Promise<void> {
  const intent = { apiVersion: API_VERSION, kind: PIPELINES.kind, metadata: { name }, spec: { paused } };
  await client.apply(PIPELINES, intent, { fieldManager: MANAGER_CLI });
}

const APPROVE_HELP = `
An approval is a commit: it names the stage and the plan that was looked at, and lapses when the plan becomes another
one. This command prints the entry for spec.approvals of the Pipeline, which is a program in the fleet repository, so
that it goes through review like any other change.`;

function approveCommand(io: Io): Command {
  const command = new Command('approve')
    .description('print the entry that approves a release for a stage')
    .argument('<name>', 'name of the Release')
    .argument('<stage>', 'name of the stage')
    .requiredOption('--reason <text>', 'why: it stands in git')
    .addHelpText('after', APPROVE_HELP);
  return connectionOptions(command).action(
    (name: string, stage: string, flags: ConnectionFlags & { reason: string }) =>
      withHub(io, flags, async (client) => {
        const { releases, pipelines } = await readHub(client, io.signal);
        const { spec } = pick(releases, name);
        const stages = pick(pipelines, spec.pipeline).spec.stages.map((one) => one.name);
        if (!stages.includes(stage)) {
          throw new CliError(`pipeline ${spec.pipeline} has no stage ${stage}`, {
            hint: `name one of: ${stages.join(', ')}`,
            exitCode: EXIT.badInput,
          });
        }
        io.err(
          `Add this to spec.approvals of the Pipeline ${spec.pipeline}, and commit it (commit ${shortCommit(spec.commit)}, ${spec.subject ?? ''}):\n`,
        );
        const entry = { stage, planDigest: spec.plan.digest, reason: flags.reason };
        io.out(`approvals: [\n  ${JSON.stringify(entry)},\n],\n`);
      }),
  );
}

async function withHub(
  io: Io,
  flags: ConnectionFlags,
  work: (client: Client) => Promise<void>,
): Promise<void> {
  const client = await connectFrom(io, flags);
  try {
    await work(client);
  } finally {
    await client.close();
  }
}
