/** Finds what happened between two states of the ledger that people have to know, and describes it as Events. Pure. */
import type { DefenderLedgerSpec, LedgerBreaker, LedgerClosure } from '../../api/generated/types.ts';
import { EVENT_PREFIX, MANAGER_DEFENDER } from '../../api/names.ts';
import type { ContextEvent } from '../../kube/controller/reconcile-context.ts';

export interface LedgerChange {
  /** The policy that it is about; undefined: the ledger itself. */
  readonly policy?: string;
  readonly event: ContextEvent;
}

type Recorded = Pick<DefenderLedgerSpec, 'breakers' | 'closures' | 'recovering' | 'recoveringSince'>;

export function ledgerChanges(before: Recorded, after: Recorded): readonly LedgerChange[] {
  const ids = new Set([...Object.keys(before.breakers), ...Object.keys(after.breakers)]);
  const breakers = [...ids].toSorted().flatMap((id) => breakerChange(id, before, after));
  return [...recoveryChange(before, after), ...breakers];
}

const PREFIX = EVENT_PREFIX[MANAGER_DEFENDER];

function recoveryChange(before: Recorded, after: Recorded): readonly LedgerChange[] {
  if (before.recovering === after.recovering) return [];
  const note = after.recovering
    ? `the ledger was recreated or restored: every ask is denied for 300 s from ${after.recoveringSince ?? 'now'}`
    : 'the ledger is complete again';
  const type = after.recovering ? 'Warning' : 'Normal';
  const reason = `${PREFIX}${after.recovering ? 'LedgerRecovering' : 'LedgerRecovered'}`;
  return [{ event: { type, reason, action: 'Recover', note } }];
}

function breakerChange(id: string, before: Recorded, after: Recorded): readonly LedgerChange[] {
  const state = after.breakers[id];
  if (before.breakers[id]?.state === state?.state) return [];
  const [policy = '', ...rest] = id.split('/');
  const name = rest.join('/');
  const closure = state ? undefined : newClosure(id, before, after);
  const { type, reason, note } = closure ? closed(name, closure) : describe(name, state);
  return [{ policy, event: { type, reason: `${PREFIX}${reason}`, action: 'Review', note } }];
}

/** Returns how a person closed the breaker since; one that closes again by itself may have been closed by a person earlier. */
function newClosure(id: string, before: Recorded, after: Recorded): LedgerClosure | undefined {
  const closure = after.closures?.[id];
  return closure?.at === before.closures?.[id]?.at ? undefined : closure;
}

function closed(name: string, { by, reason }: LedgerClosure): Described {
  return { type: 'Normal', reason: 'BreakerClosed', note: `breaker ${name} was closed by ${by}: ${reason}` };
}

type Described = Pick<ContextEvent, 'type' | 'reason' | 'note'>;

function describe(name: string, after: LedgerBreaker | undefined): Described {
  const evidence = after?.evidence ?? 'no evidence recorded';
  if (!after) return { type: 'Normal', reason: 'BreakerClosed', note: `breaker ${name} closed` };
  switch (after.state) {
    case 'Open':
      return { type: 'Warning', reason: 'BreakerOpened', note: `breaker ${name} opened: ${evidence}` };
    case 'HalfOpen':
      return {
        type: 'Normal',
        reason: 'BreakerHalfOpen',
        note: `breaker ${name} is half open: the next act is its probe`,
      };
    case 'NeedsPerson': {
      const note = `breaker ${name} waits for a person: ${evidence}`;
      return { type: 'Warning', reason: 'BreakerNeedsPerson', note };
    }
    default:
      return after.state satisfies never;
  }
}
