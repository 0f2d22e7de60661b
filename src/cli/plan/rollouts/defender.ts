/** Predicts what the Defender would answer now to the asks with which planned rollouts begin. Pure. */
import type { Denial, GrantAsk } from '../../../api/grants.ts';
import { type LedgerPlanInput, planLedger } from '../../../defender/ledger/plan.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type {
  DefenderPreview,
  DenialPreview,
  MachineNames,
  PlannedRollout,
} from '../../../sync/preview/rollouts.ts';
import { denialHint } from '../../../views/fleet/unblock.ts';
import { type AskedRollout, MAX_PLANNED_NAMES } from './preview.ts';

export interface AskAnswer {
  readonly ask: GrantAsk;
  /** The denial. Undefined: the ask is granted. */
  readonly denial?: Denial;
}

/** Answers the asks in the order of the sets: what one of them is granted counts against the limits for those after it. */
export function answersTo(
  planned: readonly AskedRollout[],
  input: Omit<LedgerPlanInput, 'epoch'>,
): readonly AskAnswer[] {
  const asks = planned.flatMap((each) => each.asks);
  const requests = asks.map((ask) => ({ kind: 'ask', ask }) as const);
  const { answers } = planLedger({ ...input, epoch: input.ledger.epoch }, requests);
  return asks.map((ask, index) => {
    const answer = answers[index];
    return { ask, ...(answer?.kind === 'denial' && { denial: answer.denial }) };
  });
}

export function withAnswers(
  planned: readonly AskedRollout[],
  answers: readonly AskAnswer[],
): readonly PlannedRollout[] {
  const bySet = Map.groupBy(answers, ({ ask }) => ask.holder.name);
  return planned.map(({ rollout }) => {
    const own = bySet.get(rollout.set);
    return own ? { ...rollout, defender: answeredPreview(own) } : rollout;
  });
}

export function withoutAnswers(planned: readonly AskedRollout[], because: string): readonly PlannedRollout[] {
  return planned.map(({ rollout, asks }) =>
    asks.length === 0 ? rollout : { ...rollout, defender: { state: 'Unknown', because } },
  );
}

function answeredPreview(answers: readonly AskAnswer[]): DefenderPreview {
  const granted = answers.filter(({ denial }) => !denial);
  const denied = Map.groupBy(
    answers.flatMap(({ ask, denial }) => (denial ? [{ ask, denial }] : [])),
    ({ denial: { reason, message, retryAt } }) => JSON.stringify([reason, message, retryAt]),
  );
  return {
    state: 'Known',
    granted: machinesOf(granted),
    denied: [...denied.values()].flatMap(denialPreview),
  };
}

function denialPreview(same: readonly Required<AskAnswer>[]): readonly DenialPreview[] {
  const [first] = same;
  if (!first) return [];
  const { reason, message, retryAt } = first.denial;
  const until = optional('until', retryAt?.toISOString());
  const unblock = denialHint(reason, first.ask.machine);
  return [{ reason, message, ...until, unblock, machines: machinesOf(same) }];
}

function machinesOf(answers: readonly Pick<AskAnswer, 'ask'>[]): MachineNames {
  return { count: answers.length, names: answers.slice(0, MAX_PLANNED_NAMES).map(({ ask }) => ask.machine) };
}
