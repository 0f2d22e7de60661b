/** `kubenode release acknowledge`: shows what a commit has to contain to release held deletes, or commits it. */
import { Command } from 'commander';
import type { Cluster, Pipeline } from '../../../api/generated/types.ts';
import { conditionOf } from '../../../kube/objects/conditions.ts';
import { byCode } from '../../../kube/objects/digest.ts';
import { printableLine } from '../../../kube/objects/printable.ts';
import { hubHoldOf } from '../../../sync/apply/prune/hold-hint.ts';
import { HUB_TARGET } from '../../../sync/rendered.ts';
import { commitEntries } from '../../commit/commit-entries.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';
import { findByName, readHub } from '../../fleet/hub-objects.ts';
import type { Io } from '../../io.ts';
import { withHub } from './hub.ts';

const HELP = `
Deletes that exceed the budget of the Pipeline, empty a unit or take a protected object are held, also those of a revert. An
acknowledgement is a commit: it names the unit and the digest of exactly this plan, and releases it once in each cluster. This
command prints the entries for spec.acknowledgements of the Pipeline in the fleet repository. Review first what would be deleted:
kubenode plan --context HUB.

With --commit it adds the entries to the repository and commits that, with your git and your name, and never pushes. It needs a clean
working tree on a branch that contains the head of the Pipeline, and commits only what renders to exactly these entries.

A Cluster that git removes is an object of the hub itself: acknowledge ${HUB_TARGET}. Sync reports one unit of the hub at a time.

Examples:
  kubenode release acknowledge prod-eu --reason "shop moved away"
  kubenode release acknowledge prod-eu --reason "shop moved away" --commit --repo ../my-fleet
  kubenode release acknowledge ${HUB_TARGET} --reason "cluster ci is not needed any more"`;

interface Flags extends ConnectionFlags {
  readonly reason: string;
  readonly pipeline?: string;
  readonly commit?: true;
  readonly repo: string;
}

export function createAcknowledgeCommand(io: Io): Command {
  const command = new Command('acknowledge')
    .description(
      'print the spec.acknowledgements entries that release the held deletes of a cluster, or commit them',
    )
    .argument('<cluster>', `name of the Cluster, or ${HUB_TARGET} for the objects of the hub itself`)
    .requiredOption('--reason <text>', 'why they are deleted: recorded in git')
    .option('--pipeline <name>', `the Pipeline, when those of several are held in the ${HUB_TARGET}`)
    .option('--commit', 'add them to the fleet repository, and commit that')
    .option('--repo <dir>', 'folder of the fleet repository, for --commit', '.')
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action((name: string, flags: Flags) => {
    requireHubFor(flags.pipeline, name);
    return withHub(io, flags, async (client) => {
      const { clusters, pipelines } = await readHub(client, io.signal);
      const held =
        name === HUB_TARGET
          ? heldInHub(pipelines, flags.pipeline)
          : heldDeletes(findByName('Cluster', clusters, name), clusters);
      const entries = held.units.map((each) => ({ ...each, reason: flags.reason }));
      if (!flags.commit) return printEntries(io, held, entries);
      for (const line of held.lines) io.err(`releases the deletes of ${line}\n`);
      return commitEntries(io, flags.repo, {
        pipeline: findByName('Pipeline', pipelines, held.pipeline),
        list: 'acknowledgements',
        entries,
        subject: `Acknowledge the deletes of ${held.lines.join(', ')}`,
        reason: flags.reason,
      });
    });
  });
}

/** A cluster is in one Pipeline: another one that a person names would be ignored. */
function requireHubFor(pipeline: string | undefined, name: string): void {
  if (pipeline === undefined || name === HUB_TARGET) return;
  throw new CliError(`--pipeline is for the ${HUB_TARGET}, and ${name} is a cluster`, {
    hint: 'remove --pipeline: the entries are for the Pipeline that the cluster is in',
    exitCode: EXIT.usage,
  });
}

function printEntries(io: Io, { pipeline, message, lines }: HeldTarget, entries: readonly object[]): void {
  io.err(
    `Add this to spec.acknowledgements of Pipeline ${pipeline} and commit it (${printableLine(message)}):\n`,
  );
  for (const line of lines) io.err(`  ${line}\n`);
  io.out(`acknowledgements: [\n${entries.map((entry) => `  ${JSON.stringify(entry)},\n`).join('')}],\n`);
}

interface HeldTarget {
  readonly pipeline: string;
  readonly message: string;
  readonly units: readonly { readonly unit: string; readonly planDigest: string }[];
  /** Which clusters each entry releases: equal plans have one digest. */
  readonly lines: readonly string[];
}

/** Returns the held deletes of the cluster. Pure. */
export function heldDeletes({ metadata, status }: Cluster, clusters: readonly Cluster[]): HeldTarget {
  const { held = [], message = '' } = status?.sync ?? {};
  if (held.length === 0 || !status?.assigned) {
    throw new CliError(`no deletes are held in cluster ${metadata.name}`, {
      hint: 'kubenode status shows what each cluster waits for',
      exitCode: EXIT.badInput,
    });
  }
  const lines = held.map(({ unit, planDigest }) => {
    const same = clusters.filter((each) =>
      each.status?.sync?.held?.some((other) => other.unit === unit && other.planDigest === planDigest),
    );
    const names = same.map((each) => each.metadata.name).toSorted(byCode);
    return `unit ${unit} in ${names.join(', ')}`;
  });
  return { pipeline: status.assigned.pipeline, message, units: held, lines };
}

/** Returns the held deletes of the objects that a Pipeline declares for the hub itself: Clusters, for the most part. Pure. */
export function heldInHub(pipelines: readonly Pipeline[], pipeline: string | undefined): HeldTarget {
  const named = pipeline === undefined ? pipelines : [findByName('Pipeline', pipelines, pipeline)];
  const [first, ...others] = named.flatMap(heldOf);
  if (!first) {
    throw new CliError('no deletes of objects of the hub are held', {
      hint: 'kubenode status shows what each Pipeline and cluster waits for',
      exitCode: EXIT.badInput,
    });
  }
  if (others.length === 0) return first;
  const names = [first, ...others].map((each) => each.pipeline);
  throw new CliError(`deletes of several Pipelines are held in the hub: ${names.join(', ')}`, {
    hint: 'name one of them with --pipeline',
    exitCode: EXIT.badInput,
  });
}

function heldOf(pipeline: Pipeline): readonly HeldTarget[] {
  const plan = hubHoldOf(pipeline);
  if (!plan) return [];
  const { name } = pipeline.metadata;
  const { message = '' } = conditionOf(pipeline.status?.conditions, 'Held') ?? {};
  return [{ pipeline: name, message, units: [plan], lines: [`unit ${plan.unit} in the hub`] }];
}
