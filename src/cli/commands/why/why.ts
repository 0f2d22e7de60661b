/** `kubenode why`: why something happens to a node, or does not. Reads objects only, with the rights of the person. */
import { Argument, Command } from 'commander';
import { MACHINES } from '../../../api/generated/resources.ts';
import type { DefenderLedgerSpec } from '../../../api/generated/types.ts';
import type { GrantAsk } from '../../../api/grants.ts';
import { LEDGER } from '../../../api/names.ts';
import { type Action, isStep, stepEntry } from '../../../api/steps/steps.ts';
import { type Decision, decideAsk } from '../../../defender/decide.ts';
import type { Defender } from '../../../defender/defender.ts';
import { explainMachine, type MachineExplanation, type ObjectWait } from '../../../defender/explain.ts';
import type { MachineFacts } from '../../../defender/facts/facts.ts';
import type { ObservedViews } from '../../../defender/facts/observed-views.ts';
import { createLedgerUsage } from '../../../defender/ledger/usage.ts';
import type { Client } from '../../../kube/client/client.ts';
import { listAt, ownValue, textAt } from '../../../kube/objects/json.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';
import { readNodeOf } from '../../fleet/machine-context.ts';
import { readNamed, withCluster } from '../../fleet/read.ts';
import { ruleWaitHint } from '../../fleet/rule-wait-hints.ts';
import type { Io } from '../../io.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../output.ts';
import { withDefender } from '../defender/session.ts';
import { type AssignmentReason, explainAssignments } from './assignments.ts';
import { formatWhy } from './format.ts';
import { whyJob } from './job.ts';
import { readMaintenance } from './maintenance.ts';
import { readNodeRules } from './node-rules.ts';
import { readSetsAndVersions } from './read-fleet.ts';
import { whyRollout } from './rollout.ts';

const HELP = `
For a job: what it repairs, when what happened, its steps, the rule behind it with its commit, and what comes if it fails.
For a rollout: what the set waits for, and each of its machines that is not settled at the revision, counted by reason.
For a node or machine: why it is not at the revision of its component sets, which self-healing rules match it or are held or indeterminate and why, what each of them and the node wait for, announced maintenance, the act that is in flight on it, and whether a repair of it would be permitted now: each limit,
window, breaker or hold that denies it, with the acts on other machines that use up the limit.
Reads objects only, so it works while the controllers are down, and changes nothing. Exits with 0 also when everything is denied.

Examples:
  kubenode why node node-a17
  kubenode why machine node-a17 -o json
  kubenode why rollout general-nodes
  kubenode why job node-a17-kernel-hang-7c1f02ab-r1-a1`;

const SUBJECTS = ['node', 'machine', 'rollout', 'job'] as const;
/** A repair that takes the node down for a moment, and one that replaces it. */
const ACTIONS: readonly Action[] = ['Reboot', 'DeleteMachine'];

/** What is asked is not about one rule: limits that count each rule on its own count none. */
const ANY_RULE = 'any';

/** What is explained from the objects alone, without the view of the Defender. */
const OBJECTS: Readonly<Record<string, typeof whyRollout>> = { rollout: whyRollout, job: whyJob };

interface WhyFlags extends ConnectionFlags {
  readonly output: OutputFormat;
}

export function createWhyCommand(io: Io): Command {
  const command = new Command('why')
    .description('explain why something happens to a machine, in a rollout or in a repair, or does not')
    .addArgument(new Argument('<kind>', 'what to explain').choices(SUBJECTS))
    .argument('<name>', 'name of the Node and its Machine, of the MachineComponentSet, or of the job')
    .addOption(createOutputOption())
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action((kind: string, name: string, flags: WhyFlags) => {
    const whyObject = OBJECTS[kind];
    return whyObject
      ? withCluster(io, flags, (client) => whyObject(io, client, name, flags.output))
      : whyMachine(io, name, flags);
  });
}

async function whyMachine(io: Io, name: string, flags: WhyFlags): Promise<void> {
  await withDefender(
    io,
    flags,
    async ({ defender, client }) => {
      const now = io.clock.now();
      const why = explain(defender, name, now);
      const rollouts = await explainRollouts(io, client, name);
      const maintenance = await readMaintenance(client, name, io.signal);
      const explained = { ...why, rollouts, rules: await readNodeRules(io, client, name), maintenance };
      if (flags.output === 'table') io.out(formatWhy(explained, now));
      else printResult(io, flags.output, explained, () => ({ columns: [], rows: [] }));
    },
    { as: 'person' },
  );
}

/** The view of the Defender has no owners of fields, by which pins are known. */
async function explainRollouts(io: Io, client: Client, name: string): Promise<readonly AssignmentReason[]> {
  const { signal, clock } = io;
  const machine = await readNamed(client, MACHINES, name, signal);
  const [{ sets, find, classOf, grants }, node] = await Promise.all([
    readSetsAndVersions(client, signal),
    readNodeOf(client, name, signal),
  ]);
  return explainAssignments({
    machine,
    node,
    grant: ownValue(grants, name),
    sets,
    find,
    classOf,
    now: clock.now(),
  });
}

function explain(defender: Defender, name: string, now: Date): MachineExplanation {
  const { observer, observed } = defender;
  const facts = observer.facts();
  const machine = facts.machine(name);
  if (!machine) throw unknownMachine(name, observed.nodes.store.get(name) !== undefined);
  const ledger = observed.ledgers.store.get(LEDGER);
  if (!ledger) throw noLedger();
  const { spec } = ledger;
  const waits = waitsOf(observed, name);
  return explainMachine({
    machine,
    ...optional('readinessSince', readySince(observed, name)),
    waits,
    ledger: spec,
    facts,
    decisions: decisionsFor(defender, spec, machine, now),
    policies: observer.policies(),
    now,
  });
}

/** As a repair would ask, some limits are for repairs only. The ledger is only read: asking it, even for a dry run, may begin its recovery. */
function decisionsFor(
  { observer }: Defender,
  ledger: DefenderLedgerSpec,
  { name: machine, nodeUID }: MachineFacts,
  now: Date,
): readonly (readonly [Action, Decision])[] {
  const [policies, facts] = [observer.policies(), observer.facts()];
  const usage = createLedgerUsage({ policies, ledger, facts, now });
  return ACTIONS.map((action) => {
    const ask: GrantAsk = {
      holder: { kind: 'RemedyOperationJob', name: `${machine}-why`, origin: ANY_RULE, revision: ANY_RULE },
      machine,
      ...optional('nodeUID', nodeUID),
      action,
      risk: isStep(action) ? stepEntry(action).risk : 'Machine',
      factsAt: now,
      expectedSeconds: 600,
    };
    return [action, decideAsk({ policies, ledger, usage, facts, now }, ask)];
  });
}

/** As the Node last reported it; absent without a Node. */
function readySince({ nodes }: ObservedViews, name: string): string | undefined {
  const conditions = listAt(nodes.store.get(name), 'status', 'conditions');
  return textAt(
    conditions.find((condition) => textAt(condition, 'type') === 'Ready'),
    'lastTransitionTime',
  );
}

function waitsOf(views: ObservedViews, name: string): readonly ObjectWait[] {
  const { machines, jobs } = views;
  const own = [machines.store.get(name)].flatMap((machine) => machine ?? []);
  const ofIt = [...jobs.store.list()].filter(({ spec }) => spec.machine.name === name);
  const waits = [...own, ...ofIt].flatMap(({ kind, metadata, status }) => {
    if (!status?.waiting) return [];
    const { reason, since, message } = status.waiting;
    return { object: `${kind} ${metadata.name}`, reason, since, ...optional('message', message) };
  });
  return [...ruleWaits(views, name), ...waits, ...approvalWaits(views, name)];
}

/** Why rules that found a fault, or know too little, begin no repair: as the leading controllers recorded it. */
function ruleWaits({ machines }: ObservedViews, name: string): readonly ObjectWait[] {
  const waiting = machines.store.get(name)?.status?.remedyWaits ?? [];
  return waiting
    .toSorted((a, b) => (a.rule < b.rule ? -1 : 1))
    .map(({ rule, ...wait }) => ({
      object: `NodeRemedier ${rule}`,
      ...wait,
      ...optional('unblock', ruleWaitHint(wait.reason, rule, name)),
    }));
}

/** Acts that wait for the answer of a person, as the leading controllers heard them. */
function approvalWaits({ ledgers }: ObservedViews, name: string): readonly ObjectWait[] {
  const waiting = ledgers.store.get(LEDGER)?.status?.approvals ?? [];
  return waiting
    .filter(({ machine }) => machine === name)
    .map(({ action, holder, since, message }) => ({
      object: `${action} by ${holder.kind} ${holder.name}`,
      reason: 'ApprovalPending',
      since,
      ...optional('message', message),
    }));
}

function unknownMachine(name: string, isNode: boolean): CliError {
  return isNode
    ? new CliError(`Node ${name} has no Machine: kubenode does not manage it`, {
        hint: 'declare it in a MachineSet; nothing acts on it until then',
        exitCode: EXIT.badInput,
      })
    : new CliError(`there is no Machine ${name}, and no Node of that name`, {
        hint: 'list them with: kubectl get machines,nodes',
        exitCode: EXIT.badInput,
      });
}

function noLedger(): CliError {
  return new CliError(`DefenderLedger ${LEDGER} does not exist`, {
    hint: 'run `kubenode install`; the controllers recreate a ledger that was deleted, and deny everything for 300 s',
    exitCode: EXIT.unavailable,
  });
}
