/** Explains what happens on one machine, or does not, as the Defender and each controller would decide now. The command and the console use it. */
import type { DefenderLedgerSpec } from '../../../api/generated/types.ts';
import type { GrantAsk } from '../../../api/grants.ts';
import { LEDGER } from '../../../api/names.ts';
import { type Action, isStep, stepEntry } from '../../../api/steps/steps.ts';
import { type Decision, decideAsk } from '../../../defender/decide.ts';
import type { Defender } from '../../../defender/defender.ts';
import { explainMachine } from '../../../defender/explain.ts';
import type { CallWindow } from '../../../defender/facts/call-window.ts';
import type { MachineFacts } from '../../../defender/facts/facts.ts';
import type { ObservedViews } from '../../../defender/facts/observed-views.ts';
import { createLedgerUsage } from '../../../defender/ledger/usage.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import { listAt, textAt } from '../../../kube/objects/json.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { hintBeside } from '../../../views/fleet/unblock.ts';
import { viewProbes } from '../../../views/machine/probes.ts';
import type { Io } from '../../io.ts';
import { type ViewsOptions, withDefenderViews } from '../defender-session.ts';
import { explainAssignments } from './assignments.ts';
import { type MachineContent, readContent } from './content.ts';
import type { ExplainedMachine } from './format.ts';
import { readMaintenance } from './maintenance.ts';
import { noLedger, unknownMachine } from './missing.ts';
import { readNodeRules } from './node-rules.ts';
import { findUnreadable, readReported, unreadableParts } from './partial.ts';
import { askForPins, explainPins, type PinReason } from './pins.ts';
import { waitsOf } from './waits.ts';

export type ExplainIo = Pick<Io, 'clock' | 'signal' | 'err'>;

export interface ExplainConnection {
  /** The client with the rights of the person. */
  readonly client: Client;
  /** Fed by every call of the client: by them the Defender judges its own view. */
  readonly calls: CallWindow;
}

/** The actions that are asked about: a repair that takes the node down for a moment, and one that replaces it. */
const ACTIONS: readonly Action[] = ['Reboot', 'DeleteMachine'];

/** The rule name of the ask. It is not about one rule: limits that count each rule on its own count no rule. */
const ANY_RULE = 'any';

/** Names in the result what may not be read. Rejects if there is no Machine of this name, or it may not be read itself. */
export async function explainMachineNow(
  io: ExplainIo,
  connection: ExplainConnection,
  name: string,
  { wait }: Pick<ViewsOptions, 'wait'> = {},
): Promise<ExplainedMachine> {
  const { client } = connection;
  const { content, why } = await judgeOrReport(io, connection, name, optional('wait', wait));
  const [rules, maintenance] = await Promise.all([
    readNodeRules(io, client, name),
    readMaintenance(client, name, io.signal),
  ]);
  const unknown = [...(why.unknown ?? []), ...rules.unknown];
  return {
    ...why,
    rollouts: explainAssignments(content.assignments).map((each) => unblockedBeside(name, each)),
    rules: rules.views,
    maintenance,
    ...optional('unknown', unknown.length > 0 ? unknown : undefined),
  };
}

interface Judged {
  readonly content: MachineContent;
  readonly why: ExplainedMachine;
}

async function judgeOrReport(
  io: ExplainIo,
  connection: ExplainConnection,
  name: string,
  options: Pick<ViewsOptions, 'wait'>,
): Promise<Judged> {
  const { client } = connection;
  try {
    return await withDefenderViews(io, connection, (defender) => judge(io, client, defender, name), options);
  } catch (error) {
    if (!isKubeError(error, 'Forbidden')) throw error;
    const unreadable = await findUnreadable(client, io.signal);
    if (unreadable.length === 0) throw error;
    const reported = await readReported(io, client, name);
    const content = await readContent(io, client, name);
    const unknown = unreadableParts(unreadable);
    return { content, why: { ...reported, pins: pinReasons(content, undefined), unknown } };
  }
}

async function judge(io: ExplainIo, client: Client, defender: Defender, name: string): Promise<Judged> {
  const { observer, observed } = defender;
  const machine = observer.facts().machine(name);
  if (!machine) {
    throw await unknownMachine(io, client, { name, isNode: observed.nodes.store.get(name) !== undefined });
  }
  const ledger = observed.ledgers.store.get(LEDGER);
  if (!ledger) throw noLedger();
  const content = await readContent(io, client, name);
  return {
    content,
    why: explain(defender, { machine, ledger: ledger.spec }, { content, now: io.clock.now() }),
  };
}

interface Known {
  readonly machine: MachineFacts;
  readonly ledger: DefenderLedgerSpec;
}

interface Asked {
  readonly content: MachineContent;
  readonly now: Date;
}

function explain({ observer, observed }: Defender, known: Known, { content, now }: Asked): ExplainedMachine {
  const { machine, ledger } = known;
  const [policies, facts] = [observer.policies(), observer.facts()];
  const usage = createLedgerUsage({ policies, ledger, facts, now });
  // The ledger is only read: asking it, even for a dry run, may begin its recovery.
  const decide = (ask: GrantAsk): Decision => decideAsk({ policies, ledger, usage, facts, now }, ask);
  const update = askForPins(content.pins);
  const updated = update && decide(update);
  const why = explainMachine({
    machine,
    ...optional('readinessSince', readySince(observed, machine.name)),
    waits: waitsOf(observed, machine.name),
    ledger,
    facts,
    decisions: [
      ...(updated ? ([[update.action, updated]] as const) : []),
      ...ACTIONS.map((action) => [action, decide(repairAsk(machine, action, now))] as const),
    ],
    policies,
    now,
  });
  const probes = viewProbes(machine, (peer) => facts.machine(peer)?.peers, now);
  return { ...why, ...optional('probes', probes), pins: pinReasons(content, updated) };
}

function pinReasons({ pins }: MachineContent, decision: Decision | undefined): readonly PinReason[] {
  return explainPins(pins, decision).map((each) => unblockedBeside(pins.machine.metadata.name, each));
}

function unblockedBeside<T extends { readonly unblock: string }>(machine: string, reason: T): T {
  return { ...reason, unblock: hintBeside(machine, reason.unblock) };
}

/** Asks as a repair would: some limits are for repairs only. */
function repairAsk({ name: machine, nodeUID }: MachineFacts, action: Action, now: Date): GrantAsk {
  return {
    holder: { kind: 'RemedyOperationJob', name: `${machine}-why`, origin: ANY_RULE, revision: ANY_RULE },
    machine,
    ...optional('nodeUID', nodeUID),
    action,
    risk: isStep(action) ? stepEntry(action).risk : 'Machine',
    factsAt: now,
    expectedSeconds: 600,
  };
}

/** Returns the time since which the Node is Ready, as it last reported; absent without a Node. */
function readySince({ nodes }: ObservedViews, name: string): string | undefined {
  const conditions = listAt(nodes.store.get(name), 'status', 'conditions');
  return textAt(
    conditions.find((condition) => textAt(condition, 'type') === 'Ready'),
    'lastTransitionTime',
  );
}
