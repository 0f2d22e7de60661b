import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import { POLICY_TESTS_FOLDER } from '../../api/validation/policy-tests.ts';
import { openWorkingTree, type WorkingTree } from '../../sync/git/working-tree.ts';
import { findAllRefusals } from '../../sync/judge/object-checks.ts';
import type { Refusal } from '../../sync/judge/refusal.ts';
import { formatPreviewMarkdown } from '../../sync/preview/markdown.ts';
import {
  createPreview,
  type Preview,
  previewVerdict,
  type TargetPreview,
} from '../../sync/preview/preview.ts';
import { formatPreview } from '../../sync/preview/text.ts';
import { formatLocation } from '../../sync/render/errors.ts';
import { createRenderer, type Renderer } from '../../sync/render/renderer.ts';
import type { Rendered } from '../../sync/rendered.ts';
import { formatJson } from '../../views/text/json.ts';
import { createCommitChecks } from '../checks/commit-checks.ts';
import { runPolicyTests } from '../checks/policy-tests.ts';
import { declaredPermitWarnings } from '../checks/rule-permits.ts';
import { addConnectionOptions, type ConnectionFlags } from '../connection.ts';
import { EXIT } from '../errors.ts';
import { setExitCode } from '../exit.ts';
import type { Io } from '../io.ts';
import { printWarnings } from '../output.ts';
import { endedTimeWarnings } from '../plan/ended-times.ts';
import { choosePipeline, readLimits, unknownIdentities } from '../plan/limits.ts';
import {
  compareSides,
  hostedNotesByCommits,
  type PlannedTargets,
  type PreviewSides,
  previewOnClusters,
  shownTargets,
  withFleetLimits,
} from '../plan/live.ts';
import { withProgress } from '../progress.ts';

const HELP = `
Compares two states of a fleet repository with the code that sync runs, without writing. Without options: the working
tree with the last commit; if nothing is uncommitted, the last commit with its parent.

The tests of the DefenderPolicies (${POLICY_TESTS_FOLDER}/*.ts) are run on the changed side, isolated as a render is; one that fails refuses
the change.

With a kubeconfig of the hub whose user can read Clusters and their Secrets, the plan is a server-side dry run on each
cluster, against what is really there. Otherwise, or with --no-live, it compares commit to commit; the output tells
which, for each cluster. Of component sets it then shows which machines they would change, in which batches, how much that disturbs
each, what would block it now, and what the Defender would answer now, by the code that the controllers run.

Of FleetPolicies it shows which limits over clusters become looser or tighter, what a stop holds, and how the limits bound the rollouts of
the plan: how many clusters follow each other, and how long that takes at least.

An acknowledgement that is not new in the change may be spent: from commit to commit it counts as spent. A cluster that does not answer is unknown. Values of Secrets are masked.

Exit codes: 0 no changes, 2 changes, 3 something would be held, 1 refused, or an error.

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
  readonly pipeline?: string;
  readonly output: Output;
}

export function createPlanCommand(io: Io): Command {
  const command = new Command('plan')
    .description('show what a change of the fleet repository would do on each cluster')
    .option('--from <revision>', 'revision before the change (default: see below)')
    .option('--to <revision>', 'revision after the change (default: the working tree)')
    .option('--repo <dir>', 'folder of the fleet repository', '.')
    .option('--path <folder>', 'folder of the fleet in the repository (spec.source.path)', '.')
    .option(
      '--pipeline <name>',
      'Pipeline to plan for, if the repository declares several that read this folder',
    )
    .option('--no-live', 'contact no cluster: compare commit to commit')
    .addOption(
      new Option('-o, --output <format>', 'output format')
        .choices(['table', 'markdown', 'json'])
        .default('table'),
    )
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action(async (flags: Flags) => {
    const preview = await withProgress(io, async (progress) => {
      progress.step('rendering');
      const sides = await renderSides(io, flags);
      progress.step('comparing');
      return compare(io, flags, sides);
    });
    show(io, flags.output, preview);
    setExitCode(
      io,
      { nothing: EXIT.ok, changes: EXIT.changes, held: EXIT.held, refused: EXIT.failed }[
        previewVerdict(preview)
      ],
    );
  });
}

interface PlanSide {
  readonly label: string;
  readonly rendered: Rendered | undefined;
}

interface PlanSides {
  readonly from: PlanSide;
  readonly to: PlanSide & { readonly rendered: Rendered };
  readonly failedTests: readonly Refusal[];
}

async function renderSides(io: Io, flags: Flags): Promise<PlanSides> {
  const git = await openWorkingTree(resolve(io.cwd, flags.repo));
  const render = createRenderer();
  const to = await renderAfter(io, flags, git, render);
  const from = flags.from ?? (to.clean ? 'HEAD^' : 'HEAD');
  const rendered = await renderRevision(io, flags, git, { revision: from, render });
  return { from: { label: from, rendered }, to, failedTests: await testPolicies(io, flags, git, render) };
}

/** Runs the policy tests of the side that `renderAfter` renders, and returns a refusal for each failure. */
async function testPolicies(
  { signal }: Io,
  { from, to = from === undefined ? undefined : 'HEAD', path }: Flags,
  git: WorkingTree,
  render: Renderer,
): Promise<readonly Refusal[]> {
  const side = to === undefined ? { folder: git.root } : { git, commit: await git.resolve(to) };
  const { failures } = await runPolicyTests(render, { ...side, path, signal });
  return failures.map((problem) => ({
    target: 'the fleet',
    unit: POLICY_TESTS_FOLDER,
    object: 'policies',
    source: formatLocation(problem) ?? POLICY_TESTS_FOLDER,
    message: problem.message,
  }));
}

/** Renders the working tree, unless it renders to the same as the last commit. */
async function renderAfter(
  io: Io,
  flags: Flags,
  git: WorkingTree,
  render: Renderer,
): Promise<PlanSides['to'] & { clean: boolean }> {
  const { signal } = io;
  const { path } = flags;
  if (flags.to !== undefined || flags.from !== undefined) {
    const revision = flags.to ?? 'HEAD';
    const rendered = await renderRevision(io, flags, git, { revision, render, warn: true });
    if (rendered) return { label: revision, rendered, clean: true };
  }
  const { targets, warnings } = await render.folder({ folder: git.root, path, signal });
  printWarnings(io, warnings);
  const head = await renderRevision(io, flags, git, { revision: 'HEAD', render });
  const clean = head !== undefined && digests(head.targets) === digests(targets);
  return {
    label: clean ? 'HEAD' : 'the working tree',
    rendered: { commit: '0'.repeat(40), targets },
    clean,
  };
}

function digests(targets: Rendered['targets']): string {
  return targets.map(({ target, digest }) => `${target} ${digest}`).join('\n');
}

interface RevisionRender {
  readonly revision: string;
  readonly render: Renderer;
  /** Whether to print the warnings: of the changed side only, because both sides usually have the same. */
  readonly warn?: boolean;
}

/** Renders a commit. Undefined for the parent of the first commit: everything is new. */
async function renderRevision(
  io: Io,
  { path }: Flags,
  git: WorkingTree,
  { revision, render, warn = false }: RevisionRender,
): Promise<Rendered | undefined> {
  const hasNoParent =
    revision === 'HEAD^' && (await git.commit(await git.resolve('HEAD'))).parents.length === 0;
  if (hasNoParent) return undefined;
  const commit = await git.resolve(revision);
  const { rendered, warnings } = await render.commit({ git, commit, path, signal: io.signal });
  if (warn) printWarnings(io, warnings);
  return rendered;
}

async function compare(io: Io, flags: Flags, { from, to, failedTests }: PlanSides): Promise<Preview> {
  const rendered = { from: from.rendered, to: to.rendered };
  printWarnings(io, endedTimeWarnings(to.rendered, io.clock.now()));
  printWarnings(io, declaredPermitWarnings(to.rendered.targets));
  if (!flags.live) printWarnings(io, hostedNotesByCommits(rendered, io.clock.now()));
  const pipeline = choosePipeline(rendered, { name: flags.pipeline, path: flags.path });
  const sides = { ...rendered, limits: readLimits(rendered, pipeline), pipeline };
  const refusals = [
    ...(await findAllRefusals(to.rendered, createCommitChecks())),
    ...unknownIdentities(rendered, pipeline),
    ...failedTests,
  ];
  const planned = flags.live ? await previewOnClusters(io, flags, sides) : planByCommits(io, sides);
  const compared = { from: from.label, to: to.label, ...planned, refusals };
  return createPreview(compared, to.rendered);
}

function planByCommits(io: Io, sides: PreviewSides): PlannedTargets {
  const because = 'nothing live is read: --no-live';
  const targets = compareSides(sides).map((target): TargetPreview => ({ ...target, because }));
  return withFleetLimits(shownTargets(targets), sides, { now: io.clock.now() });
}

function show(io: Io, output: Output, preview: Preview): void {
  if (output === 'json') io.out(formatJson(preview));
  else io.out(output === 'markdown' ? formatPreviewMarkdown(preview) : formatPreview(preview));
}
