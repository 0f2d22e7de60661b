/** The ledger of a test: its earlier acts are granted and settled by the code that does so in a cluster. Pure. */
import type { DefenderLedgerSpec } from '../../api/generated/types.ts';
import type { GrantAsk } from '../../api/grants.ts';
import { OUTSIDE_ACTIONS } from '../../api/steps/actions.ts';
import { defaultRisk, isStep } from '../../api/steps/steps.ts';
import type {
  PolicyTest,
  PolicyTestAct,
  PolicyTestAsk,
  PolicyTestLedger,
} from '../../api/validation/policy-tests.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { FleetFacts } from '../facts/facts.ts';
import { after } from '../guards/guard.ts';
import { createDraft, EMPTY_LEDGER, finishDraft, type LedgerDraft } from '../ledger/draft.ts';
import { issueGrant } from '../ledger/issue.ts';
import { settleGrant } from '../ledger/settle.ts';
import type { PreparedPolicies } from '../policies/prepare.ts';

const A_MINUTE = 60;
const GRANT_SECONDS = 300;

export interface ReplayInput {
  readonly policies: PreparedPolicies;
  readonly facts: FleetFacts;
  readonly now: Date;
}

const NOTHING: Required<PolicyTestLedger> = {
  acts: [],
  gone: {},
  breakers: {},
  approvals: {},
  recovering: false,
};

/** Throws for an act on a machine that the test does not have. */
export function replayLedger({ ledger, ask }: PolicyTest, input: ReplayInput): DefenderLedgerSpec {
  const { now } = input;
  const { acts, gone, breakers, approvals, recovering } = { ...NOTHING, ...ledger };
  const draft = createDraft({ ...EMPTY_LEDGER, seq: 1, epoch: 1, recovering });
  if (recovering) draft.recoveringSince = now.toISOString();
  for (const event of eventsOf(acts, now)) play(draft, event, input);
  const since = now.toISOString();
  for (const [machine, deleted] of Object.entries(gone)) draft.gone[machine] = { ...deleted, since };
  for (const [id, { state }] of Object.entries(breakers)) draft.breakers[id] = { state, since, trips: 1 };
  for (const [machine, decision] of Object.entries(approvals)) {
    const { action, risk, holder } = testAsk({ ...ask, machine }, input);
    const answered = { action, risk, holder: holder.name, holderKind: holder.kind, decision };
    const until = after(now, A_MINUTE).toISOString();
    draft.approvals[machine] = { ...answered, by: 'test', at: since, until };
  }
  return finishDraft(draft);
}

interface ActEvent {
  readonly kind: 'issue' | 'settle';
  readonly index: number;
  readonly act: PolicyTestAct;
  readonly at: Date;
}

/** In the order of time; of two at the same time, the grant first. */
function eventsOf(acts: readonly PolicyTestAct[], now: Date): readonly ActEvent[] {
  const issued = acts.map((act, index): ActEvent => {
    const { secondsAgo = (act.settled?.secondsAgo ?? 0) + A_MINUTE } = act;
    return { kind: 'issue', index, act, at: after(now, -secondsAgo) };
  });
  const settled = acts.flatMap((act, index): readonly ActEvent[] =>
    act.settled ? [{ kind: 'settle', index, act, at: after(now, -act.settled.secondsAgo) }] : [],
  );
  return [...issued, ...settled].toSorted((a, b) => +a.at - +b.at);
}

function play(draft: LedgerDraft, { kind, index, act, at }: ActEvent, input: ReplayInput): void {
  const { policies, facts, now } = input;
  const ask = testAsk(act, input);
  if (kind === 'issue') {
    const machine = machineOf(act.machine, input);
    const entry = issueGrant(draft, { ask: { ...ask, started: true }, machine, policies, now: at, index });
    // Renewed until now: an act that is not settled is in work.
    const notAfter = after(now, GRANT_SECONDS).toISOString();
    draft.grants[act.machine] = { ...entry, notAfter };
    return;
  }
  const { id = '', fence = 0 } = draft.grants[act.machine] ?? {};
  const outcome = act.settled?.outcome ?? 'Succeeded';
  settleGrant(draft, { id, fence, outcome }, { policies, facts, now: at });
}

/** The ask with the fields that a test may leave out. */
export function testAsk(ask: PolicyTestAsk, { facts, now }: Pick<ReplayInput, 'facts' | 'now'>): GrantAsk {
  const { machine, action, origin, faultClass, recovery } = ask;
  const { risk = defaultRisk(action), holder: kind = usualHolder(action) } = ask;
  return {
    holder: { kind, name: `${machine}-test`, revision: 'r-test', ...optional('origin', origin) },
    machine,
    ...optional('nodeUID', facts.machine(machine)?.nodeUID),
    action,
    risk,
    ...optional('faultClass', faultClass),
    ...optional('recovery', recovery),
    factsAt: now,
    expectedSeconds: 0,
  };
}

function usualHolder(action: GrantAsk['action']): GrantAsk['holder']['kind'] {
  if (isStep(action)) return 'RemedyOperationJob';
  if (Object.hasOwn(OUTSIDE_ACTIONS, action)) return 'Other';
  return action === 'UpdateComponent' ? 'MachineComponentSet' : 'Machine';
}

function machineOf(name: string, { facts }: ReplayInput): NonNullable<ReturnType<FleetFacts['machine']>> {
  const found = facts.machine(name);
  if (!found) throw new Error(`facts.machines has no machine ${name}`);
  return found;
}
