/** Runs each operation of the HTTP API, in the name of the caller. */
import type { LedgerApproval } from '../../api/generated/types.ts';
import type { Allowance, Denial, Grant, GrantAsk, GrantPort } from '../../api/grants.ts';
import type { ApproveBody, AskBody, RequestBodies } from '../../api/http/requests.ts';
import type { RequestName } from '../../api/http/schemas.ts';
import { LEDGER } from '../../api/names.ts';
import { APPROVALS, GRANTS } from '../../api/roles/people.ts';
import { defaultRisk } from '../../api/steps/steps.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Clock } from '../../os/clock.ts';
import { findAct } from '../approvals/find-act.ts';
import type { PendingApprovals } from '../approvals/pending.ts';
import { planAnswer } from '../approvals/plan.ts';
import type { ObservedViews } from '../facts/observed-views.ts';
import type { FleetObserver } from '../facts/observer.ts';
import { type Ledger, LedgerNotWritten } from '../ledger/ledger.ts';
import { type ApiAnswer, HttpProblem } from './problem.ts';
import type { Caller } from './reviews.ts';

/** The part of the Defender that the operations use. */
export interface HttpDefender {
  readonly ledger: GrantPort & Pick<Ledger, 'recordApproval'>;
  readonly observer: Pick<FleetObserver, 'facts' | 'policies'>;
  readonly observed: { readonly ledgers: Pick<ObservedViews['ledgers'], 'store'> };
  readonly pending: Pick<PendingApprovals, 'list'>;
}

export interface OperationContext {
  readonly defender: HttpDefender;
  readonly clock: Pick<Clock, 'now'>;
  readonly caller: Caller;
}

export interface ApiOperation<N extends RequestName = RequestName> {
  /** Permission that the caller needs, as a subresource that no server serves. */
  readonly resource: string;
  readonly run: (context: OperationContext, body: RequestBodies[N]) => Promise<ApiAnswer>;
}

export const RUNS: { readonly [N in RequestName]: ApiOperation<N> } = {
  Ask: { resource: GRANTS, run: ask },
  Renew: {
    resource: GRANTS,
    run: async ({ defender, caller }, body) => {
      const [answer] = await defender.ledger.renew([{ ...body, holder: holderOf(caller) }]);
      return answerTo(answer);
    },
  },
  Settle: {
    resource: GRANTS,
    run: async ({ defender, caller }, body) => {
      const denial = await deniedBy(defender.ledger.settle([{ ...body, holder: holderOf(caller) }]));
      return denial ? answerTo(denial) : { status: 200, body: { settled: true, id: body.id } };
    },
  },
  Approve: { resource: APPROVALS, run: approve },
};

/** The maximum length of a user name, which becomes the name of a holder in the ledger. */
const MAX_HOLDER = 253;

function holderOf({ name }: Caller): GrantAsk['holder'] {
  if (name.length > MAX_HOLDER) {
    throw new HttpProblem('Forbidden', `a user name may have at most ${MAX_HOLDER} characters`);
  }
  return { kind: 'Other', name };
}

async function ask({ defender, clock, caller }: OperationContext, body: AskBody): Promise<ApiAnswer> {
  const { machine, action, risk, nodeUID, factsAt, expectedSeconds, faultClass, started, dryRun } = body;
  const observed = defender.observer.facts().machine(machine)?.nodeUID;
  const request: GrantAsk = {
    holder: holderOf(caller),
    machine,
    action,
    risk: risk ?? defaultRisk(action),
    factsAt: factsAt === undefined ? clock.now() : readTime(factsAt),
    expectedSeconds,
    ...optional('nodeUID', nodeUID ?? observed),
    ...optional('faultClass', faultClass),
    ...optional('started', started),
  };
  const { ledger } = defender;
  const [answer] = dryRun ? await ledger.dryRun([request]) : await ledger.ask([request]);
  return answerTo(answer);
}

/** Parses a time and checks that the date exists: the pattern of the schema accepts a 30th of February. */
function readTime(text: string): Date {
  const time = new Date(text);
  if (Number.isNaN(+time)) throw new HttpProblem('BodyInvalid', `factsAt: ${text} is not a date`);
  return time;
}

async function approve(context: OperationContext, body: ApproveBody): Promise<ApiAnswer> {
  const { defender, clock, caller } = context;
  const { machine, decision, reason } = body;
  const approvals = defender.observed.ledgers.store.get(LEDGER)?.spec.approvals ?? {};
  const found = findAct(defender.pending.list(approvals), body);
  if (!('act' in found)) {
    const hint = 'name the act with action and holder';
    const problem = found.reason === 'NothingWaits' ? 'NotFound' : 'SeveralWait';
    throw new HttpProblem(problem, `${found.message}: ${hint}`);
  }
  const facts = defender.observer.facts();
  const plan = planAnswer(
    found.act,
    { decision, reason, user: caller },
    {
      policies: defender.observer.policies(),
      machine: (name) => facts.machine(name),
      approvals,
      now: clock.now(),
    },
  );
  if (!plan.isPermitted) throw new HttpProblem(plan.reason, plan.message);
  return await record(defender, machine, plan.approval);
}

async function record(
  { ledger }: HttpDefender,
  machine: string,
  approval: LedgerApproval,
): Promise<ApiAnswer> {
  const denial = await deniedBy(ledger.recordApproval(machine, approval));
  if (denial?.reason === 'ApprovalRefused') throw new HttpProblem('AlreadyAnswered', denial.message);
  return denial ? answerTo(denial) : { status: 200, body: { machine, ...approval } };
}

async function deniedBy(change: Promise<void>): Promise<Denial | undefined> {
  try {
    await change;
    return undefined;
  } catch (error) {
    if (error instanceof LedgerNotWritten) return error.denial;
    throw error;
  }
}

/** The reasons of denials that are not decisions, because without the ledger nothing was decided. Every other denial is a decision. */
const UNDECIDED: readonly Denial['reason'][] = ['LedgerUnavailable', 'LedgerConflict'];

function answerTo(answer: Grant | Allowance | Denial | undefined): ApiAnswer {
  if (!answer) throw new HttpProblem('InternalError', 'the ledger has no answer: nothing was decided');
  if (answer.granted) return { status: 200, body: answer };
  return { status: UNDECIDED.includes(answer.reason) ? 503 : 409, body: answer };
}
