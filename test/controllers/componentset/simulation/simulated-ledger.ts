/** A ledger of one grant for each machine. What it denies is up to the test. */
import type { LedgerGrant } from '../../../../src/api/generated/types.ts';
import type { GrantAsk, GrantOutcome } from '../../../../src/api/grants.ts';
import type { GivenGrant } from '../../../../src/controllers/componentset/rollout/assignment.ts';

const GRANT_MS = 300_000;

export class SimulatedLedger {
  readonly grants = new Map<string, LedgerGrant>();
  readonly outcomes: string[] = [];
  #seq = 0;
  /** Why an ask is denied; undefined: it is granted. */
  denialReason: (ask: GrantAsk) => string | undefined = () => undefined;

  ask(ask: GrantAsk, now: Date): GivenGrant | string {
    const present = this.grants.get(ask.machine);
    if (present) {
      const { kind, name } = present.holder;
      const isSame = kind === ask.holder.kind && name === ask.holder.name;
      return isSame ? present : `NodeBusy: ${present.action} of ${kind} ${name}`;
    }
    const denial = this.denialReason(ask);
    if (denial !== undefined) return denial;
    this.#seq += 1;
    const grant: LedgerGrant = {
      id: `g-${this.#seq}`,
      fence: this.#seq,
      state: 'Started',
      holder: ask.holder,
      action: ask.action,
      risk: ask.risk,
      issuedAt: now.toISOString(),
      notAfter: new Date(+now + GRANT_MS).toISOString(),
    };
    this.grants.set(ask.machine, grant);
    return grant;
  }

  renew(machine: string, now: Date, _recovery?: boolean): GivenGrant | string {
    const grant = this.grants.get(machine);
    if (!grant) return 'Unknown';
    const renewed = { ...grant, notAfter: new Date(+now + GRANT_MS).toISOString() };
    this.grants.set(machine, renewed);
    return renewed;
  }

  settle(machine: string, outcome: GrantOutcome): void {
    if (this.grants.delete(machine)) this.outcomes.push(`${machine} ${outcome}`);
  }
}
