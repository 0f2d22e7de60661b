/** When a set is to be reconciled again though nothing changed. Pure. */
import { firstMoment } from '../../os/dates.ts';
import type { RolloutInput, RolloutPlan } from './rollout/input.ts';
import type { DeniedMachine } from './status/report.ts';

/** Time limits of machines in work, and what no watch tells. */
const WORKING_MS = 5000;
const IDLE_MS = 30_000;

export interface RequeueInput {
  readonly input: Pick<RolloutInput, 'members' | 'left' | 'now'>;
  readonly plan: Pick<RolloutPlan, 'progress' | 'actions' | 'limit' | 'checks'>;
  readonly denials: readonly DeniedMachine[];
  readonly isIncomplete: boolean;
}

/** A plan that changed what is remembered is followed by the next one. */
export function nextReconcileAt({ input, plan, denials, isIncomplete }: RequeueInput): Date {
  const { members, left, now } = input;
  const { progress, actions, limit, checks } = plan;
  if (isIncomplete || actions.some((action) => action.type === 'Persist')) return now;
  const isWorking =
    progress.batch !== undefined || [...members, ...left].some(({ holdsGrant }) => holdsGrant);
  const latest = new Date(+now + (isWorking ? WORKING_MS : IDLE_MS));
  const moments = denials.map(({ denial }) => denial.retryAt);
  const soak = progress.batch?.soakUntil;
  const next = firstMoment(
    [latest, soak, limit.until, checks.nextAt, ...moments].filter((moment) => moment && moment > now),
  );
  return next ?? latest;
}
