import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import { createJsonLog } from '../../../agent/log.ts';
import { runAgent } from '../../../agent/main.ts';
import { systemRandom } from '../../../os/system-random.ts';
import { addConnectionOptions, type ConnectionFlags, connectFrom } from '../../connection.ts';
import type { Io } from '../../io.ts';
import { createIntegerParser } from '../../option-parsers.ts';
import { KUBENODE_VERSION } from '../version.ts';
import { createDirectoryOption } from './directory.ts';

const HELP = `
Keeps the components of one Machine at their version, with their config, running: installs what the Machine declares,
writes back what differs, and rolls back what does not become healthy. While the API server is away it works from the
last accepted state. --host sandbox needs no root: the files of the host are below --directory, and its units are
processes of this machine, which survive the agent.

  kubenode agent run --host sandbox --directory /tmp/n1 --machine n1`;

interface RunFlags extends ConnectionFlags {
  readonly host: 'sandbox';
  readonly directory: string;
  readonly machine: string;
  readonly port: number;
}

export function createAgentRunCommand(io: Io): Command {
  const command = new Command('run')
    .description('run the agent of a machine until it is stopped')
    .requiredOption('--machine <name>', 'name of the Machine')
    .addOption(new Option('--host <type>', 'how to act on the host').choices(['sandbox']).default('sandbox'))
    .addOption(createDirectoryOption().makeOptionMandatory())
    .option(
      '--port <number>',
      'port of health and metrics on localhost; 0 selects a free one',
      createIntegerParser(0, 65_535),
      0,
    )
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action(async (flags: RunFlags) => {
    const client = await connectFrom(io, flags);
    try {
      const options = {
        directory: resolve(flags.directory),
        machine: flags.machine,
        client,
        version: KUBENODE_VERSION,
        port: flags.port,
        clock: io.clock,
        log: createJsonLog({ write: (line) => io.out(line), clock: io.clock }),
        random: systemRandom,
        onListening: (url: string) => io.err(`health and metrics: ${url}\n`),
      };
      await runAgent(options, io.signal);
    } finally {
      await client.close();
    }
  });
}
