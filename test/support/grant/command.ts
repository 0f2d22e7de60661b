/** `npm run grant -- MACHINE` */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import {
  PRINCIPAL_COMPONENTSET,
  PRINCIPAL_DEFENDER,
  PRINCIPAL_REMEDY,
  PRINCIPAL_REMEDYJOB,
} from '../../../src/api/names.ts';
import { STEPS, type Step, stepEntry, stepInputProblems } from '../../../src/api/steps/steps.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../../src/cli/connection.ts';
import { CliError, describeError, EXIT, type ExitCode } from '../../../src/cli/errors.ts';
import type { Io } from '../../../src/cli/io.ts';
import { createIntegerParser } from '../../../src/cli/option-parsers.ts';
import { connectOptionsFor } from '../../../src/cli/principal.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { connect } from '../../../src/kube/client/connect.ts';
import { isKubeError } from '../../../src/kube/client/errors.ts';
import { isRecord } from '../../../src/kube/objects/json.ts';
import { createGranter, type GrantedEntries, type Granter } from '../granter.ts';
import { createRepairer, type RepairRequest } from '../repairs.ts';

const HELP = `
Gives a Machine permission to activate its components, in place of the Defender and the component set controller: it asks
no budget, window or breaker. For development and tests only. It acts as their accounts, which an administrator may.

  npm run grant -- n1            every component of n1 that has no grant for its content gets one
  npm run grant -- n1 --settle   the grant of n1 ends

With --step it runs one step of a repair instead, in place of the rule, the Defender and the job controller: it creates a job,
releases the step for a minute, and prints the answer of the agent. The machine needs a Node.

  npm run grant -- n1 --step RestartService --with '{"service": "kubelet"}'
  npm run grant -- n1 --step Reboot`;

interface GrantFlags extends ConnectionFlags {
  readonly step?: Step;
  readonly with: Readonly<Record<string, unknown>>;
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
    .addOption(new Option('--step <name>', 'run this step of a repair instead').choices(AGENT_STEPS))
    .option('--with <json>', 'input of the step', parseInput, {})
    .option('--minutes <number>', 'how long the permission lasts', createIntegerParser(1, 1440), 15)
    .addHelpText('after', HELP)
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.out(text), writeErr: (text) => io.err(text) });
  return addConnectionOptions(command).action(async (machine: string, flags: GrantFlags) => {
    await withGranter(io, flags, async (granter, signIn) => {
      if (flags.step) await runStep(io, { machine, step: flags.step, with: flags.with }, { granter, signIn });
      else if (flags.settle === true) await settle(io, machine, { granter, signIn });
      else io.out(`${describeGrant(machine, await granter.grantEntries(machine))}\n`);
    });
  });
}

const AGENT_STEPS = STEPS.filter((step) => stepEntry(step).executor === 'Agent');

function parseInput(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // The message is the same.
  }
  throw new InvalidArgumentError(`Expected a JSON object, got ${text}.`);
}

type SignIn = (principal: string) => Promise<Client>;

async function runStep(io: Io, request: RepairRequest, { granter, signIn }: SignedIn): Promise<void> {
  const [problem] = stepInputProblems(request.step, request.with);
  if (problem) {
    throw new CliError(`--with is not an input of ${request.step}: ${problem.path}: ${problem.message}`, {
      exitCode: EXIT.badInput,
    });
  }
  const [remedy, remedyjob] = [await signIn(PRINCIPAL_REMEDY), await signIn(PRINCIPAL_REMEDYJOB)];
  const defender = await signIn(PRINCIPAL_DEFENDER);
  const repairer = createRepairer({ granter, defender, remedy, remedyjob, clock: io.clock });
  const job = await repairer.release(request);
  io.err(`${job}: step ${request.step} is released\n`);
  const { state, code, message = '', output } = await repairer.answered(job, ANSWER_SECONDS);
  await repairer.finish(job, state);
  await granter.settle(request.machine);
  io.out(
    `${state}${code === undefined ? '' : ` ${code}`}: ${message}\n${output === undefined ? '' : `${output}\n`}`,
  );
  if (state !== 'Succeeded') throw new CliError(`the step ended as ${state}`, { where: `job ${job}` });
}

interface SignedIn {
  readonly granter: Granter;
  readonly signIn: SignIn;
}

/** The job first: until it has ended, its grant is in work. */
async function settle(io: Io, machine: string, { granter, signIn }: SignedIn): Promise<void> {
  const grant = await granter.find(machine);
  if (!grant) {
    io.out(`${machine} has no grant\n`);
    return;
  }
  if (grant.holder.kind === 'RemedyOperationJob') {
    const [remedy, remedyjob] = [await signIn(PRINCIPAL_REMEDY), await signIn(PRINCIPAL_REMEDYJOB)];
    const defender = await signIn(PRINCIPAL_DEFENDER);
    const repairer = createRepairer({ granter, defender, remedy, remedyjob, clock: io.clock });
    await repairer.finish(grant.holder.name, 'Ambiguous').catch((error: unknown) => {
      if (!isKubeError(error, 'NotFound')) throw error;
    });
  }
  await granter.settle(machine);
  io.out(`${machine}: grant ${grant.id} is settled\n`);
}

/** A release lives a minute, a step two. */
const ANSWER_SECONDS = 200;

export function describeGrant(machine: string, { entries, grant }: GrantedEntries): string {
  if (!grant) return `every component of ${machine} has a grant, or it has none: nothing to do`;
  return `${machine}: grant ${grant.id} until ${grant.notAfter} for ${entries.join(', ')}`;
}

async function withGranter(
  io: Io,
  flags: GrantFlags,
  use: (granter: Granter, signIn: SignIn) => Promise<void>,
): Promise<void> {
  const clients: Client[] = [];
  const signIn: SignIn = async (principal) => {
    const client = await connect(await connectOptionsFor(io, flags, principal));
    clients.push(client);
    return client;
  };
  try {
    const [defender, componentset] = [await signIn(PRINCIPAL_DEFENDER), await signIn(PRINCIPAL_COMPONENTSET)];
    await use(createGranter({ defender, componentset, clock: io.clock, minutes: flags.minutes }), signIn);
  } finally {
    for (const client of clients) await client.close();
  }
}
