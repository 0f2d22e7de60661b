/** `kubenode rollout undo`: back to the revision before. For a set from git it prints the revert, and pauses the set meanwhile. */
import { Command } from 'commander';
import { MACHINE_COMPONENTS } from '../../../../api/generated/resources.ts';
import type { SetComponent } from '../../../../api/generated/types.ts';
import { versionsText } from '../../../../api/machine/versions-text.ts';
import { ANNOTATION_COMMIT } from '../../../../api/names.ts';
import { createFindVersion } from '../../../../controllers/componentset/observe/component-versions.ts';
import { type Revision, resolveRevision } from '../../../../controllers/componentset/revision/resolve.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { gitOrigin, isSetByGit } from '../../../../views/fleet/git-owned.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../../connection.ts';
import { CliError, EXIT } from '../../../errors.ts';
import { readIfPermitted } from '../../../fleet/machine-context.ts';
import { DRY_RUN, patchAsPerson, reportWrite, type WriteFlags } from '../../../fleet/person-write.ts';
import { findComponentIn } from '../../../fleet/versions.ts';
import type { Io } from '../../../io.ts';
import { pauseSet } from '../pause.ts';
import { type SetWrite, withSet } from '../with-set.ts';
import { planUndo } from './plan.ts';
import { fetchRevision } from './revision.ts';

const HELP = `
Where git declares the components of the set, only git takes them back: this prints the git revert and pauses the set, so that no
further machine begins meanwhile. Elsewhere it writes the components of the revision that completed before, exactly as they were.
Machines that never began are left alone; the others go back in batches without soak.

Examples:
  kubenode rollout undo general-nodes --dry-run
  kubenode rollout undo general-nodes --to r-00000001`;

interface UndoFlags extends ConnectionFlags, WriteFlags {
  readonly to?: string;
}

export function createRolloutUndoCommand(io: Io): Command {
  const command = new Command('undo')
    .description('take a version back: print the git revert, or apply the revision before')
    .argument('<set>', 'name of the MachineComponentSet')
    .option('--to <revision>', 'a revision that completed (default: the one before)')
    .option(...DRY_RUN)
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action((name: string, flags: UndoFlags) =>
    withSet(io, flags, name, (write) =>
      isSetByGit(write.set, 'spec', 'components') ? undoInGit(write, flags.to) : undoHere(write, flags.to),
    ),
  );
}

async function undoInGit(write: SetWrite, to: string | undefined): Promise<void> {
  const { set, io } = write;
  const { name, annotations } = set.metadata;
  if (to !== undefined) {
    throw new CliError(`git declares the components of ${name}: --to cannot be used`, {
      hint: 'revert the commits since that revision in the fleet repository',
      exitCode: EXIT.badInput,
    });
  }
  const commit = annotations?.[ANNOTATION_COMMIT];
  io.out(
    commit === undefined
      ? 'git log -p   # find the commit that changed the set, and revert it\n'
      : `git revert --no-edit ${commit}\n`,
  );
  io.err(
    `git declares the components of ${name} (${gitOrigin(set)}): run the command above in the fleet repository, and push it.\n`,
  );
  if (!set.spec.paused) await pauseSet(write);
  io.err(
    `${write.dryRun ? 'dry run: ' : ''}${name} is paused meanwhile. When the revert is applied: kubenode rollout resume ${name}\n`,
  );
}

async function undoHere(write: SetWrite, to: string | undefined): Promise<void> {
  const { set, client, io } = write;
  const { name } = set.metadata;
  const revision = await fetchRevision(client, set, planUndo(set, to), io.signal);
  await requireSameContent(client, revision, io.signal);
  await patchAsPerson(write, { spec: { components: revision.components.map(specOf) } });
  const paused = set.spec.paused ? `. It is paused: kubenode rollout resume ${name}` : '';
  const versions = versionsText(revision.components);
  reportWrite(write, `${name} goes back to ${versions} (${revision.name})${paused}`);
}

/** Nothing but fields of the set: a revision also has digests. */
function specOf({ name, componentRef, state, parameters }: SetComponent): SetComponent {
  return { name, componentRef, state, parameters };
}

/** A version that was deleted and created again with other content would be another revision, and no proven one. */
async function requireSameContent(
  client: Client,
  { name, components }: Revision,
  signal: AbortSignal,
): Promise<void> {
  const read = components.map(({ componentRef }) =>
    readIfPermitted(client, MACHINE_COMPONENTS, componentRef, signal),
  );
  const found = (await Promise.all(read)).filter((each) => each !== undefined);
  const get = findComponentIn(found);
  const resolved = resolveRevision(components, createFindVersion({ get }));
  const problems = 'problems' in resolved ? resolved.problems : resolved.yanked;
  const isSame = 'revision' in resolved && resolved.revision.name === name;
  if (problems.length === 0 && isSame) return;
  const why = problems.map(({ because }) => because).join('; ') || 'its components have other content now';
  throw new CliError(`revision ${name} cannot be applied again: ${why}`, {
    hint: 'apply the set with versions that exist',
    exitCode: EXIT.badInput,
  });
}
