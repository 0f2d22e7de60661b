/** `kubenode machine token`: the kubeconfig with which the agent of one Machine gets its first certificate. */
import { randomInt } from 'node:crypto';
import { Command, Option } from 'commander';
import { PRINCIPAL_MACHINE } from '../../../api/names.ts';
import { BOOTSTRAP_TOKEN_SECONDS } from '../../../api/secrets/bootstrap-token.ts';
import { createBootstrapToken } from '../../../controllers/bootstraptoken/execute.ts';
import { loadConfig } from '../../../kube/auth/config.ts';
import { connect } from '../../../kube/client/connect.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';
import type { Io } from '../../io.ts';
import { formatBootstrapConfig } from '../../local/bootstrap-config.ts';
import { createIntegerParser } from '../../option-parsers.ts';
import { connectOptionsFor } from '../../principal.ts';

const HELP = `
Makes a bootstrap token for one Machine and prints a kubeconfig with it. The agent of this Machine gets its first
certificate with it, once; the token is deleted then, and after 15 minutes in any case. The newest token of a Machine is
the only one that works. It makes its holder the agent of this Machine: send it to the host only.

  kubenode machine token n1 > bootstrap.json
  kubenode agent run --machine n1 --bootstrap bootstrap.json --host sandbox --directory /tmp/n1`;

export interface TokenFlags extends ConnectionFlags {
  readonly seconds: number;
}

export function createMachineTokenCommand(io: Io): Command {
  const command = new Command('token')
    .description('make the bootstrap token with which the agent of a Machine joins')
    .argument('<machine>', 'name of the Machine')
    .addOption(createSecondsOption())
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action(async (machine: string, flags: TokenFlags) => {
    io.out(`${await makeBootstrapConfig(io, machine, flags)}\n`);
  });
}

export function createSecondsOption(): Option {
  return new Option('--seconds <n>', 'how long it may be used')
    .argParser(createIntegerParser(60, BOOTSTRAP_TOKEN_SECONDS))
    .default(BOOTSTRAP_TOKEN_SECONDS);
}

/** Makes a token for a Machine, reports until when it works, and returns the file with which its host joins. */
export async function makeBootstrapConfig(io: Io, machine: string, flags: TokenFlags): Promise<string> {
  const options = await connectOptionsFor(io, flags, PRINCIPAL_MACHINE);
  const { connection } = await loadConfig({ ...options, clock: io.clock });
  const { tls } = await connection.credentials.current();
  const client = await connect(options);
  try {
    const now = io.clock.now();
    const { token, expiresAt } = await createBootstrapToken({
      client,
      machine,
      now,
      randomInt: (below) => randomInt(below),
      seconds: flags.seconds,
    }).catch((error: unknown) => {
      throw isKubeError(error, 'NotFound') ? missingMachine(machine) : error;
    });
    io.err(`the token of Machine ${machine} may be used once, until ${expiresAt}\n`);
    return formatBootstrapConfig({ server: connection.server, ca: tls.ca, user: { token } });
  } finally {
    await client.close();
  }
}

function missingMachine(machine: string): CliError {
  return new CliError(`Machine ${machine} does not exist in this cluster`, {
    hint: 'create it first, or list the others: kubectl get machines',
    exitCode: EXIT.badInput,
  });
}
