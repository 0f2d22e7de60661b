/** `kubenode machine show`: what happens on one machine, why, since when, and what unblocks it. */
import { Command } from 'commander';
import { MACHINES } from '../../../api/generated/resources.ts';
import { ownValue } from '../../../kube/objects/json.ts';
import { viewProbes } from '../../../views/machine/probes.ts';
import { formatMachine } from '../../../views/machine/show.ts';
import { COLUMNS } from '../../../views/text/wrap.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { readGrants, readNodeOf, readPeerAnswers } from '../../fleet/machine-context.ts';
import { readNamed, withCluster } from '../../fleet/read.ts';
import type { Io } from '../../io.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../output.ts';

export function createMachineShowCommand(io: Io): Command {
  const command = new Command('show')
    .description(
      'show a machine: node, agent, probes by its peers, components, holds, what it waits for and what unblocks it',
    )
    .argument('<machine>', 'name of the Machine')
    .addOption(createOutputOption())
    .addHelpText(
      'after',
      '\nWhat the Defender would permit on it, and which limit denies the rest: kubenode why machine NAME',
    );
  return addConnectionOptions(command).action(
    (name: string, flags: ConnectionFlags & { readonly output: OutputFormat }) =>
      withCluster(io, flags, async (client) => {
        const machine = await readNamed(client, MACHINES, name, io.signal);
        if (flags.output !== 'table') {
          printResult(io, flags.output, machine, () => ({ columns: [], rows: [] }));
          return;
        }
        const [node, grants, answers] = await Promise.all([
          readNodeOf(client, name, io.signal),
          readGrants(client, io.signal),
          readPeerAnswers(client, machine, io.signal),
        ]);
        const now = io.clock.now();
        const probes = viewProbes({ name, silence: machine.status?.silence }, answers, now);
        const shown = { machine, node, grant: ownValue(grants, name), probes };
        io.out(formatMachine(shown, now, io.screen()?.columns ?? COLUMNS));
      }),
  );
}
