/** `kubenode defender approve` and `refuse`: a person answers an act that waits for an approval. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { HOLDERS, RISKS, type Risk } from '../../../api/enums.ts';
import type { DefenderLedger, LedgerApproval, LedgerPendingApproval } from '../../../api/generated/types.ts';
import { GROUP, LEDGER } from '../../../api/names.ts';
import { APPROVALS } from '../../../api/roles/people.ts';
import type { Action } from '../../../api/steps/steps.ts';
import { findAct } from '../../../defender/approvals/find-act.ts';
import { type ApprovableAct, type ApprovalRefusal, planAnswer } from '../../../defender/approvals/plan.ts';
import { LedgerNotWritten } from '../../../defender/ledger/ledger.ts';
import type { Client } from '../../../kube/client/client.ts';
import { valueAt } from '../../../kube/objects/json.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { type Table } from '../../../views/text/table.ts';
import { addConnectionOptions } from '../../connection.ts';
import { CliError, EXIT, type ExitCode } from '../../errors.ts';
import { type DefenderSession, withDefender } from '../../fleet/defender-session.ts';
import type { Io } from '../../io.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../output.ts';
import { parseAction } from './ask.ts';
import { readControlPlane } from './control-plane.ts';
import { addDefenderHttpOptions, type DefenderHttpFlags, postToDefender } from './http.ts';
import { parseReason } from './reason.ts';

const HELP = `
Answers the act that waits on the machine, as kubenode defender status lists it. Name the act with --action and --holder when
several wait, or to answer before it is asked for. You must be in a group of each approval rule of the DefenderPolicies that
requires an answer. The answer counts once, for timeoutSeconds of the rule. An approval can be taken back by refusing.

Needs the permission to impersonate kubenode-defender, which administrators have. Without it, use --http with a token for the HTTP
API: docs/guides/http-api.md.

Example:
  kubenode defender approve node-a17 --reason "backup of the data is complete"`;

type Decision = LedgerApproval['decision'];

interface Flags extends DefenderHttpFlags {
  readonly reason: string;
  readonly action?: Action;
  readonly holder?: ApprovableAct['holder'];
  readonly risk?: Risk;
  readonly output: OutputFormat;
}

export function createApproveCommand(io: Io): Command {
  return createAnswerCommand(io, 'Approved', {
    name: 'approve',
    description: 'approve an act that waits for the answer of a person',
  });
}

export function createRefuseCommand(io: Io): Command {
  return createAnswerCommand(io, 'Refused', {
    name: 'refuse',
    description: 'refuse an act that waits for the answer of a person, or take an approval back',
  });
}

function createAnswerCommand(
  io: Io,
  decision: Decision,
  { name, description }: { readonly name: string; readonly description: string },
): Command {
  const command = new Command(name)
    .description(description)
    .argument('<machine>', 'name of the Machine')
    .requiredOption('--reason <text>', 'why: recorded with your name', parseReason)
    .option('--action <action>', 'the act, if it is not the only one that waits', parseAction)
    .option('--holder <kind/name>', 'who asks, such as RemedyOperationJob/node-a17-hang', parseHolder)
    .addOption(
      new Option('--risk <risk>', 'risk of --action (default: that of the step)').choices([...RISKS]),
    )
    .addOption(createOutputOption())
    .addHelpText('after', HELP);
  return addConnectionOptions(addDefenderHttpOptions(command)).action((machine: string, flags: Flags) =>
    answer(io, { machine, decision, flags }),
  );
}

interface Answer {
  readonly machine: string;
  readonly decision: Decision;
  readonly flags: Flags;
}

async function answer(io: Io, given: Answer): Promise<void> {
  const { flags, machine } = given;
  const recorded =
    flags.http === undefined ? await answerAsDefender(io, given) : await answerByHttp(io, given);
  printResult(io, flags.output, { machine, ...recorded }, () => answerTable(machine, recorded));
}

async function answerByHttp(io: Io, { machine, decision, flags }: Answer): Promise<LedgerApproval> {
  const { reason, action, holder, risk } = flags;
  const named = { ...optional('action', action), ...optional('holder', holder), ...optional('risk', risk) };
  const body = { machine, decision, reason, ...named };
  // The schema of the answer is that of an approval.
  return (await postToDefender(io, flags, { path: '/v1/approve', body })) as LedgerApproval;
}

async function answerAsDefender(io: Io, { machine, decision, flags }: Answer): Promise<LedgerApproval> {
  return withDefender(io, flags, async (session) => {
    const { client, defender, user } = session;
    await checkPermission(client, io.signal);
    // The view of this kind holds ledgers.
    const ledger = defender.views['DefenderLedger']?.store.get(LEDGER) as DefenderLedger | undefined;
    const act = actToAnswer(ledger?.status?.approvals ?? [], { ...flags, machine });
    const facts = defender.observer.facts();
    const controlPlane = await readControlPlane(client, machine, io.signal);
    const plan = planAnswer(
      act,
      { decision, reason: flags.reason, user },
      {
        policies: defender.observer.policies(),
        machine: (name) => controlPlane ?? facts.machine(name),
        approvals: ledger?.spec.approvals ?? {},
        now: io.clock.now(),
      },
    );
    if (!plan.isPermitted) throw refusal(plan.reason, plan.message);
    await record(session, machine, plan.approval);
    return plan.approval;
  });
}

function answerTable(
  machine: string,
  { action, holderKind = 'Other', holder, decision, by, until }: LedgerApproval,
): Table {
  return {
    columns: ['machine', 'action', 'holder', 'decision', 'by', 'until', 'next'],
    rows: [[machine, action, `${holderKind} ${holder}`, decision, by, until, nextStep(decision)]],
  };
}

function nextStep(decision: Decision): string {
  return decision === 'Approved'
    ? 'the next ask is granted once, unless a limit denies it'
    : 'every ask is denied until then';
}

async function record(
  { defender }: DefenderSession,
  machine: string,
  approval: LedgerApproval,
): Promise<void> {
  try {
    await defender.ledger.recordApproval(machine, approval);
  } catch (error) {
    if (!(error instanceof LedgerNotWritten) || error.denial.reason !== 'ApprovalRefused') throw error;
    throw refusal('AlreadyAnswered', error.denial.message);
  }
}

/** Without it, the impersonation alone would be enough to answer. The HTTP API checks the same. */
async function checkPermission(client: Client, signal: AbortSignal): Promise<void> {
  const [resource = '', subresource = ''] = APPROVALS.split('/');
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: REVIEWS.kind,
    metadata: { name: '' },
    spec: { resourceAttributes: { group: GROUP, resource, subresource, verb: 'create' } },
  };
  const found = await client.create(REVIEWS, review, { signal });
  if (valueAt(found, 'status', 'allowed') === true) return;
  throw new CliError(`you do not have the permission to create ${APPROVALS}.${GROUP}`, {
    hint: 'ask for the ClusterRole kubenode-operator',
    exitCode: EXIT.denied,
  });
}

const REVIEWS = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
  namespaced: false,
};

const NAME_IT = 'name the act with --action ACTION --holder KIND/NAME';

/** The act that the flags name, or the only one that waits. */
export function actToAnswer(
  pending: readonly LedgerPendingApproval[],
  named: Parameters<typeof findAct>[1],
): ApprovableAct {
  const found = findAct(pending, named);
  if ('act' in found) return found.act;
  const hint =
    found.reason === 'SeveralWait'
      ? NAME_IT
      : `list what waits with: kubenode defender status. To answer what the controllers did not hear, ${NAME_IT}`;
  throw new CliError(found.message, { hint, exitCode: EXIT.badInput });
}

const HINTS: Readonly<Record<ApprovalRefusal, { readonly hint: string; readonly exitCode: ExitCode }>> = {
  UnknownMachine: { hint: 'list them with: kubectl get machines', exitCode: EXIT.badInput },
  NothingToApprove: { hint: 'no action required: ask for the grant', exitCode: EXIT.badInput },
  NotApprover: { hint: 'let a member of one of these groups answer', exitCode: EXIT.denied },
  AlreadyAnswered: {
    hint: 'an approval is taken back with: kubenode defender refuse. A refusal holds until it ends',
    exitCode: EXIT.failed,
  },
};

function refusal(reason: ApprovalRefusal, message: string): CliError {
  return new CliError(message, HINTS[reason]);
}

export function parseHolder(text: string): ApprovableAct['holder'] {
  const [kind = '', ...rest] = text.split('/');
  const known = HOLDERS.find((each) => each === kind);
  const name = rest.join('/');
  if (known && name !== '') return { kind: known, name };
  throw new InvalidArgumentError(`Expected KIND/NAME, where KIND is one of: ${HOLDERS.join(', ')}`);
}
