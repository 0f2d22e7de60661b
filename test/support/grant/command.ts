/** `npm run grant -- MACHINE` */
import { Command, CommanderError } from 'commander';
import { PRINCIPAL_COMPONENTSET, PRINCIPAL_DEFENDER } from '../../../src/api/names.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../../src/cli/connection.ts';
import { describeError, EXIT, type ExitCode } from '../../../src/cli/errors.ts';
import type { Io } from '../../../src/cli/io.ts';
import { createIntegerParser } from '../../../src/cli/option-parsers.ts';
import { connectOptionsFor } from '../../../src/cli/principal.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { connect } from '../../../src/kube/client/connect.ts';
import { createGranter, type GrantedEntries, type Granter } from '../granter.ts';

const HELP = `
Gives a Machine permission to activate its components, in place of the Defender and the component set controller: it asks
no budget, window or breaker. For development and tests only. It acts as their accounts, which an administrator may.

  npm run grant -- n1            every component of n1 that has no grant for its content gets one
  npm run grant -- n1 --settle   the grant of n1 ends`;

interface GrantFlags extends ConnectionFlags {
  readonly settle?: boolean;
  readonly minutes: number;
}

export async function runGrantCommand(io: Io, args: readonly string[]): Promise<ExitCode> {
  try {
    await createGrantCommand(io).parseAsync([...args], { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const { text, exitCode } = describeError(error);
    io.err(`${text}\n`);
    return exitCode;
  }
}

function createGrantCommand(io: Io): Command {
  const command = new Command('npm run grant --')
    .description('permit a machine to activate its components, without the Defender')
    .argument('<machine>', 'name of the Machine')
    .option('--settle', 'end the grant of the machine instead')
    .option('--minutes <number>', 'how long the permission lasts', createIntegerParser(1, 1440), 15)
    .addHelpText('after', HELP)
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.out(text), writeErr: (text) => io.err(text) });
  return addConnectionOptions(command).action(async (machine: string, flags: GrantFlags) => {
    await withGranter(io, flags, async (granter) => {
      if (flags.settle === true) {
        await granter.settle(machine);
        io.out(`${machine} has no grant\n`);
      } else io.out(`${describeGrant(machine, await granter.grantEntries(machine))}\n`);
    });
  });
}

export function describeGrant(machine: string, { entries, grant }: GrantedEntries): string {
  if (!grant) return `every component of ${machine} has a grant, or it has none: nothing to do`;
  return `${machine}: grant ${grant.id} until ${grant.notAfter} for ${entries.join(', ')}`;
}

async function withGranter(
  io: Io,
  flags: GrantFlags,
  use: (granter: Granter) => Promise<void>,
): Promise<void> {
  const clients: Client[] = [];
  const signIn = async (principal: string): Promise<Client> => {
    const client = await connect(await connectOptionsFor(io, flags, principal));
    clients.push(client);
    return client;
  };
  try {
    const [defender, componentset] = [await signIn(PRINCIPAL_DEFENDER), await signIn(PRINCIPAL_COMPONENTSET)];
    await use(createGranter({ defender, componentset, clock: io.clock, minutes: flags.minutes }));
  } finally {
    for (const client of clients) await client.close();
  }
}
