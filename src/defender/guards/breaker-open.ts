/** R18: an open breaker denies what it is for; a half-open one grants one probe. It never holds up a recovery. */
import type { DenyReason } from '../../api/deny-reasons.ts';
import type { Breaker, LedgerBreaker } from '../../api/generated/types.ts';
import type { DenialCause } from '../../api/grants.ts';
import { breakerKeys, isBreakerFor } from '../breakers/keys.ts';
import type { PreparedPolicy } from '../policies/prepare.ts';
import type { GuardInput, PolicyGuard } from './guard.ts';

export const breakerOpen: PolicyGuard = {
  id: 'breaker-open',
  skippedByRecovery: true,
  checkedAtRenewal: true,
  checkPolicy: (input, policy) =>
    policy.spec.breakers.flatMap((breaker) => checkBreaker(input, policy, breaker)),
};

function checkBreaker(input: GuardInput, policy: PreparedPolicy, breaker: Breaker): readonly DenialCause[] {
  const { ask, machine, ledger } = input;
  if (!isBreakerFor(breaker, ask.risk)) return [];
  return breakerKeys(policy.name, breaker, { holder: ask.holder, machine }).flatMap(({ id, label }) => {
    const state = Object.hasOwn(ledger.breakers, id) ? ledger.breakers[id] : undefined;
    return state ? causeOf(state, { breaker, label, machine: ask.machine }) : [];
  });
}

interface About {
  readonly breaker: Breaker;
  readonly label: string;
  readonly machine: string;
}

function causeOf(state: LedgerBreaker, { breaker, label, machine }: About): readonly DenialCause[] {
  const evidence = state.evidence ?? 'no evidence recorded';
  const of = { key: label };
  switch (state.state) {
    case 'NeedsPerson': {
      const message = `breaker ${breaker.name} of ${label} waits for a person: ${evidence}`;
      return [{ reason: 'BreakerNeedsPerson', message, ...of }];
    }
    case 'Open': {
      const message = `breaker ${breaker.name} of ${label} is open: ${evidence}`;
      return [{ reason: OPEN_REASONS[breaker.type] ?? 'BreakerOpen', message, ...of }];
    }
    case 'HalfOpen': {
      if (state.probe === undefined || state.probe === machine) return [];
      const message = `breaker ${breaker.name} of ${label} is half open, and ${state.probe} is its probe`;
      return [{ reason: 'BreakerHalfOpenBusy', message, ...of }];
    }
    default:
      return state.state satisfies never;
  }
}

const OPEN_REASONS: Readonly<Partial<Record<Breaker['type'], DenyReason>>> = {
  CommonCause: 'CommonCause',
  IndeterminateRatio: 'DetectorSuspect',
};
