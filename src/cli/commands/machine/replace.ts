/** `kubenode machine replace`: asks the MachineSet of a machine for another one. The set asks the Defender before it deletes. */
import { Command } from 'commander';
import { MACHINE_SETS, MACHINES } from '../../../api/generated/resources.ts';
import type { Machine, MachineSet } from '../../../api/generated/types.ts';
import {
  ANNOTATION_REPLACE_MACHINE,
  REPLACE_CREATE_FIRST,
  REPLACE_DELETE_FIRST,
} from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import type { KubeObject, Resource } from '../../../kube/objects/object.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { EXIT } from '../../errors.ts';
import { setExitCode } from '../../exit.ts';
import { DRY_RUN, patchAsPerson, type WriteFlags } from '../../fleet/person-write.ts';
import { readNamed, withCluster } from '../../fleet/read.ts';
import type { Io } from '../../io.ts';
import { parseDuration } from '../../option-parsers.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../output.ts';
import { type StepProgress, withProgress } from '../../progress.ts';
import { type ReplacementProgress, replaceableSet, replacementProgress } from './replace-progress.ts';

const HELP = `
The MachineSet creates another machine, waits until it is available, and deletes this one with a grant of the Defender, which drains it.
With --delete-first it deletes before it creates: for pools without a spare host, or a machine that does not serve anyway. A machine without
a set is refused. Exit code 3: it was not replaced in time; the request stays.

Examples:
  kubenode machine replace m-17
  kubenode machine replace m-17 --delete-first --no-wait
To withdraw it before the deletion: kubectl annotate machines.kubenode.dev m-17 ${ANNOTATION_REPLACE_MACHINE}-`;

interface ReplaceFlags extends ConnectionFlags, WriteFlags {
  readonly deleteFirst?: true;
  readonly wait: boolean;
  /** In seconds. */
  readonly timeout: number;
  readonly output: OutputFormat;
}

export function createMachineReplaceCommand(io: Io): Command {
  const command = new Command('replace')
    .description('replace a machine by another one of its MachineSet')
    .argument('<machine>', 'name of the Machine')
    .option('--delete-first', 'delete it before the other one exists')
    .option('--no-wait', 'return as soon as the set is asked')
    .option('--timeout <duration>', 'how long to wait: 30m, 2h', parseDuration, 3600)
    .option(...DRY_RUN)
    .addOption(createOutputOption())
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action((name: string, flags: ReplaceFlags) =>
    withCluster(io, flags, (client) => replaceMachine(io, { client, name, flags })),
  );
}

interface ReplaceRequest {
  readonly client: Client;
  readonly name: string;
  readonly flags: ReplaceFlags;
}

async function replaceMachine(io: Io, { client, name, flags }: ReplaceRequest): Promise<void> {
  const machine = await readNamed(client, MACHINES, name, io.signal);
  const set = replaceableSet(machine, io.clock.now());
  const dryRun = flags.dryRun ?? false;
  const value = orderOf(flags);
  const isWaiting = flags.wait && !dryRun;
  // A missing right fails before the request is written.
  if (isWaiting) await readIfPresent(client, MACHINE_SETS, set, io.signal);
  const annotations = { [ANNOTATION_REPLACE_MACHINE]: value };
  await patchAsPerson({ io, client, resource: MACHINES, object: machine, dryRun }, { annotations });
  const plan = { machine: name, uid: machine.metadata.uid ?? '', machineSet: set, order: value };
  const progress = isWaiting ? await follow(io, client, { ...plan, seconds: flags.timeout }) : undefined;
  printReplacement(io, { ...plan, state: stateOf(progress, dryRun), message: progress?.text }, flags.output);
}

interface ReplacementResult extends Omit<Followed, 'seconds'> {
  readonly order: string;
  readonly state: string;
  readonly message: string | undefined;
}

function printReplacement(io: Io, result: ReplacementResult, output: OutputFormat): void {
  const { machine, machineSet, order, state, message = 'the set is asked' } = result;
  const columns = ['Machine', 'MachineSet', 'Order', 'State', 'Message'];
  const rows = [[machine, machineSet, order, state, message]];
  printResult(io, output, { ...result, message }, () => ({ columns, rows }));
  if (state === REPLACING) setExitCode(io, EXIT.unhealthy);
}

function orderOf({ deleteFirst }: ReplaceFlags): string {
  return deleteFirst ? REPLACE_DELETE_FIRST : REPLACE_CREATE_FIRST;
}

/** The state of a machine that was not replaced in time. */
const REPLACING = 'Replacing';

function stateOf(progress: ReplacementProgress | undefined, isDryRun: boolean): string {
  if (progress) return progress.isDone ? 'Replaced' : REPLACING;
  return isDryRun ? 'DryRun' : 'Requested';
}

interface Followed {
  readonly machine: string;
  readonly uid: string;
  readonly machineSet: string;
  readonly seconds: number;
}

const POLL_MS = 2000;

async function follow(io: Io, client: Client, followed: Followed): Promise<ReplacementProgress> {
  return await withProgress(io, async (shown: StepProgress) => {
    const endsMs = io.clock.monotonicMs() + followed.seconds * 1000;
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- one read after the other
      const progress = await observe(client, followed, io.signal);
      shown.step(progress.text);
      if (progress.isDone || io.clock.monotonicMs() >= endsMs) return progress;
      // oxlint-disable-next-line no-await-in-loop -- the time between two reads
      await io.clock.sleep(POLL_MS, io.signal);
    }
  });
}

async function observe(
  client: Client,
  followed: Followed,
  signal: AbortSignal,
): Promise<ReplacementProgress> {
  const [machine, set] = await Promise.all([
    readIfPresent<Machine>(client, MACHINES, followed.machine, signal),
    readIfPresent<MachineSet>(client, MACHINE_SETS, followed.machineSet, signal),
  ]);
  return replacementProgress(machine?.metadata.uid === followed.uid ? machine : undefined, set);
}

/** Returns undefined only for what does not exist: a missing right is an error, because it tells nothing about the replacement. */
async function readIfPresent<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  name: string,
  signal: AbortSignal,
): Promise<T | undefined> {
  try {
    return await client.get<T>(resource, { name }, { signal });
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined;
    throw error;
  }
}
