import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import { openWorkingTree, type WorkingTree } from '../../../sync/git/working-tree.ts';
import { type Refusal, refusals } from '../../../sync/judge/object-checks.ts';
import {
  compareCommits,
  type Preview,
  previewOf,
  type TargetPreview,
  verdictOf,
} from '../../../sync/preview/preview.ts';
import { previewMarkdown, previewText } from '../../../sync/preview/text.ts';
import { createRenderer, type Renderer } from '../../../sync/render/renderer.ts';
import { HUB_TARGET, type Rendered } from '../../../sync/rendered.ts';
import { type ConnectionFlags, connectionOptions } from '../../connection.ts';
import { EXIT } from '../../errors.ts';
import { endWith } from '../../exit.ts';
import type { Io } from '../../io.ts';
import { withProgress } from '../../progress.ts';
import { commitChecks } from '../sync/checks.ts';
import { limitsIn } from './limits.ts';
import { askClusters } from './live.ts';

const HELP = `
Compares two states of a fleet repository by the code that sync runs, without the writing. Without options: the files as
they lie there against the last commit; when nothing is uncommitted, the last commit against the one before.

With a kubeconfig of the hub whose user may read Clusters and their Secrets, each cluster is asked itself, by server-side
dry run: then the plan is against what is really there. Otherwise, or with --no-live, commit is compared with commit; the
output says which, for each cluster. A cluster that does not answer is unknown. Values of Secrets are masked.

Exit codes: 0 nothing to do, 2 changes, 3 something would be held, 1 refused, or an error.

Examples:
  kubenode plan
  kubenode plan --from origin/main --to HEAD -o markdown     in CI: no cluster credential is needed
  kubenode plan --context hub`;

type Output = 'table' | 'markdown' | 'json';

interface Flags extends ConnectionFlags {
  readonly from?: string;
  readonly to?: string;
  readonly repo: string;
  readonly path: string;
  readonly live: boolean;
  readonly output: Output;
}

export function planCommand(io: Io): Command {
  const command = new Command('plan')
    .description('show what a change of the fleet repository would do, cluster by cluster')
    .option('--from <revision>', 'the state before (default: see below)')
    .option('--to <revision>', 'the state after (default: the files as they lie there)')
    .option('--repo <dir>', 'a folder of the fleet repository', '.')
    .option('--path <folder>', 'folder of the fleet in the repository (spec.source.path)', '.')
    .option('--no-live', 'ask no cluster: compare commit with commit')
    .addOption(
      new Option('-o, --output <format>', 'how to print')
        .choices(['table', 'markdown', 'json'])
        .default('table'),
    )
    .addHelpText('after', HELP);
  return connectionOptions(command).action(async (flags: Flags) => {
    const preview = await withProgress(io, async (progress) => {
      progress.step('rendering');
      const sides = await renderSides(io, flags);
      progress.step('comparing');
      return compare(io, flags, sides);
    });
    show(io, flags.output, preview);
    endWith(
      io,
      { nothing: EXIT.ok, changes: EXIT.changes, held: EXIT.held, refused: EXIT.failed }[verdictOf(preview)],
    );
  });
}

interface Side {
  readonly label: string;
  readonly rendered: Rendered | undefined;
}

interface Sides {
  readonly from: Side;
  readonly to: { readonly label: string; readonly rendered: Rendered };
}

async function renderSides(io: Io, flags: Flags): Promise<Sides> {
  const git = await openWorkingTree(resolve(io.cwd, flags.repo));
  const render = createRenderer();
  const to = await after(io, flags, git, render);
  const from = flags.from ?? (to.clean ? 'HEAD^' : 'HEAD');
  const rendered = await renderedAt(io, flags, git, { revision: from, render });
  return { from: { label: from, rendered }, to };
}

/** The files as they lie there, unless they are those of the last commit. */
async function after(
  io: Io,
  flags: Flags,
  git: WorkingTree,
  render: Renderer,
): Promise<Sides['to'] & { clean: boolean }> {
  const { signal } = io;
  const { path } = flags;
  if (flags.to !== undefined || flags.from !== undefined) {
    const revision = flags.to ?? 'HEAD';
    const rendered = await renderedAt(io, flags, git, { revision, render });
    if (rendered) return { label: revision, rendered, clean: true };
  }
  const { targets } = await render.folder({ folder: git.root, path, signal });
  const head = await renderedAt(io, flags, git, { revision: 'HEAD', render });
  const clean = head !== undefined && digests(head.targets) === digests(targets);
  return {
    label: clean ? 'HEAD' : 'the files as they lie there',
    rendered: { commit: '0'.repeat(40), targets },
    clean,
  };
}

function digests(targets: Rendered['targets']): string {
  return targets.map(({ target, digest }) => `${target} ${digest}`).join('\n');
}

/** Undefined for the parent of a first commit: everything is new. */
async function renderedAt(
  { signal }: Io,
  { path }: Flags,
  git: WorkingTree,
  { revision, render }: { readonly revision: string; readonly render: Renderer },
): Promise<Rendered | undefined> {
  const first = revision === 'HEAD^' && (await git.commit(await git.resolve('HEAD'))).parents.length === 0;
  if (first) return undefined;
  const commit = await git.resolve(revision);
  return (await render.commit({ git, commit, path, signal })).rendered;
}

async function compare(io: Io, flags: Flags, { from, to }: Sides): Promise<Preview> {
  const limits = limitsIn(from.rendered ?? to.rendered, to.rendered);
  const byCommits = compareCommits(from.rendered, to.rendered, limits);
  const found = await refusalsOf(to.rendered);
  const targets = flags.live
    ? await askClusters(io, flags, { to: to.rendered, byCommits, limits })
    : byCommits.map(notAsked);
  return previewOf({ from: from.label, to: to.label, targets: hubFirst(targets), refusals: found });
}

async function refusalsOf({ targets }: Rendered): Promise<Refusal[]> {
  const checks = commitChecks();
  const found: Refusal[] = [];
  for (const target of targets) found.push(...(await refusals(target, checks)));
  return found;
}

function notAsked(target: TargetPreview): TargetPreview {
  return { ...target, because: '--no-live' };
}

function hubFirst(targets: readonly TargetPreview[]): TargetPreview[] {
  return targets.toSorted((a, b) => Number(b.target === HUB_TARGET) - Number(a.target === HUB_TARGET));
}

function show(io: Io, output: Output, preview: Preview): void {
  if (output === 'json') io.out(`${JSON.stringify(preview, undefined, 2)}\n`);
  else io.out(output === 'markdown' ? previewMarkdown(preview) : previewText(preview));
}
