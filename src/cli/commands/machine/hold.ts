/** `kubenode machine hold` and `release`: `spec.hold`, by which a person keeps automation off a machine. */

import { Command, Option } from 'commander';
import { MACHINES } from '../../../api/generated/resources.ts';
import type { Machine, MachineHold } from '../../../api/generated/types.ts';
import { ANNOTATION_HOLD, ANNOTATION_OWNER_HOLD } from '../../../api/names.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { secondsAfter } from '../../../os/dates.ts';
import { isSetByGit } from '../../../views/fleet/git-owned.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { CliError } from '../../errors.ts';
import { readNodeOf } from '../../fleet/machine-context.ts';
import {
  applyAsPerson,
  DRY_RUN,
  type PersonWrite,
  patchAsPerson,
  refuseIfGitSets,
  reportWrite,
  type WriteFlags,
} from '../../fleet/person-write.ts';
import { readNamed, withCluster } from '../../fleet/read.ts';
import type { Io } from '../../io.ts';
import { parseDuration } from '../../option-parsers.ts';

const HOLD = ['spec', 'hold'] as const;

const HOLD_HELP = `
Nothing that is in work is interrupted; the clock of an update stands still. Disruptive acts are drains, restarts and reboots, by
rollouts and repairs; with --scope All nothing is done to it at all. Where git sets spec.hold this prints what to commit.

Examples:
  kubenode machine hold m-17 --reason "new disks" --for 8h
  kubenode machine hold m-17 --reason "incident 4711" --scope All`;

interface HoldFlags extends ConnectionFlags, WriteFlags {
  readonly reason: string;
  readonly scope: MachineHold['scope'];
  /** In seconds. */
  readonly for?: number;
}

export function createMachineHoldCommand(io: Io): Command {
  const command = new Command('hold')
    .description('keep rollouts and repairs off a machine')
    .argument('<machine>', 'name of the Machine')
    .requiredOption('--reason <text>', 'why: shown to everyone who waits for it')
    .addOption(
      new Option('--scope <scope>', 'what is kept off').choices(['Disruptive', 'All']).default('Disruptive'),
    )
    .option('--for <duration>', 'ends by itself: 30m, 8h, 3d (default: until it is released)', parseDuration)
    .option(...DRY_RUN)
    .addHelpText('after', HOLD_HELP);
  return addConnectionOptions(command).action((name: string, flags: HoldFlags) =>
    withMachine(io, flags, name, async (write) => {
      const hold = holdFor(flags, io.clock.now());
      refuseIfGitSets(write, HOLD, { spec: { hold } });
      await applyAsPerson(write, { hold });
      const before = write.machine.spec.hold;
      const replaced = before ? ` It was held before: ${before.reason}.` : '';
      const until = hold.until ? ` until ${hold.until}` : '';
      reportWrite(
        write,
        `${name} is held${until}.${replaced} Release it with: kubenode machine release ${name}`,
      );
    }),
  );
}

function holdFor({ reason, scope, for: seconds }: HoldFlags, now: Date): MachineHold {
  const until = seconds === undefined ? undefined : secondsAfter(now, seconds).toISOString();
  return { reason, scope, ...optional('until', until) };
}

const RELEASE_HELP = `
Removes spec.hold and the annotation ${ANNOTATION_HOLD} of the Machine, also those of other people. What waited for it goes on. A hold that
git sets, an annotation of the Node, or the hold of the system that owns the instance, is named, and stays.`;

export function createMachineReleaseCommand(io: Io): Command {
  const command = new Command('release')
    .description('end the hold of a machine')
    .argument('<machine>', 'name of the Machine')
    .option(...DRY_RUN)
    .addHelpText('after', RELEASE_HELP);
  return addConnectionOptions(command).action((name: string, flags: ConnectionFlags & WriteFlags) =>
    withMachine(io, flags, name, release),
  );
}

async function release(write: MachineWrite): Promise<void> {
  const { machine, client, io } = write;
  const { name } = machine.metadata;
  const { removal, isByGit } = planRelease(machine);
  if (removal) await patchAsPerson(write, removal);
  if (isByGit) refuseIfGitSets(write, HOLD, { spec: { hold: null } });
  requireNoNodeHold(await readNodeOf(client, name, io.signal));
  requireNoOwnerHold(machine);
  reportWrite(write, removal ? `${name} is released` : `${name} is not held: nothing to do`);
}

interface ReleasePlan {
  /** Undefined: nothing can be removed here. */
  readonly removal?: { readonly spec?: object; readonly annotations?: object };
  readonly isByGit: boolean;
}

function planRelease(machine: Machine): ReleasePlan {
  const isHeld = machine.spec.hold !== undefined;
  const isByGit = isHeld && isSetByGit(machine, ...HOLD);
  const isAnnotated = machine.metadata.annotations?.[ANNOTATION_HOLD] !== undefined;
  const removal = {
    ...(isHeld && !isByGit && { spec: { hold: null } }),
    ...(isAnnotated && { annotations: { [ANNOTATION_HOLD]: null } }),
  };
  return { isByGit, ...optional('removal', Object.keys(removal).length > 0 ? removal : undefined) };
}

function requireNoNodeHold(node: KubeObject | undefined): void {
  const held = node?.metadata.annotations?.[ANNOTATION_HOLD];
  if (node === undefined || held === undefined) return;
  const { name } = node.metadata;
  throw new CliError(`Node ${name} is still held by its annotation ${ANNOTATION_HOLD}: ${held}`, {
    hint: `who may write Nodes removes it: kubectl annotate node ${name} ${ANNOTATION_HOLD}-`,
  });
}

/** Only the owner of the instance ends its hold: the controller that follows it would write the annotation again. */
function requireNoOwnerHold({ metadata: { name, annotations } }: Machine): void {
  const held = annotations?.[ANNOTATION_OWNER_HOLD];
  if (held === undefined) return;
  throw new CliError(`Machine ${name} is still held by the owner of its instance: ${held}`, {
    hint: `end it there. If no controllers run with --cluster-api, --external-nodes or --external-nodes-selector any more: kubectl annotate machines.kubenode.dev ${name} ${ANNOTATION_OWNER_HOLD}-`,
  });
}

interface MachineWrite extends PersonWrite {
  readonly machine: Machine;
}

async function withMachine(
  io: Io,
  flags: ConnectionFlags & WriteFlags,
  name: string,
  work: (write: MachineWrite) => Promise<void>,
): Promise<void> {
  await withCluster(io, flags, async (client) => {
    const machine = await readNamed(client, MACHINES, name, io.signal);
    const dryRun = flags.dryRun ?? false;
    await work({ io, client, resource: MACHINES, object: machine, machine, dryRun });
  });
}
