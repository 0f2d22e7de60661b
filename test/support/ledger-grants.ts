/** Grants by the real decisions of the Defender, over a ledger in memory. Its facts are those of the test. */
import type { DefenderLedgerSpec, DefenderPolicy } from '../../src/api/generated/types.ts';
import {
  type Allowance,
  type Denial,
  type Grant,
  type GrantAsk,
  type GrantPort,
  grantFromEntry,
} from '../../src/api/grants.ts';
import type { FleetFacts } from '../../src/defender/facts/facts.ts';
import { planLedger } from '../../src/defender/ledger/plan.ts';
import type { LedgerAnswer, LedgerRequest } from '../../src/defender/ledger/requests.ts';
import { preparePolicies } from '../../src/defender/policies/prepare.ts';
import type { Clock } from '../../src/os/clock.ts';

export interface LedgerGrants extends Pick<GrantPort, 'ask' | 'dryRun' | 'settle'> {
  readonly ledger: DefenderLedgerSpec;
}

export interface LedgerGrantsOptions {
  readonly ledger: DefenderLedgerSpec;
  readonly policies: readonly DefenderPolicy[];
  readonly facts: () => FleetFacts;
  readonly clock: Pick<Clock, 'now'>;
}

export function ledgerGrants({ ledger, policies, facts, clock }: LedgerGrantsOptions): LedgerGrants {
  const prepared = preparePolicies(policies);
  let written = ledger;
  const submit = (requests: readonly LedgerRequest[]): readonly LedgerAnswer[] => {
    const { epoch } = written;
    const input = { ledger: written, policies: prepared, facts: facts(), now: clock.now(), epoch };
    const { next = written, answers } = planLedger(input, requests);
    written = next;
    return answers;
  };
  return {
    get ledger() {
      return written;
    },
    ask: (asks) => Promise.resolve(submit(asks.map((ask) => ({ kind: 'ask', ask }))).map(grantOrDenial)),
    dryRun: (asks) => Promise.resolve(submit(asks.map(dryRunOf)).map(allowanceOrDenial)),
    settle: async (settlements) => {
      submit(settlements.map((settlement) => ({ kind: 'settle', settlement })));
    },
  };
}

function dryRunOf(ask: GrantAsk): LedgerRequest {
  return { kind: 'ask', ask, dryRun: true };
}

function grantOrDenial(answer: LedgerAnswer): Grant | Denial {
  if (answer.kind === 'entry') return grantFromEntry(answer.machine, answer.entry);
  if (answer.kind === 'denial') return answer.denial;
  throw new Error(`unexpected answer ${answer.kind}`);
}

function allowanceOrDenial(answer: LedgerAnswer): Allowance | Denial {
  if (answer.kind === 'allowance') return answer.allowance;
  if (answer.kind === 'denial') return answer.denial;
  throw new Error(`unexpected answer ${answer.kind}`);
}
