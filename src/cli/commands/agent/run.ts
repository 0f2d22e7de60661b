import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { identityFiles } from '../../../agent/identity/store.ts';
import { AGENT_PKI } from '../../../agent/layout.ts';
import { createJsonLog } from '../../../agent/log.ts';
import { type AgentAccess, runAgent } from '../../../agent/main.ts';
import { loadConfig } from '../../../kube/auth/config.ts';
import { systemRandom } from '../../../os/system-random.ts';
import { addConnectionOptions, type ConnectionFlags, connectFrom, findKubeconfig } from '../../connection.ts';
import type { Io } from '../../io.ts';
import { createIntegerParser } from '../../option-parsers.ts';
import { KUBENODE_VERSION } from '../version.ts';
import { createDirectoryOption } from './directory.ts';

const HELP = `
Keeps the components of one Machine at their version, with their config, running: installs what the Machine declares,
writes back what differs, and rolls back what does not become healthy. While the API server is away it works from the
last accepted state. --host sandbox needs no root: the files of the host are below --directory, and its units are
processes of this machine, which survive the agent.

With --bootstrap the agent makes a key on this host, gets its certificate with the token in that file, and renews it. Later
starts need neither the file nor another option. With --kubeconfig it uses the credentials in there and renews nothing.

  kubenode machine token n1 > bootstrap.json
  kubenode agent run --host sandbox --directory /tmp/n1 --machine n1 --bootstrap bootstrap.json`;

interface RunFlags extends ConnectionFlags {
  readonly host: 'sandbox';
  readonly directory: string;
  readonly machine: string;
  readonly port: number;
  readonly bootstrap?: string;
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
    .option('--bootstrap <file>', 'join with this output of `kubenode machine token`')
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action(async (flags: RunFlags) => {
    const directory = resolve(flags.directory);
    const access = await accessFrom(io, flags, directory);
    try {
      const options = {
        directory,
        machine: flags.machine,
        access,
        version: KUBENODE_VERSION,
        port: flags.port,
        clock: io.clock,
        log: createJsonLog({ write: (line) => io.out(line), clock: io.clock }),
        random: systemRandom,
        onListening: (url: string) => io.err(`health and metrics: ${url}\n`),
      };
      await runAgent(options, io.signal);
    } finally {
      if ('client' in access) await access.client.close();
    }
  });
}

/** Its own certificate, unless a kubeconfig is named; a host that never joined uses the kubeconfig that every command finds. */
async function accessFrom(io: Io, flags: RunFlags, directory: string): Promise<AgentAccess> {
  const { bootstrap, kubeconfig, context } = flags;
  const isNamed = kubeconfig !== undefined || context !== undefined;
  if (bootstrap !== undefined) return { own: { bootstrapFile: resolve(bootstrap) } };
  if (!isNamed && existsSync(join(directory, identityFiles(AGENT_PKI).certificate))) return { own: {} };
  const client = await connectFrom(io, flags);
  const found = findKubeconfig(io, flags);
  const { connection } = await loadConfig({
    clock: io.clock,
    ...(found === undefined ? {} : { kubeconfig: found }),
    ...(context === undefined ? {} : { context }),
  });
  const { tls } = await connection.credentials.current();
  return { client, ...(tls.ca === undefined ? {} : { ca: tls.ca }) };
}
