import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { GrantAsk } from '../../../src/api/grants.ts';
import { PRINCIPAL_DEFENDER, serviceAccountUser } from '../../../src/api/names.ts';
import { createLedger, type Ledger } from '../../../src/defender/ledger/ledger.ts';
import type { LiveGrant } from '../../../src/defender/ledger/recover.ts';
import { createLedgerStore, type LedgerStore } from '../../../src/defender/ledger/store.ts';
import { preparePolicies } from '../../../src/defender/policies/prepare.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { ask, entry, fleetFacts, machines, policy } from '../../defender/builders.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { ACCOUNTS, readLedger } from './objects.ts';

const LIMIT = 10;
const ASKS = 500;
const REPLICAS = 3;
const clock = createSystemClock();

describe('the ledger on a real API server', () => {
  let installed: InstalledServer;
  let client: Client;

  beforeAll(async () => {
    installed = await startInstalledServer();
    client = await installed.as(serviceAccountUser(PRINCIPAL_DEFENDER), ACCOUNTS);
  });
  beforeEach(() => installed.server.wipe());
  afterAll(() => installed?.stop());

  it('R13 never exceeds a limit, and leaks no grant, with 500 asks from three replicas that crash at each write', async () => {
    const replicas = Array.from({ length: REPLICAS }, (_, index) =>
      ledgerOf(client, { crashEvery: index + 2 }),
    );
    const asks = Array.from({ length: ASKS }, (_, index) => askNow(`m-${index + 1}`));
    const answers = await Promise.all(
      asks.map(async (each, index) => (await replicas[index % REPLICAS]?.ask([each])) ?? []),
    );
    const granted = answers.flat().filter((answer) => answer.granted);
    const recorded = (await readLedger(client)).spec.grants;
    expect(Object.keys(recorded).length).toBe(LIMIT);
    expect(granted.length).toBeLessThanOrEqual(LIMIT);
    for (const grant of granted) {
      expect(recorded[grant.machine]).toMatchObject({ id: grant.id, fence: grant.fence });
    }

    // A holder that lost its answer asks again, gets the same grant, and settles it.
    const again = ledgerOf(client);
    const kept = await again.ask(Object.keys(recorded).map((machine) => askNow(machine)));
    expect(kept.map((each) => each.granted && each.id)).toEqual(Object.values(recorded).map(({ id }) => id));
    await again.settle(Object.values(recorded).map(({ id, fence }) => ({ id, fence, outcome: 'Unused' })));
    expect((await readLedger(client)).spec.grants).toEqual({});
  });

  it('R32 rebuilds a ledger that was restored from a backup, above every fence, within the rules of the CRD', async () => {
    const { seq } = (await readLedger(client)).spec;
    const live: LiveGrant[] = [
      { machine: 'm-7', entry: entry('m-7', { fence: seq + 5000 }), isInWork: true },
    ];
    const [denied] = await ledgerOf(client, { live }).ask([askNow('m-1')]);
    expect(denied).toMatchObject({ granted: false, reason: 'LedgerRecovering' });
    expect((await readLedger(client)).spec).toMatchObject({
      seq: seq + 5001,
      recovering: true,
      grants: { 'm-7': { fence: seq + 5000, state: 'Started' } },
    });
  });

  it('R32 replaces an older started grant that a backup has by the newer one that is in work, within the rules of the CRD', async () => {
    const [older] = await ledgerOf(client).ask([{ ...askNow('m-7'), started: true }]);
    const { seq } = (await readLedger(client)).spec;
    const newer = entry('m-7', { id: 'g-newer', fence: seq + 50 });
    const live: LiveGrant[] = [{ machine: 'm-7', entry: newer, isInWork: true }];
    const [denied] = await ledgerOf(client, { live }).ask([askNow('m-1')]);
    expect(denied).toMatchObject({ granted: false, reason: 'LedgerRecovering' });
    expect(older).toMatchObject({ granted: true });
    expect((await readLedger(client)).spec).toMatchObject({
      recovering: true,
      grants: { 'm-7': { id: 'g-newer', fence: seq + 50, state: 'Started' } },
    });
  });
});

function askNow(machine: string): GrantAsk {
  const holder = { kind: 'Other', name: `person-${machine}` } as const;
  return ask({ machine, holder, factsAt: clock.now() });
}

interface Faults {
  /** Each n-th write does not arrive; the one after it arrives without an answer. */
  readonly crashEvery?: number;
  readonly live?: readonly LiveGrant[];
}

function ledgerOf(client: Client, { crashEvery = Number.POSITIVE_INFINITY, live = [] }: Faults = {}): Ledger {
  const policies = preparePolicies([
    policy({ concurrency: [{ name: 'l', per: 'Cluster', actions: [], max: LIMIT }] }),
  ]);
  const facts = fleetFacts(machines(ASKS), [policy()]);
  return createLedger({
    store: crashing(createLedgerStore({ client }), crashEvery),
    clock,
    log: memoryLog(),
    policies: () => policies,
    facts: () => facts,
    liveGrants: () => live,
  });
}

function crashing(store: LedgerStore, every: number): LedgerStore {
  let writes = 0;
  return {
    read: () => store.read(),
    write: async (before, spec) => {
      writes += 1;
      if (writes % every === 0) throw new KubeError('Unreachable', 'the write did not arrive');
      await store.write(before, spec);
      if (writes % every === 1) throw new KubeError('Timeout', 'the answer did not arrive');
    },
  };
}
