/** A ledger that the planner of the Defender decides on, by policies that the test declares. */
import type {
  DefenderLedgerSpec,
  DefenderPolicy,
  DefenderPolicySpec,
  LedgerGrant,
} from '../../../../src/api/generated/types.ts';
import type { GrantAsk, GrantOutcome } from '../../../../src/api/grants.ts';
import { isInFlight } from '../../../../src/api/grants.ts';
import type { GivenGrant } from '../../../../src/controllers/componentset/rollout/assignment.ts';
import type { FleetFacts, MachineFacts } from '../../../../src/defender/facts/facts.ts';
import { planLedger } from '../../../../src/defender/ledger/plan.ts';
import type { LedgerAnswer, LedgerRequest } from '../../../../src/defender/ledger/requests.ts';
import { type PreparedPolicies, preparePolicies } from '../../../../src/defender/policies/prepare.ts';
import { explain, fleetFacts, ledgerSpec, machineFacts, policy } from '../../../defender/builders.ts';
import { SimulatedLedger } from './simulated-ledger.ts';

/** What keeps acts from beginning. */
export interface Brake {
  readonly policy?: Partial<DefenderPolicySpec>;
  readonly ledger?: Partial<DefenderLedgerSpec>;
  readonly facts?: Partial<FleetFacts>;
  /** Of every machine. */
  readonly machine?: Partial<MachineFacts>;
}

export interface DefendedFleet {
  readonly now: Date;
  readonly machines: ReadonlyMap<string, { readonly nodeReady: boolean }>;
}

interface InForce {
  readonly brake: Brake;
  readonly policies: readonly DefenderPolicy[];
  readonly prepared: PreparedPolicies;
}

export class DefendedLedger extends SimulatedLedger {
  brake: Brake = {};
  #spec = ledgerSpec();
  #inForce: InForce | undefined;
  readonly #fleet: DefendedFleet;

  constructor(fleet: DefendedFleet) {
    super();
    this.#fleet = fleet;
  }

  override ask(ask: GrantAsk): GivenGrant | string {
    return grantOf(this.#request({ kind: 'ask', ask }));
  }

  override renew(machine: string, _now: Date, recovery?: boolean): GivenGrant | string {
    const { id = '', fence = 0 } = this.grants.get(machine) ?? {};
    return grantOf(
      this.#request({ kind: 'renew', renewal: { id, fence, ...(recovery ? { recovery } : {}) } }),
    );
  }

  override settle(machine: string, outcome: GrantOutcome): void {
    const { id, fence } = this.grants.get(machine) ?? {};
    if (id === undefined || fence === undefined) return;
    this.#request({ kind: 'settle', settlement: { id, fence, outcome } });
    this.outcomes.push(`${machine} ${outcome}`);
  }

  #request(request: LedgerRequest): LedgerAnswer | undefined {
    const { machines, now } = this.#fleet;
    const { ledger = {}, facts = {}, machine = {} } = this.brake;
    const { policies, prepared } = this.#policiesInForce();
    const all = [...machines].map(([name, { nodeReady }]) =>
      machineFacts(name, {
        nodeUID: `node-${name}`,
        readiness: nodeReady ? 'Ready' : 'NotReady',
        ...machine,
      }),
    );
    const input = {
      ledger: { ...this.#spec, ...ledger },
      policies: prepared,
      facts: fleetFacts(all, policies, facts),
      now,
      epoch: 1,
    };
    const { next, answers } = planLedger(input, [request]);
    if (next) this.#write(next);
    return answers[0];
  }

  /** Prepared once, as the Defender does. */
  #policiesInForce(): InForce {
    const { brake } = this;
    if (this.#inForce?.brake !== brake) {
      const policies = [policy(brake.policy ?? {})];
      this.#inForce = { brake, policies, prepared: preparePolicies(policies) };
    }
    return this.#inForce;
  }

  #write(next: DefenderLedgerSpec): void {
    this.#spec = next;
    this.grants.clear();
    for (const [name, entry] of Object.entries<LedgerGrant>(next.grants)) {
      if (isInFlight(entry)) this.grants.set(name, entry);
    }
  }
}

function grantOf(answer: LedgerAnswer | undefined): GivenGrant | string {
  if (answer?.kind === 'entry') return answer.entry;
  if (answer?.kind === 'denial') return explain(answer.denial);
  throw new Error('the ledger did not answer');
}
