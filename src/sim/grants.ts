/** Holders ask, and begin the acts that are granted. */
import type { LedgerGrant } from '../api/generated/types.ts';
import { type Denial, type Grant, type GrantAsk, grantFromEntry } from '../api/grants.ts';
import type { LedgerAttempts } from '../defender/ledger/attempt.ts';
import type { LedgerAnswer } from '../defender/ledger/requests.ts';
import { drawAsks, rememberAsk, scenarioAsks } from './asks.ts';
import { isUnderCause } from './causes.ts';
import { beginAct, isOn, type SimulatedMachine } from './fleet.ts';
import { brokenPromises } from './invariants.ts';
import {
  beginRuleAct,
  isBeyondFirstWave,
  type RuleVersions,
  versionAt,
} from './machines/judge/rule-versions.ts';
import { anyReplica, isNode, type SimulationRun } from './run.ts';
import type { Scenario } from './scenario.ts';
import { allowanceAfterStorm } from './storms.ts';

/** The asks of one step go to all replicas at once. */
export async function decideAsks(run: SimulationRun, scenario?: Scenario): Promise<void> {
  const { fleet, ill, random, replicas, denials, ruleVersions } = run;
  const drawn = scenario
    ? scenarioAsks(fleet, ill.values(), random, scenario)
    : drawAsks(fleet, ill.values(), random);
  const asks = ruleVersions ? drawn.map((ask) => withVersionOfRule(ask, ruleVersions, fleet.nowMs)) : drawn;
  const shares = replicas.map((_, replica) =>
    asks.filter((__, order) => order % replicas.length === replica),
  );
  const answers = await Promise.all(shares.map((share, replica) => askAll(replicas[replica], share)));
  const granted = answers.flat().filter(({ ask }) => ask);
  for (const { ask, answer } of granted) {
    if ('reason' in answer) denials[answer.reason] = (denials[answer.reason] ?? 0) + 1;
    // A holder that crashes here asks again, and finds its grant.
    // oxlint-disable-next-line no-await-in-loop -- one act after the other
    else if (!random.chance(0.1)) await begin(run, ask, answer);
  }
}

function withVersionOfRule(ask: GrantAsk, versions: RuleVersions, nowMs: number): GrantAsk {
  if (ask.holder.kind !== 'RemedyOperationJob') return ask;
  return { ...ask, ruleDigest: versionAt(versions, nowMs) };
}

/** The holder renews before the disruptive step; only then the act begins. */
async function begin(run: SimulationRun, ask: GrantAsk, { id, fence }: Grant): Promise<void> {
  const { fleet } = run;
  const [answer] = asAnswers(await anyReplica(run).run([{ kind: 'renew', renewal: { id, fence } }]), 1);
  const machine = fleet.byName.get(ask.machine);
  // A repeated ask returned the grant of the act that is under way.
  if (answer?.kind !== 'entry' || !machine || machine.act?.grant.id === id) return;
  run.acts += 1;
  if (ask.action === 'Reboot') run.reboots.push(Date.parse(answer.entry.issuedAt));
  judge(run, machine, ask);
  if (run.ruleVersions) beginRuleAct(run.ruleVersions, ask, fleet.nowMs);
  start(run, machine, { ask, entry: answer.entry });
}

function judge(run: SimulationRun, machine: SimulatedMachine, ask: GrantAsk): void {
  const { fleet, ledger, violations, reboots, lostMs, recoversMs, failures, ruleVersions } = run;
  const inWork = [...fleet.acting].filter(({ act }) => act && isNode(act.ask)).length;
  const grants = Object.keys(ledger.spec()?.grants ?? {}).length;
  const breakerOpenMs = failures.openMs;
  const at = new Date(fleet.nowMs).toISOString();
  const found = brokenPromises({
    fleet,
    machine,
    ask,
    reboots,
    inWork,
    lostMs,
    recoversMs,
    breakerOpenMs,
    grants,
    stormAllowance: allowanceAfterStorm(run, machine),
    isUnderCause: isUnderCause(run, machine),
    isBeyondFirstWave:
      ruleVersions !== undefined && isBeyondFirstWave(ruleVersions, ask, { nowMs: fleet.nowMs, lostMs }),
  });
  for (const what of found) violations.push({ at, machine: machine.name, what });
}

interface Started {
  readonly ask: GrantAsk;
  readonly entry: LedgerGrant;
}

function start(
  { fleet, random, dirty, journal }: SimulationRun,
  machine: SimulatedMachine,
  { ask, entry }: Started,
): void {
  const willFail = isOn(fleet, 'badImage') || random.chance(0.05);
  const endsMs = fleet.nowMs + 300_000 + random.below(900_000);
  beginAct(fleet, machine, { grant: grantFromEntry(machine.name, entry), ask, endsMs, willFail });
  if (isNode(ask)) machine.isReady = false;
  machine.changedMs = fleet.nowMs;
  rememberAsk(machine, ask, fleet.nowMs);
  journal.push({ atMs: fleet.nowMs, machine: machine.name, action: ask.action, risk: ask.risk });
  dirty.add(machine);
}

interface Answered {
  readonly ask: GrantAsk;
  readonly answer: Grant | Denial;
}

async function askAll(
  replica: LedgerAttempts | undefined,
  asks: readonly GrantAsk[],
): Promise<readonly Answered[]> {
  if (!replica || asks.length === 0) return [];
  const result = await replica.run(asks.map((ask) => ({ kind: 'ask', ask })));
  return asAnswers(result, asks.length).flatMap((answer, order) => {
    const ask = asks[order];
    if (!ask || (answer.kind !== 'entry' && answer.kind !== 'denial')) return [];
    return {
      ask,
      answer: answer.kind === 'entry' ? grantFromEntry(answer.machine, answer.entry) : answer.denial,
    };
  });
}

/** A denial of the batch is the answer to each of its requests. */
function asAnswers(result: readonly LedgerAnswer[] | Denial, count: number): readonly LedgerAnswer[] {
  if (!('granted' in result)) return result;
  return Array.from({ length: count }, () => ({ kind: 'denial', denial: result }) as const);
}
