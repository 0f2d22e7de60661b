/**
 * Lists which acts wait for the answer of a person. A denial writes nothing to the ledger, so this is what the process heard: an
 * act is listed from its first denied ask until it is answered, granted, or not asked for during an hour.
 */
import type { LedgerApproval, LedgerPendingApproval } from '../../api/generated/types.ts';
import type { Denial, GrantAsk } from '../../api/grants.ts';
import type { Clock } from '../../os/clock.ts';
import { isAnswerTo } from '../ledger/entries.ts';
import type { DecidedRequest } from '../ledger/ledger.ts';

export interface PendingApprovals {
  /** Records an ask; `denial` is undefined when the ask was granted. */
  asked(ask: GrantAsk, denial: Denial | undefined): void;
  /** Returns the acts that are not answered, the longest waiting first. */
  list(approvals: Readonly<Record<string, LedgerApproval>>): readonly LedgerPendingApproval[];
}

interface Heard {
  readonly act: LedgerPendingApproval;
  readonly lastMs: number;
}

const FORGET_MS = 3_600_000;
/** The most acts that are remembered. More are denied all the same; they are listed once others are answered and they ask again. */
const MAX_HEARD = 200;
const SHOWN = 20;

export function createPendingApprovals(clock: Pick<Clock, 'now' | 'monotonicMs'>): PendingApprovals {
  const heard = new Map<string, Heard>();
  return {
    asked: (ask, denial) => {
      forgetOld();
      const key = keyOf(ask);
      const cause = denial && [denial, ...denial.also].find(({ reason }) => reason === 'ApprovalPending');
      if (!cause) heard.delete(key);
      else if (heard.has(key) || heard.size < MAX_HEARD) {
        const since = heard.get(key)?.act.since ?? clock.now().toISOString();
        heard.set(key, { act: actOf(ask, since, cause.message), lastMs: clock.monotonicMs() });
      }
    },
    list: (approvals) => {
      forgetOld();
      return [...heard.values()]
        .map(({ act }) => act)
        .filter((act) => !isAnswerTo(approvals[act.machine], act))
        .toSorted((a, b) => Date.parse(a.since) - Date.parse(b.since))
        .slice(0, SHOWN);
    },
  };

  function forgetOld(): void {
    const oldest = clock.monotonicMs() - FORGET_MS;
    for (const [key, { lastMs }] of heard) if (lastMs <= oldest) heard.delete(key);
  }
}

/** Records the asks among everything that the ledger decided, except dry runs, which only tried. */
export function hearAsk(pending: PendingApprovals, { request, answer }: DecidedRequest): void {
  if (request.kind !== 'ask' || request.dryRun) return;
  pending.asked(request.ask, answer.kind === 'denial' ? answer.denial : undefined);
}

function keyOf({ machine, action, holder }: GrantAsk): string {
  return [machine, action, holder.kind, holder.name].join('\u0000');
}

function actOf(
  { machine, action, risk, holder: { kind, name } }: GrantAsk,
  since: string,
  message: string,
): LedgerPendingApproval {
  return { machine, action, risk, holder: { kind, name }, since, message };
}
