/** Ledgers over an API server in memory: replicas that crash, and writes that fail or arrive without an answer. */
import { DEFENDER_LEDGERS } from '../../../src/api/generated/resources.ts';
import type { DefenderLedger, DefenderLedgerSpec } from '../../../src/api/generated/types.ts';
import { initialLedger } from '../../../src/api/policies/ledger.ts';
import { createLedger, type Ledger } from '../../../src/defender/ledger/ledger.ts';
import type { LiveGrant } from '../../../src/defender/ledger/recover.ts';
import { createLedgerStore, type LedgerStoreOptions } from '../../../src/defender/ledger/store.ts';
import { preparePolicies } from '../../../src/defender/policies/prepare.ts';
import { KubeError, type KubeErrorCode } from '../../../src/kube/client/errors.ts';
import { createMemoryApi, type MemoryConnection } from '../../support/controller/memory-api.ts';
import { type MemoryLog, memoryLog } from '../../support/memory-log.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';
import { fleetFacts, machines, policy } from '../builders.ts';

export interface WriteFailure {
  readonly code: KubeErrorCode;
  /** The server carries it out; only the answer is missing. */
  readonly arrives: boolean;
}

export interface ReplicaOptions {
  readonly failures?: readonly WriteFailure[];
  readonly live?: () => readonly LiveGrant[] | undefined;
  readonly leads?: boolean;
  /** How far our clock is ahead of the API server's. */
  readonly skewSeconds?: number;
}

export interface Replica {
  readonly ledger: Ledger;
  readonly connection: MemoryConnection;
  readonly log: MemoryLog;
}

export interface LedgerBed {
  readonly clock: VirtualClock;
  readonly replica: (options?: ReplicaOptions) => Promise<Replica>;
  readonly spec: () => DefenderLedgerSpec;
  readonly delete: () => void;
  readonly advance: (ms: number) => Promise<void>;
}

const KIND = { resource: DEFENDER_LEDGERS };
const EMPTY = { recovering: false, grants: {}, gone: {}, rates: {}, breakers: {}, approvals: {} };

/** Two machines at once, and a counter of reboots. */
export const POLICIES = [
  policy({
    concurrency: [{ name: 'l', per: 'Cluster', actions: [], max: 2 }],
    rates: [{ name: 'r', per: 'Cluster', actions: ['Reboot'], risks: [], max: 99, windowSeconds: 3600 }],
  }),
];

export function ledgerBed(policies = POLICIES): Promise<LedgerBed> {
  const clock = virtualClock();
  const api = createMemoryApi({ clock, kinds: [KIND] });
  const installed = { ...initialLedger, spec: { ...EMPTY, seq: 0, epoch: 0 } };
  api.objects.create(KIND, installed, { manager: 'install', force: false });
  // Ledgers wait for the clock: it runs as fast as they wait.
  const facts = fleetFacts(machines(10), policies);
  return Promise.resolve({
    clock,
    replica,
    spec: () => (api.objects.find(KIND, { name: 'default' }) as unknown as DefenderLedger).spec,
    delete: () => void api.objects.delete(KIND, { name: 'default' }, {}),
    advance: (ms) => clock.advance(ms),
  });

  async function replica({
    failures = [],
    live = () => [],
    leads = false,
    skewSeconds = 0,
  }: ReplicaOptions = {}): Promise<Replica> {
    const connection = api.connection();
    const log = memoryLog();
    const client = failing(await connection.connect(), [...failures]);
    const ledger = createLedger({
      store: createLedgerStore({ client }),
      clock: {
        ...clock,
        now: () => new Date(+clock.now() + skewSeconds * 1000),
        sleep: async (ms) => clock.advance(ms),
      },
      log,
      policies: () => preparePolicies(policies),
      facts: () => ({ ...facts, view: { ...facts.view, clockSkewSeconds: skewSeconds } }),
      liveGrants: live,
      leads: () => leads,
    });
    return { ledger, connection, log };
  }
}

function failing(
  client: LedgerStoreOptions['client'],
  failures: WriteFailure[],
): LedgerStoreOptions['client'] {
  return {
    get: (resource, name, options) => client.get(resource, name, options),
    create: (resource, object, options) => client.create(resource, object, options),
    replace: async (resource, object, options) => {
      const failure = failures.shift();
      if (!failure) return await client.replace(resource, object, options);
      if (failure.arrives) await client.replace(resource, object, options);
      throw new KubeError(failure.code, 'no answer');
    },
  };
}
