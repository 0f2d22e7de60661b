/** Runs `kubenode rollout show`: shows what one rollout does, why, since when, and what unblocks it. */
import { Command } from 'commander';
import { MACHINE_COMPONENT_SETS, MACHINES } from '../../../api/generated/resources.ts';
import type { Machine, MachineComponentSet } from '../../../api/generated/types.ts';
import type { Client } from '../../../kube/client/client.ts';
import { formatHistory } from '../../../views/rollout/history.ts';
import { formatRollout } from '../../../views/rollout/show.ts';
import { machineInWork, viewRollout } from '../../../views/rollout/view.ts';
import { COLUMNS } from '../../../views/text/wrap.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { collect, readNamed, withCluster } from '../../fleet/read.ts';
import type { Io } from '../../io.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../output.ts';

interface ShowFlags extends ConnectionFlags {
  readonly output: OutputFormat;
  readonly all?: true;
}

/** The most machines in work that are shown; the status has at most 20 failing ones. */
const MAX_MACHINES = 20;

export function createRolloutShowCommand(io: Io): Command {
  const command = new Command('show')
    .description('show a rollout: batches, progress, failing machines, what it waits for, and its revisions')
    .argument('<set>', 'name of the MachineComponentSet')
    .option('--all', `list every machine in work, not only the first ${MAX_MACHINES}`)
    .addOption(createOutputOption());
  return addConnectionOptions(command).action((name: string, flags: ShowFlags) =>
    withCluster(io, flags, async (client) => {
      const set = await readNamed<MachineComponentSet>(client, MACHINE_COMPONENT_SETS, name, io.signal);
      if (flags.output !== 'table') {
        printResult(io, flags.output, set, () => ({ columns: [], rows: [] }));
        return;
      }
      const inWork = await machinesInWork(client, set, io.signal);
      const now = io.clock.now();
      const columns = io.screen()?.columns ?? COLUMNS;
      const listRows = flags.all ? Number.POSITIVE_INFINITY : MAX_MACHINES;
      const view = viewRollout(set, inWork);
      io.out(`${formatRollout(view, now, { columns, listRows })}${formatHistory(set, now, columns)}`);
    }),
  );
}

async function machinesInWork(
  client: Client,
  set: MachineComponentSet,
  signal: AbortSignal,
): Promise<NonNullable<ReturnType<typeof machineInWork>>[]> {
  const found = await collect(client, MACHINES, { signal }, (machine: Machine) =>
    machineInWork(machine, set),
  );
  return found.filter((each) => each !== undefined);
}
