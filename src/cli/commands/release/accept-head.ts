/**
 * `kubenode release accept-head`: a person accepts a head that does not descend from what was applied before. It is in a field
 * that git must not set, so that it stays accepted whatever is committed later.
 */
import { Command } from 'commander';
import { PIPELINES } from '../../../api/generated/resources.ts';
import type { Pipeline } from '../../../api/generated/types.ts';
import { MANAGER_CLI } from '../../../api/names.ts';
import { readUserName } from '../../../kube/auth/self-review.ts';
import { printableLine } from '../../../kube/objects/printable.ts';
import { type HubObjects } from '../../../views/status/hub-objects.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';
import { readHub, selectPipeline } from '../../fleet/hub-objects.ts';
import type { Io } from '../../io.ts';
import { withHub } from './hub.ts';

type Flags = ConnectionFlags & { readonly pipeline?: string; readonly yes?: true };

const HELP = `
A head that does not descend from the last applied commit (a forced push, a rewritten history), or whose signatures are not accepted, is
held. This command prints what it would replace; with --yes it accepts the head for good, also without signatures. Commits that descend
from it need no further acceptance, but signatures of their own.`;

const MAX_REPLACED = 20;

export function createAcceptHeadCommand(io: Io): Command {
  const command = new Command('accept-head')
    .description('accept a head that is held because of its history or its signatures')
    .argument('[commit]', 'the head, as a check that it is the one you reviewed')
    .option('--pipeline <name>', 'name of the Pipeline: needed if the hub has several')
    .option('--yes', 'accept it: without this, only print what it would replace')
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action((commit: string | undefined, flags: Flags) =>
    withHub(io, flags, async (client) => {
      const plan = planAcceptance(await readHub(client, io.signal), flags.pipeline, commit);
      io.out(describeAcceptance(plan));
      if (!flags.yes) {
        throw new CliError('nothing was changed', { hint: 'run it again with --yes to accept the head' });
      }
      const by = await readUserName(client, io.signal);
      const acceptedHead = {
        commit: plan.to,
        replaces: plan.replaces,
        by,
        since: io.clock.now().toISOString(),
      };
      const { name } = plan;
      // Not by apply, which would remove a halt that the same field manager has set.
      const patch = { type: 'merge', body: { spec: { acceptedHead } } } as const;
      await client.patch(PIPELINES, { name }, patch, { fieldManager: MANAGER_CLI });
      io.out(`accepted: pipeline ${name} continues at ${plan.to} with its next poll\n`);
    }),
  );
}

export interface HeadAcceptancePlan {
  readonly name: string;
  readonly from: string | undefined;
  readonly to: string;
  /** Commits of the hub and of its clusters other than the head, the newest Release first. */
  readonly replaces: readonly string[];
  readonly clusters: readonly string[];
  readonly message: string;
}

/** Pure. */
export function planAcceptance(
  { pipelines, clusters, releases }: HubObjects,
  pipelineName: string | undefined,
  commit: string | undefined,
): HeadAcceptancePlan {
  const pipeline = selectPipeline(pipelines, pipelineName);
  const { name } = pipeline.metadata;
  const to = observedHead(pipeline, commit);
  const own = clusters.filter(({ status }) => status?.assigned?.pipeline === name);
  const from = releases.find(({ spec }) => spec.pipeline === name)?.spec.commit;
  const running = own.flatMap(({ status }) => status?.sync?.commit ?? []);
  const replaces = [...new Set([...(from ? [from] : []), ...running])].filter((each) => each !== to);
  return {
    name,
    from,
    to,
    replaces: replaces.slice(0, MAX_REPLACED),
    clusters: own
      .filter(({ status }) => status?.sync?.commit !== undefined && status.sync.commit !== to)
      .map(({ metadata }) => metadata.name),
    message: pipeline.status?.head?.message ?? 'the head is not held: accepting it changes nothing now',
  };
}

/** Exactly what sync observed: a head that moved since it was reviewed is not accepted. */
function observedHead({ metadata, status }: Pipeline, commit: string | undefined): string {
  const head = status?.head?.commit;
  if (head === undefined) {
    throw new CliError(`sync has not observed a head of pipeline ${metadata.name} yet`, {
      hint: 'check kubenode status, and that kubenode sync is running',
      exitCode: EXIT.badInput,
    });
  }
  if (commit === undefined || (commit.length >= 7 && head.startsWith(commit.toLowerCase()))) return head;
  throw new CliError(`the head of pipeline ${metadata.name} is ${head}, not ${commit}`, {
    hint: 'review that head, and name it with at least 7 characters',
    exitCode: EXIT.badInput,
  });
}

function describeAcceptance({ name, from, to, clusters, message }: HeadAcceptancePlan): string {
  const lines = [
    `pipeline ${name}: ${from ?? 'no commit yet'} → ${to}`,
    `  why it is held: ${message}`,
    from
      ? `  undone: what only the replaced history contains. To list it: git log --oneline ${to}..${from}`
      : '',
    `  clusters that run replaced commits: ${clusters.length > 0 ? clusters.join(', ') : 'none'}`,
  ];
  return `${lines.filter(Boolean).map(printableLine).join('\n')}\n`;
}
