/** A Defender in memory: one act at a time for each machine, and denials that the test decides. */
import { DEFENDER_LEDGERS } from '../../src/api/generated/resources.ts';
import type { LedgerGrant } from '../../src/api/generated/types.ts';
import {
  type Allowance,
  type Denial,
  type Grant,
  type GrantAsk,
  type GrantPort,
  type GrantRenewal,
  type GrantSettlement,
  grantFromEntry,
} from '../../src/api/grants.ts';
import type { KubeObject } from '../../src/kube/objects/object.ts';
import type { Clock } from '../../src/os/clock.ts';

export interface MemoryGrants extends Pick<GrantPort, 'ask' | 'dryRun' | 'renew' | 'settle'> {
  /** Why asks about a machine are denied: a text is a kill switch. Undefined grants them. A renewal has no ask. */
  deny: (machine: string, ask?: GrantAsk) => string | Denial | undefined;
  /** By machine, those that are not settled. */
  readonly open: ReadonlyMap<string, LedgerGrant>;
  /** Called after each change, with the last grant of each machine, as the ledger holds them. */
  changed: (ledger: Readonly<Record<string, LedgerGrant>>) => void;
  /** `g-1 DeleteMachine m-1: Succeeded` */
  readonly settled: readonly string[];
}

const LIFE_MS = 300_000;

export function memoryGrants(clock: Pick<Clock, 'now'>): MemoryGrants {
  const open = new Map<string, LedgerGrant>();
  const settled: string[] = [];
  let issued = 0;
  const ledger = new Map<string, LedgerGrant>();
  const grants: MemoryGrants = {
    deny: () => undefined,
    changed: () => undefined,
    open,
    settled,
    ask,
    dryRun,
    renew,
    settle,
  };
  return grants;

  async function ask(asks: readonly GrantAsk[]): Promise<readonly (Grant | Denial)[]> {
    return asks.map(answer);
  }

  async function dryRun(asks: readonly GrantAsk[]): Promise<readonly (Allowance | Denial)[]> {
    return asks.map((asked) => {
      const because = grants.deny(asked.machine, asked);
      return because === undefined ? { granted: true, dryRun: true } : denialOf(because);
    });
  }

  function answer(asked: GrantAsk): Grant | Denial {
    const { machine, holder, action } = asked;
    const found = open.get(machine);
    if (found && isOver(found)) open.delete(machine);
    const entry = open.get(machine);
    if (entry?.holder.name === holder.name && entry.action === action) return grantFromEntry(machine, entry);
    if (entry) return denial('NodeBusy', `${entry.action} is in work`);
    const because = grants.deny(machine, asked);
    if (because !== undefined) return denialOf(because);
    const created = issue(asked);
    record(machine, created);
    return grantFromEntry(machine, created);
  }

  function issue({ nodeUID, holder, action, risk, started }: GrantAsk): LedgerGrant {
    issued += 1;
    const now = clock.now();
    return {
      id: `g-${issued}`,
      fence: issued,
      state: started ? 'Started' : 'Granted',
      holder,
      action,
      risk,
      ...(nodeUID === undefined ? {} : { nodeUID }),
      issuedAt: now.toISOString(),
      notAfter: new Date(now.getTime() + LIFE_MS).toISOString(),
    };
  }

  function record(machine: string, entry: LedgerGrant): void {
    if (entry.state === 'Settled') open.delete(machine);
    else open.set(machine, entry);
    ledger.set(machine, entry);
    grants.changed(Object.fromEntries(ledger));
  }

  async function renew(renewals: readonly GrantRenewal[]): Promise<readonly (Grant | Denial)[]> {
    return renewals.map(({ id }) => {
      const [machine, entry] = find(id);
      const because = grants.deny(machine);
      if (!entry) return denial('AskInvalid', `grant ${id} is not in the ledger: ask again`);
      if (because !== undefined) return denialOf(because);
      const notAfter = new Date(clock.now().getTime() + LIFE_MS).toISOString();
      const renewed: LedgerGrant = { ...entry, state: 'Started', notAfter };
      record(machine, renewed);
      return grantFromEntry(machine, renewed);
    });
  }

  async function settle(settlements: readonly GrantSettlement[]): Promise<void> {
    for (const { id, outcome } of settlements) {
      const [machine, entry] = find(id);
      if (!entry) continue;
      record(machine, { ...entry, state: 'Settled', settledAt: clock.now().toISOString(), outcome });
      settled.push(`${id} ${entry.action} ${machine}: ${outcome}`);
    }
  }

  function find(id: string): readonly [string, LedgerGrant | undefined] {
    return [...open].find(([, entry]) => entry.id === id) ?? ['', undefined];
  }

  /** A grant that was never used ends by itself. */
  function isOver({ state, notAfter }: LedgerGrant): boolean {
    return state === 'Granted' && Date.parse(notAfter) <= clock.now().getTime();
  }
}

function denialOf(because: string | Denial): Denial {
  return typeof because === 'string' ? denial('KillSwitch', because) : because;
}

function denial(reason: Denial['reason'], message: string): Denial {
  return { granted: false, reason, message, also: [] };
}

/** Returns the ledger as the API server has it. */
export function ledgerOf(grants: object): KubeObject {
  const { group, version, kind } = DEFENDER_LEDGERS;
  return { apiVersion: `${group}/${version}`, kind, metadata: { name: 'default' }, spec: { grants } };
}
