/** `kubenode defender ask` and `settle`: a person or a tool gets a grant for an act of their own, and gives it back. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { denialPage } from '../../../api/deny-reasons.ts';
import { RISKS, type Risk } from '../../../api/enums.ts';
import type { DefenderLedger, LedgerGrant } from '../../../api/generated/types.ts';
import type { Allowance, Denial, Grant, GrantAsk, GrantOutcome } from '../../../api/grants.ts';
import { isInFlight } from '../../../api/grants.ts';
import { KILL_SWITCH, LEDGER } from '../../../api/names.ts';
import { OTHER_ACTIONS } from '../../../api/steps/actions.ts';
import { type Action, defaultRisk, isAction } from '../../../api/steps/steps.ts';
import { timeOfServer } from '../../../defender/guards/view/self-doubt.ts';
import { grantOn, isSuspect } from '../../../defender/ledger/entries.ts';
import { printableLine } from '../../../kube/objects/printable.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';
import { setExitCode } from '../../exit.ts';
import { type DefenderSession, withDefender } from '../../fleet/defender-session.ts';
import type { Io } from '../../io.ts';
import { createIntegerParser } from '../../option-parsers.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../output.ts';

const ASK_HELP = `
Asks whether the act is safe now, and records the grant in your name before it answers. Begin the act before the grant ends, and
give it back with: kubenode defender settle MACHINE. Asking again for the same machine and action returns the grant that
you have. A denial names every reason, and exits with 3.

Needs the permission to impersonate kubenode-defender, which administrators have.

Example:
  kubenode defender ask node-a17 --action Reboot`;

interface AskFlags extends ConnectionFlags {
  readonly action: Action;
  readonly risk?: Risk;
  readonly expectedSeconds: number;
  readonly dryRun?: true;
  readonly output: OutputFormat;
}

export function createAskCommand(io: Io): Command {
  const command = new Command('ask')
    .description('ask for a grant to act on a machine yourself')
    .argument('<machine>', 'name of the Machine')
    .requiredOption('--action <action>', 'what you will do: the name of a step, such as Reboot', parseAction)
    .addOption(new Option('--risk <risk>', 'risk of the act (default: that of the step)').choices([...RISKS]))
    .option('--expected-seconds <n>', 'how long it will take', createIntegerParser(0, 86_400), 600)
    .option('--dry-run', 'only decide: record nothing')
    .addOption(createOutputOption())
    .addHelpText('after', ASK_HELP);
  return addConnectionOptions(command).action((machine: string, flags: AskFlags) =>
    withDefender(io, flags, (session) => ask(io, session, { machine, flags })),
  );
}

async function ask(
  io: Io,
  { defender, user }: DefenderSession,
  { machine, flags }: { readonly machine: string; readonly flags: AskFlags },
): Promise<void> {
  const request = createAsk(machine, flags, {
    user: user.name,
    nodeUID: defender.observer.facts().machine(machine)?.nodeUID,
    now: io.clock.now(),
  });
  const { ledger } = defender;
  const [answer] = flags.dryRun ? await ledger.dryRun([request]) : await ledger.ask([request]);
  if (!answer) throw new CliError('the Defender gave no answer');
  printResult(io, flags.output, answer, () => answerTable(machine, answer));
  if (answer.granted) return;
  const isKnown = defender.observer.facts().machine(machine) !== undefined;
  io.err(denialHints(answer, request, isKnown));
  setExitCode(io, EXIT.held);
}

export interface AskContext {
  readonly user: string;
  readonly nodeUID: string | undefined;
  readonly now: Date;
}

export function createAsk(
  machine: string,
  { action, risk, expectedSeconds }: Pick<AskFlags, 'action' | 'risk' | 'expectedSeconds'>,
  { user, nodeUID, now }: AskContext,
): GrantAsk {
  return {
    holder: { kind: 'Other', name: user },
    machine,
    ...(nodeUID === undefined ? {} : { nodeUID }),
    action,
    risk: risk ?? defaultRisk(action),
    factsAt: now,
    expectedSeconds,
  };
}

/** Where to read on, what to do, and who can answer. */
export function denialHints(
  denial: Denial,
  { machine, action, holder: { kind, name } }: GrantAsk,
  isKnown: boolean,
): string {
  const causes = [denial, ...denial.also];
  const isPending = causes.some(({ reason }) => reason === 'ApprovalPending');
  const isStopped = causes.some(({ policy }) => policy === KILL_SWITCH);
  const approve = `kubenode defender approve ${machine} --action ${action} --holder ${kind}/${name} --reason ...`;
  return [
    `hint: what each reason means: ${denialPage(denial.reason)}`,
    ...(isKnown ? [] : ['hint: list the machines of this cluster with: kubectl get machines']),
    ...(isStopped ? ['hint: an administrator resumes with: kubenode defender resume'] : []),
    ...(isPending ? [`hint: an approver answers with: ${approve}`] : []),
  ]
    .map((line) => `${printableLine(line)}\n`)
    .join('');
}

function answerTable(
  machine: string,
  answer: Grant | Denial | Allowance,
): ReturnType<Parameters<typeof printResult>[3]> {
  if (!answer.granted) {
    const causes = [answer, ...answer.also];
    return {
      columns: ['denied', 'policy', 'why', 'until'],
      rows: causes.map(({ reason, policy, message, until }) => [
        reason,
        policy ?? '-',
        message,
        until?.toISOString() ?? '-',
      ]),
    };
  }
  if ('dryRun' in answer) return { columns: ['granted', 'machine'], rows: [['dry run', machine]] };
  return {
    columns: ['granted', 'machine', 'fence', 'ends'],
    rows: [[answer.id, machine, String(answer.fence), answer.notAfter]],
  };
}

export function parseAction(text: string): Action {
  if (isAction(text)) return text;
  throw new InvalidArgumentError(
    `Unknown action. Use the name of a step, or one of: ${OTHER_ACTIONS.join(', ')}`,
  );
}

const SETTLE_HELP = `
Gives a grant back: your own, or one whose holder is past its end and whose state only a person knows.`;

const OUTCOMES: readonly GrantOutcome[] = ['Succeeded', 'Failed', 'Ambiguous', 'Unused'];

export function createSettleCommand(io: Io): Command {
  const command = new Command('settle')
    .description('give a grant back when the act is over')
    .argument('<machine>', 'name of the Machine')
    .addOption(
      new Option('--outcome <outcome>', 'how the act ended').choices([...OUTCOMES]).default('Succeeded'),
    )
    .addHelpText('after', SETTLE_HELP);
  return addConnectionOptions(command).action(
    (machine: string, flags: ConnectionFlags & { readonly outcome: GrantOutcome }) =>
      withDefender(io, flags, async ({ defender, user }) => {
        // The view of this kind holds ledgers.
        const ledger = defender.views['DefenderLedger']?.store.get(LEDGER) as DefenderLedger | undefined;
        const entry = grantOn(ledger?.spec.grants ?? {}, machine);
        // By a clock of this machine that is ahead, acts in work would be past their end.
        const now = timeOfServer(io.clock.now(), defender.observer.facts().view);
        const refusal = settleRefusal(entry, { machine, user: user.name, now });
        if (refusal || !entry) throw refusal ?? new CliError('no grant');
        const { id, fence } = entry;
        await defender.ledger.settle([{ id, fence, outcome: flags.outcome }]);
        io.out(`grant ${id} of machine ${machine} settled: ${flags.outcome}\n`);
      }),
  );
}

/** Why this person may not settle the grant. Pure. */
export function settleRefusal(
  entry: LedgerGrant | undefined,
  { machine, user, now }: { readonly machine: string; readonly user: string; readonly now: Date },
): CliError | undefined {
  if (!entry || !isInFlight(entry)) {
    return new CliError(`machine ${machine} has no grant in flight`, {
      hint: 'list the grants with: kubenode defender status',
      exitCode: EXIT.badInput,
    });
  }
  const { kind, name } = entry.holder;
  if ((kind === 'Other' && name === user) || isSuspect(entry, now)) return undefined;
  return new CliError(
    `grant ${entry.id} of machine ${machine} belongs to ${kind} ${name}, and ends at ${entry.notAfter}`,
    {
      hint: 'wait for its holder to settle it, or for its end',
      exitCode: EXIT.denied,
    },
  );
}
