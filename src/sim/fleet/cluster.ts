/** One cluster of a simulated fleet: machines, the real ledger, and the object in which the hub leaves its share. */
import type {
  DefenderPolicy,
  FleetAllowance,
  FleetAllowanceSpec,
  FleetFailure,
} from '../../api/generated/types.ts';
import type { Grant, GrantAsk } from '../../api/grants.ts';
import { API_VERSION } from '../../api/version.ts';
import { createShareRequests, type ShareRequests } from '../../defender/allowance/share-requests.ts';
import { allowanceStatus } from '../../defender/allowance/status.ts';
import type { FleetFacts, MachineFacts, ObservedAllowance } from '../../defender/facts/facts.ts';
import { createFleetIndex } from '../../defender/facts/fleet-index.ts';
import { createLedgerAttempts, type LedgerAttempts } from '../../defender/ledger/attempt.ts';
import type { LiveGrant } from '../../defender/ledger/recover.ts';
import { type PreparedPolicies, preparePolicies } from '../../defender/policies/prepare.ts';
import type { Clock } from '../../os/clock.ts';
import { createSimulatedLedger, type SimulatedLedger } from '../ledger-store.ts';
import { simulatedPolicy } from '../policies.ts';
import type { Random } from '../random.ts';
import { withoutLog } from '../run.ts';

export interface FleetAct {
  readonly ask: GrantAsk;
  readonly grant: Grant;
  readonly beganMs: number;
  readonly endsMs: number;
  /** Whether it began under the floor, because the allowance had ended. */
  readonly isUnderFloor: boolean;
}

/** An act that the cluster asks for until it may. */
export interface FleetTask {
  readonly machine: string;
  readonly action: 'Reboot' | 'UpdateComponent';
  readonly sinceMs: number;
  /** The MachineComponent that an update brings. */
  readonly version?: string;
}

export interface HeldVersion {
  readonly sinceMs: number;
  readonly untilMs: number;
}

export interface ClusterOfFleet {
  readonly name: string;
  readonly region: string;
  readonly machines: readonly string[];
  readonly ledger: SimulatedLedger;
  readonly replicas: readonly LedgerAttempts[];
  /** The allowance as each replica observed it; the first one reports. */
  readonly observed: ObservedAllowance[];
  readonly requests: ShareRequests;
  readonly acts: Map<string, FleetAct>;
  readonly tasks: Map<string, FleetTask>;
  /** The object in its API server. */
  allowance: FleetAllowance | 'None';
  version: number;
  /** Since when its allowance has a stop; absent: it has none. */
  stoppedSinceMs: number | undefined;
  /** The holds of its last allowance, by MachineComponent: the update to it failed in several clusters. */
  held: ReadonlyMap<string, HeldVersion>;
  /** When the update to a MachineComponent last failed here. */
  readonly failedAtMs: Map<string, number>;
  /** Until when its replicas see no change of the allowance. */
  staleUntilMs: number;
  /** When the link to the hub was cut; absent: it is not. */
  cutSinceMs: number | undefined;
}

const MACHINES = 6;
const FAULT_RATE = 0.05;

export interface ClusterOptions {
  readonly name: string;
  readonly region: string;
  readonly random: Random;
  readonly nowMs: () => number;
  readonly without?: ReadonlySet<string>;
}

export function createClusterOfFleet(options: ClusterOptions): ClusterOfFleet {
  const { name, region, random, nowMs, without } = options;
  const machines = Array.from({ length: MACHINES }, (_, index) => `${name}-m${index + 1}`);
  const ledger = createSimulatedLedger(random, FAULT_RATE);
  const policies = preparePolicies([openPolicy()]);
  const index = createFleetIndex();
  index.setGroupings(policies.groupings, () => false);
  for (const machine of machines) index.put(machineFacts(machine, nowMs()));
  const observed: ObservedAllowance[] = ['None', 'None'];
  const clock = clockOf(nowMs);
  const cluster: ClusterOfFleet = {
    name,
    region,
    machines,
    ledger,
    replicas: observed.map((_, replica) => {
      const facts = (): FleetFacts => ({ ...shared(index), allowance: observed[replica] });
      return attempts({ ledger, clock, policies, facts, acts: () => cluster.acts, without });
    }),
    observed,
    requests: createShareRequests(clock),
    acts: new Map(),
    tasks: new Map(),
    allowance: 'None',
    version: 1,
    stoppedSinceMs: undefined,
    held: new Map(),
    failedAtMs: new Map(),
    staleUntilMs: 0,
    cutSinceMs: undefined,
  };
  return cluster;
}

interface AttemptInput {
  readonly ledger: SimulatedLedger;
  readonly clock: Clock;
  readonly policies: PreparedPolicies;
  readonly facts: () => FleetFacts;
  readonly acts: () => ReadonlyMap<string, FleetAct>;
  readonly without: ReadonlySet<string> | undefined;
}

function attempts({ ledger, clock, policies, facts, acts, without }: AttemptInput): LedgerAttempts {
  return createLedgerAttempts({
    store: ledger.store(),
    clock,
    log: withoutLog,
    policies: () => policies,
    facts,
    liveGrants: () => [...acts()].map(liveGrant),
    ...(without ? { without } : {}),
  });
}

function liveGrant([machine, { ask, grant }]: readonly [string, FleetAct]): LiveGrant {
  const { id, fence, issuedAt, notAfter } = grant;
  const { holder, action, risk } = ask;
  return {
    machine,
    entry: { id, fence, state: 'Started', holder, action, risk, issuedAt, notAfter },
    isInWork: true,
  };
}

/** Nothing waits: retries follow at once. */
function clockOf(nowMs: () => number): Clock {
  return { now: () => new Date(nowMs()), monotonicMs: nowMs, sleep: () => Promise.resolve() };
}

function shared(index: ReturnType<typeof createFleetIndex>): FleetFacts {
  return {
    ...index,
    view: { ageSeconds: 0, apiErrorPercent: 0, clockSkewSeconds: 0 },
    controlPlane: [],
    missingIn: () => 0,
    desiredIn: () => undefined,
    zonalShifts: new Set(),
    alert: () => ({ state: 'Quiet', message: 'simulated' }),
  };
}

function machineFacts(name: string, nowMs: number): MachineFacts {
  return {
    name,
    labels: {},
    zone: 'a',
    pool: 'all',
    nodeUID: `uid-${name}`,
    nodeCreatedAt: new Date(nowMs - 30 * 86_400_000),
    readiness: 'Ready',
    established: true,
    cordoned: false,
    taints: [],
    foreignLeases: [],
    blockingPods: {},
    excluded: false,
    paused: false,
    hasLocalData: false,
    repairs: [],
    isControlPlane: false,
    dimensions: {},
  };
}

/** Beside the limits over clusters only one binds: one act at a time. */
function openPolicy(): DefenderPolicy {
  const policy = simulatedPolicy({ isStopped: false, isFrozen: false, machines: MACHINES });
  const { spec } = policy;
  return {
    ...policy,
    spec: {
      ...spec,
      concurrency: [{ name: 'all', per: 'Cluster', actions: [], max: 1 }],
      rates: [],
      breakers: [],
      quiet: [],
      approval: [],
      counting: { ...spec.counting, smallPool: { below: 0, max: 1 } },
      blockers: { ...spec.blockers, foreign: [], podLabels: [], promql: [] },
      capacity: { minFreePercent: {}, simulateScheduling: false },
      selfDoubt: { ...spec.selfDoubt, secondVantage: [] },
    },
  };
}

/** Stores an allowance as the API server does: by compare-and-swap. */
export function storeAllowance(cluster: ClusterOfFleet, spec: FleetAllowanceSpec): void {
  cluster.version += 1;
  const before = cluster.allowance === 'None' ? undefined : cluster.allowance;
  cluster.stoppedSinceMs = spec.killSwitch.engaged
    ? (cluster.stoppedSinceMs ?? Date.parse(spec.at))
    : undefined;
  cluster.held = heldBy(cluster, spec);
  cluster.allowance = {
    apiVersion: API_VERSION,
    kind: 'FleetAllowance',
    metadata: { name: 'default', resourceVersion: String(cluster.version), generation: spec.seq },
    spec,
    ...(before?.status ? { status: before.status } : {}),
  };
}

function heldBy({ held }: ClusterOfFleet, { causes = [], at }: FleetAllowanceSpec): ClusterOfFleet['held'] {
  return new Map(
    causes.map(({ value, until }) => [
      value,
      { sinceMs: held.get(value)?.sinceMs ?? Date.parse(at), untilMs: Date.parse(until) },
    ]),
  );
}

/** The first replica reports what the ledger has. */
export function reportAllowance(cluster: ClusterOfFleet, nowMs: number): void {
  const { allowance, ledger, requests } = cluster;
  const spec = ledger.spec();
  if (allowance === 'None' || !spec) return;
  const status = allowanceStatus({
    allowance,
    ledger: spec,
    request: (limit) => requests.of(limit),
    failed: { failures: failuresOf(cluster), failedRollouts: [] },
    now: new Date(nowMs),
  });
  cluster.version += 1;
  const metadata = { ...allowance.metadata, resourceVersion: String(cluster.version) };
  cluster.allowance = { ...allowance, metadata, status };
}

function failuresOf({ failedAtMs }: ClusterOfFleet): readonly FleetFailure[] {
  return [...failedAtMs].map(([value, atMs]) => ({
    dimension: 'componentUpdate',
    value,
    at: new Date(atMs).toISOString(),
    message: 'simulated',
  }));
}
