/** Defenders over an API server in memory, each a process with the real runtime, with a clock that the test moves. */
import { onTestFinished } from 'vitest';
import {
  DEFENDER_LEDGERS,
  DEFENDER_POLICIES,
  FLEET_ALLOWANCES,
  MACHINE_SETS,
  MACHINES,
  NODE_REMEDIERS,
  REMEDY_OPERATION_JOBS,
} from '../../src/api/generated/resources.ts';
import type { DefenderLedger, DefenderPolicy, FleetAllowance } from '../../src/api/generated/types.ts';
import { LEDGER } from '../../src/api/names.ts';
import { initialLedger } from '../../src/api/policies/ledger.ts';
import { createDefender, type Defender } from '../../src/defender/defender.ts';
import type { CallWindow } from '../../src/defender/facts/call-window.ts';
import { runControllers } from '../../src/kube/controller/run.ts';
import { EVENTS } from '../../src/kube/events/object.ts';
import { createLeaseElection, type LeaseElection } from '../../src/kube/leader/election.ts';
import { LEASES } from '../../src/kube/leader/record.ts';
import { CONFIG_MAPS, NODES, PODS } from '../../src/kube/objects/core-kinds.ts';
import { textAt } from '../../src/kube/objects/json.ts';
import type { KubeObject, Resource } from '../../src/kube/objects/object.ts';
import type { QueryAnswer } from '../../src/observability/query/client.ts';
import type { ServedKind } from '../../src/sim/api-server/kinds.ts';
import { createMemoryApi, type MemoryApi, type MemoryConnection } from '../support/controller/memory-api.ts';
import { type MemoryLog, memoryLog } from '../support/memory-log.ts';
import { type VirtualClock, virtualClock } from '../support/virtual-clock.ts';

export interface DefenderProcess {
  readonly defender: Defender;
  readonly connection: MemoryConnection;
  /** As by SIGKILL. */
  readonly kill: () => Promise<void>;
}

export interface DefenderBed {
  readonly clock: VirtualClock;
  /** What Prometheus answers to every query. */
  prometheus: QueryAnswer;
  readonly log: MemoryLog;
  readonly api: MemoryApi;
  readonly apply: (...objects: readonly KubeObject[]) => void;
  readonly delete: (resource: Resource, name: string) => void;
  readonly start: (crash?: {
    readonly n: number;
    readonly when: 'before' | 'after';
  }) => Promise<DefenderProcess>;
  readonly advance: (ms: number) => Promise<void>;
  readonly ledger: () => DefenderLedger;
  readonly policy: (name?: string) => DefenderPolicy;
  readonly allowance: () => FleetAllowance | undefined;
  /** Reasons of all Events. */
  readonly events: () => readonly string[];
}

const OURS = [
  DEFENDER_LEDGERS,
  DEFENDER_POLICIES,
  FLEET_ALLOWANCES,
  MACHINES,
  MACHINE_SETS,
  NODE_REMEDIERS,
  REMEDY_OPERATION_JOBS,
];
const KINDS: readonly ServedKind[] = [
  ...OURS.map((resource: Resource) => ({ resource, status: true })),
  ...[CONFIG_MAPS, NODES, PODS, LEASES, EVENTS].map((resource: Resource) => ({ resource })),
];
const STEP_MS = 50;
const SHUTDOWN_MS = 60_000;
const LEASE = { namespace: 'kubenode-system', name: 'kubenode-controllers' };
const PERSON = { manager: 'person', force: true };
/** The server answers everything, and its clock is right. */
const CALLS: CallWindow = {
  add: () => undefined,
  errorPercent: () => 0,
  skewSeconds: () => 0,
  worstSkewSeconds: () => 0,
};

export function defenderBed(...objects: readonly KubeObject[]): DefenderBed {
  const clock = virtualClock();
  const log = memoryLog();
  const api = createMemoryApi({ clock, kinds: KINDS });
  let processes = 0;
  const empty = { grants: {}, gone: {}, rates: {}, breakers: {}, approvals: {}, recovering: false };
  apply({ ...initialLedger, spec: { ...empty, seq: 0, epoch: 0 } });
  apply(...objects);
  const bed: DefenderBed = {
    clock,
    prometheus: { problem: 'away' },
    log,
    api,
    apply,
    delete: (resource, name) => {
      api.objects.delete(kindOf(resource.kind), { name }, {});
    },
    start,
    advance,
    allowance: () =>
      api.objects.find(kindOf('FleetAllowance'), { name: 'default' }) as unknown as
        | FleetAllowance
        | undefined,
    ledger: () => api.objects.find(kindOf('DefenderLedger'), { name: LEDGER }) as unknown as DefenderLedger,
    policy: (name = 'fleet-default') =>
      api.objects.find(kindOf('DefenderPolicy'), { name }) as unknown as DefenderPolicy,
    events: () =>
      api.journal.flatMap(({ what, body }) =>
        what.includes(' Event ') ? (textAt(body, 'reason') ?? []) : [],
      ),
  };

  return bed;

  function apply(...given: readonly KubeObject[]): void {
    for (const object of given) {
      const { status, ...rest } = asNew(object);
      const kind = kindOf(object.kind);
      api.objects.apply(kind, kind.status ? rest : asNew(object), PERSON);
      if (kind.status && status !== undefined) {
        const { apiVersion, kind: name, metadata } = rest;
        api.objects.apply(
          kind,
          { apiVersion, kind: name, metadata, status },
          { ...PERSON, subresource: 'status' },
        );
      }
    }
  }

  async function advance(ms: number): Promise<void> {
    await clock.advance(0);
    for (let left = ms; left > 0; left -= STEP_MS) await clock.advance(Math.min(STEP_MS, left));
  }

  async function start(crash?: { n: number; when: 'before' | 'after' }): Promise<DefenderProcess> {
    processes += 1;
    const connection = api.connection();
    if (crash) connection.crashAt(crash.n, crash.when);
    const client = await connection.connect();
    const shared = { clock, random: () => 0, log };
    const identity = `process-${processes}`;
    const prometheus = { query: async () => bed.prometheus };
    const lease = watchTerm(createLeaseElection({ ...shared, client, name: LEASE, identity }));
    const defender = createDefender({ ...shared, client, calls: CALLS, leads: lease.leads, prometheus });
    const stop = new AbortController();
    const running = runControllers(
      {
        ...shared,
        controllers: [defender.controller],
        views: defender.views,
        connect: (principal) => connection.connect(principal),
        reporter: { domain: 'kubenode.dev', instance: identity },
        lease,
        // The server in memory sends no bookmarks.
        maxViewAgeMs: Number.POSITIVE_INFINITY,
      },
      stop.signal,
    ).catch(() => undefined);
    onTestFinished(end);
    await clock.advance(0);
    return { defender, connection, kill: () => (connection.kill(), end()) };

    async function end(): Promise<void> {
      stop.abort();
      const over = { yet: false };
      const ended = running.finally(() => {
        over.yet = true;
      });
      for (let ms = 0; !over.yet && ms < SHUTDOWN_MS; ms += 1000) await clock.advance(1000);
      await ended;
      defender.close();
    }
  }
}

/** The server gives out UIDs and generations. */
function asNew(object: KubeObject): KubeObject {
  const { uid: _, generation: __, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function watchTerm(election: LeaseElection): LeaseElection & { readonly leads: () => boolean } {
  let leads = false;
  return {
    campaign: async (signal) => {
      const term = await election.campaign(signal);
      leads = true;
      term.lost.addEventListener('abort', () => (leads = false));
      return term;
    },
    holder: () => election.holder(),
    leads: () => leads,
  };
}

function kindOf(kind: string): ServedKind {
  const found = KINDS.find(({ resource }) => resource.kind === kind);
  if (!found) throw new Error(`the bed does not serve ${kind}`);
  return found;
}
