/** `kubenode machine power`: a person reads and switches the power of a host or of an instance. What interrupts pods needs a grant. */
import { Command, Option } from 'commander';
import { MACHINES } from '../../../../api/generated/resources.ts';
import type { DefenderLedger, Machine } from '../../../../api/generated/types.ts';
import type { GrantAsk, GrantOutcome } from '../../../../api/grants.ts';
import { LEDGER } from '../../../../api/names.ts';
import { defaultRisk } from '../../../../api/steps/steps.ts';
import { grantOn } from '../../../../defender/ledger/entries.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import type { BootDevice, PowerState, PowerWay } from '../../../../providers/power.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../../connection.ts';
import { CliError, EXIT } from '../../../errors.ts';
import { type DefenderSession, withDefender } from '../../../fleet/defender-session.ts';
import { readNamed, withCluster } from '../../../fleet/read.ts';
import type { Io } from '../../../io.ts';
import { createIntegerParser } from '../../../option-parsers.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../../output.ts';
import { BOOT_DEVICES, requireBootOnce, requireCycle, withBootOnce } from './boot-once.ts';
import { deniedError, inUseError, missedError } from './errors.ts';
import { wayOf, withPowerSwitch } from './open.ts';
import { printFingerprint } from './scan.ts';
import { switchInOrder } from './sequence.ts';

const HELP = `
Switches an instance of a cloud by its provider, and any other host by the BMC that its Machine, or its entry in a pool, names:
docs/guides/power.md. --off and --cycle end everything that runs on it, without a drain: they need a grant of the Defender, which is
recorded in your name. A denial names every reason, and exits with 3. --on is refused while a repair or another person acts on the
machine. The state is read back before the command ends.

An instance is switched with the credentials of this shell: those that kubenode provider check finds (docs/reference/providers).

Examples:
  kubenode machine power m-17
  kubenode machine power m-17 --cycle
  kubenode machine power m-17 --cycle --boot-once Pxe
  kubenode machine power web-3f2a --off --within-seconds 600
  kubenode machine power m-17 --scan https://10.0.7.17`;

interface PowerFlags extends ConnectionFlags {
  readonly state?: true;
  readonly off?: true;
  readonly on?: true;
  readonly cycle?: true;
  readonly scan?: string;
  readonly via?: PowerWay;
  readonly bootOnce?: BootDevice;
  readonly withinSeconds: number;
  readonly output: OutputFormat;
}

type PowerAction = 'PowerOff' | 'PowerOn' | 'PowerCycle';

const SEQUENCES: Readonly<Record<PowerAction, readonly ('On' | 'Off')[]>> = {
  PowerOff: ['Off'],
  PowerOn: ['On'],
  PowerCycle: ['Off', 'On'],
};

const WAYS = ['Provider', 'BMC'] as const satisfies readonly PowerWay[];

const CHOICES = ['state', 'off', 'on', 'cycle', 'scan'];

/** An option that excludes the other choices. */
function createChoice(name: string, text: string, value = ''): Option {
  return new Option(`--${name}${value}`, text).conflicts(CHOICES.filter((other) => other !== name));
}

export function createMachinePowerCommand(io: Io): Command {
  const command = new Command('power')
    .description('read or switch the power of a host or of an instance of a cloud')
    .argument('<machine>', 'name of the Machine')
    .addOption(createChoice('state', 'print the state, and change nothing (default)'))
    .addOption(createChoice('off', 'switch it off at once, without a drain'))
    .addOption(createChoice('on', 'switch it on'))
    .addOption(createChoice('cycle', 'switch it off, and on when it is off'))
    .addOption(
      createChoice('scan', 'print the fingerprint of the certificate of a BMC, for spec.bmc', ' <address>'),
    )
    .addOption(
      new Option(
        '--via <way>',
        'how it is switched (default: Provider for an instance of a cloud, else BMC)',
      ).choices(WAYS),
    )
    .addOption(
      new Option(
        '--boot-once <device>',
        'with --cycle by a BMC: what the host boots from, this time only',
      ).choices(BOOT_DEVICES),
    )
    .option(
      '--within-seconds <n>',
      'how long each state may take to be read back',
      createIntegerParser(5, 900),
      120,
    )
    .addOption(createOutputOption())
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action(async (name: string, flags: PowerFlags) => {
    if (flags.scan !== undefined) return await printFingerprint(io, flags.scan, flags.output);
    const action = actionOf(flags);
    requireCycle(flags.bootOnce, action);
    if (action === undefined) return await printState(io, name, flags);
    await withDefender(io, flags, (session) => switchMachine(io, session, { name, flags, action }));
  });
}

function actionOf({ off, on, cycle }: PowerFlags): PowerAction | undefined {
  if (off) return 'PowerOff';
  if (on) return 'PowerOn';
  return cycle ? 'PowerCycle' : undefined;
}

async function printState(io: Io, name: string, flags: PowerFlags): Promise<void> {
  const machine = await withCluster(io, flags, (client) => readNamed(client, MACHINES, name, io.signal));
  const way = wayOf(machine, flags.via);
  const state = await withPowerSwitch(io, flags, { machine, way }, (power) => power.state(io.signal));
  printPower(io, flags, { machine: name, way, state });
}

interface SwitchedMachine {
  readonly name: string;
  readonly flags: PowerFlags;
  readonly action: PowerAction;
}

async function switchMachine(
  io: Io,
  session: DefenderSession,
  { name, flags, action }: SwitchedMachine,
): Promise<void> {
  const machine = await readNamed(session.client, MACHINES, name, io.signal);
  const way = wayOf(machine, flags.via);
  await withPowerSwitch(io, flags, { machine, way }, async (power) => {
    // A switch that refuses, or is that of another host, needs no grant.
    await power.state(io.signal);
    requireBootOnce(name, power, flags.bootOnce);
    const limits = { clock: io.clock, signal: io.signal, withinMs: flags.withinSeconds * 1000 };
    const work = async (): Promise<void> => {
      const { state, missed } = await withBootOnce(power, { device: flags.bootOnce, signal: io.signal }, () =>
        switchInOrder(power, SEQUENCES[action], limits),
      );
      if (missed !== undefined) throw missedError(name, { state, missed });
      printPower(io, flags, { machine: name, way, state, action });
    };
    if (action === 'PowerOn') {
      requireUnused(session, name);
      await work();
    } else await withGrant(io, session, { machine, action, seconds: 2 * flags.withinSeconds }, work);
  });
}

/** To switch on interrupts nothing, and brings a machine back into service: it needs no grant, but no other act in work. */
function requireUnused({ defender, user }: DefenderSession, name: string): void {
  // The view of this kind holds ledgers.
  const ledger = defender.views['DefenderLedger']?.store.get(LEDGER) as DefenderLedger | undefined;
  const refusal = inUseError(name, grantOn(ledger?.spec.grants ?? {}, name), user.name);
  if (refusal) throw refusal;
}

interface GrantedAct {
  readonly machine: Machine;
  readonly action: 'PowerOff' | 'PowerCycle';
  readonly seconds: number;
}

/** Asks before the work, and settles after it. What failed may have happened: the machine is Ambiguous then. */
async function withGrant(
  io: Io,
  { defender, user }: DefenderSession,
  { machine, action, seconds }: GrantedAct,
  work: () => Promise<void>,
): Promise<void> {
  const { name } = machine.metadata;
  const request: GrantAsk = {
    holder: { kind: 'Other', name: user.name },
    machine: name,
    ...optional('nodeUID', defender.observer.facts().machine(name)?.nodeUID),
    action,
    risk: defaultRisk(action),
    factsAt: io.clock.now(),
    expectedSeconds: seconds,
  };
  const [answer] = await defender.ledger.ask([request]);
  if (!answer) throw new CliError('the Defender gave no answer', { exitCode: EXIT.unavailable });
  if (!answer.granted) throw deniedError(name, answer);
  const { id, fence } = answer;
  let outcome: GrantOutcome = 'Ambiguous';
  try {
    await work();
    outcome = 'Succeeded';
  } finally {
    await defender.ledger.settle([{ id, fence, outcome }]);
  }
}

interface PowerReport {
  readonly machine: string;
  readonly way: PowerWay;
  readonly state: PowerState;
  readonly action?: PowerAction;
}

function printPower(io: Io, { output }: PowerFlags, report: PowerReport): void {
  const { machine, way, state } = report;
  printResult(io, output, report, () => ({
    columns: ['machine', 'power', 'by'],
    rows: [[machine, state, way]],
  }));
}
