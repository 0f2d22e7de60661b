/** Runs `kubenode why machine`: explains what happens on one machine, or does not, as the Defender and each controller would decide now. */
import { MACHINES } from '../../../api/generated/resources.ts';
import type { DefenderLedgerSpec } from '../../../api/generated/types.ts';
import type { GrantAsk } from '../../../api/grants.ts';
import { LEDGER } from '../../../api/names.ts';
import { type Action, isStep, stepEntry } from '../../../api/steps/steps.ts';
import { type Decision, decideAsk } from '../../../defender/decide.ts';
import type { Defender } from '../../../defender/defender.ts';
import { explainMachine } from '../../../defender/explain.ts';
import type { MachineFacts } from '../../../defender/facts/facts.ts';
import type { ObservedViews } from '../../../defender/facts/observed-views.ts';
import { createLedgerUsage } from '../../../defender/ledger/usage.ts';
import type { Client } from '../../../kube/client/client.ts';
import { listAt, ownValue, textAt } from '../../../kube/objects/json.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { hintBeside } from '../../../views/fleet/unblock.ts';
import { viewProbes } from '../../../views/machine/probes.ts';
import type { ConnectionFlags } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';
import { withDefender } from '../../fleet/defender-session.ts';
import { hubHint } from '../../fleet/hub.ts';
import { readNodeOf } from '../../fleet/machine-context.ts';
import { readNamed } from '../../fleet/read.ts';
import { readSetsAndVersions } from '../../fleet/rollout-facts.ts';
import type { Io } from '../../io.ts';
import { type OutputFormat, printResult } from '../../output.ts';
import { type AssignmentsInput, explainAssignments } from './assignments.ts';
import { type ExplainedMachine, formatWhy } from './format.ts';
import { readMaintenance } from './maintenance.ts';
import { readNodeRules } from './node-rules.ts';
import { askForPins, explainPins, type PinsInput } from './pins.ts';
import { waitsOf } from './waits.ts';

/** The actions that are asked about: a repair that takes the node down for a moment, and one that replaces it. */
const ACTIONS: readonly Action[] = ['Reboot', 'DeleteMachine'];

/** The rule name of the ask. It is not about one rule: limits that count each rule on its own count no rule. */
const ANY_RULE = 'any';

export interface WhyFlags extends ConnectionFlags {
  readonly output: OutputFormat;
}

export async function whyMachine(io: Io, name: string, flags: WhyFlags): Promise<void> {
  await withDefender(
    io,
    flags,
    async ({ defender, client }) => {
      const hint = await hubHint(client, io.signal);
      const known = knownMachine(defender, name, hint);
      const { assignments, pins } = await readContent(io, client, name);
      const now = io.clock.now();
      const explained = {
        ...explain(defender, known, { pins, now }),
        rollouts: explainAssignments(assignments).map((each) => unblockedBeside(name, each)),
        rules: await readNodeRules(io, client, name),
        maintenance: await readMaintenance(client, name, io.signal),
      };
      if (flags.output === 'table') io.out(formatWhy(explained, now));
      else printResult(io, flags.output, explained, () => ({ columns: [], rows: [] }));
    },
    { as: 'person' },
  );
}

interface Content {
  readonly assignments: AssignmentsInput;
  readonly pins: PinsInput;
}

/** Reads the Machine again, and what assigns content to it: the view of the Defender has no owners of fields, by which pins are known. */
async function readContent({ signal, clock }: Io, client: Client, name: string): Promise<Content> {
  const machine = await readNamed(client, MACHINES, name, signal);
  const [{ sets, find, findInstalled, classOf, compatOf, grants }, node] = await Promise.all([
    readSetsAndVersions(client, signal),
    readNodeOf(client, name, signal),
  ]);
  const shared = { machine, node, grant: ownValue(grants, name), now: clock.now() };
  return {
    assignments: { ...shared, sets, find, classOf, compatOf },
    pins: { ...shared, find: findInstalled },
  };
}

interface Known {
  readonly machine: MachineFacts;
  readonly ledger: DefenderLedgerSpec;
}

function knownMachine({ observer, observed }: Defender, name: string, hint: string | undefined): Known {
  const machine = observer.facts().machine(name);
  if (!machine) throw unknownMachine(name, { isNode: observed.nodes.store.get(name) !== undefined, hint });
  const ledger = observed.ledgers.store.get(LEDGER);
  if (!ledger) throw noLedger();
  return { machine, ledger: ledger.spec };
}

interface Asked {
  readonly pins: PinsInput;
  readonly now: Date;
}

function explain({ observer, observed }: Defender, known: Known, { pins, now }: Asked): ExplainedMachine {
  const { machine, ledger } = known;
  const [policies, facts] = [observer.policies(), observer.facts()];
  const usage = createLedgerUsage({ policies, ledger, facts, now });
  // The ledger is only read: asking it, even for a dry run, may begin its recovery.
  const decide = (ask: GrantAsk): Decision => decideAsk({ policies, ledger, usage, facts, now }, ask);
  const update = askForPins(pins);
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
  const own = explainPins(pins, updated).map((each) => unblockedBeside(machine.name, each));
  const probes = viewProbes(machine, (peer) => facts.machine(peer)?.peers, now);
  return { ...why, ...optional('probes', probes), pins: own };
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

function unknownMachine(
  name: string,
  { isNode, hint }: { readonly isNode: boolean; readonly hint: string | undefined },
): CliError {
  return isNode
    ? new CliError(`Node ${name} has no Machine: kubenode does not manage it`, {
        hint: 'declare it in a MachineSet; nothing acts on it until then',
        exitCode: EXIT.badInput,
      })
    : new CliError(`there is no Machine ${name}, and no Node of that name`, {
        hint: hint ?? 'list them with: kubenode machine list',
        exitCode: EXIT.badInput,
      });
}

function noLedger(): CliError {
  return new CliError(`DefenderLedger ${LEDGER} does not exist`, {
    hint: 'run `kubenode install`; the controllers recreate a ledger that was deleted, and deny everything for 300 s',
    exitCode: EXIT.unavailable,
  });
}
