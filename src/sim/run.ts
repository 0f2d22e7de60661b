/** Holds the state of one run: the fleet, what is known of it, the ledger and its three replicas. */
import type { Risk } from '../api/enums.ts';
import type { LedgerGrant } from '../api/generated/types.ts';
import type { GrantAsk } from '../api/grants.ts';
import type { FleetFacts, MachineFacts } from '../defender/facts/facts.ts';
import { createFleetIndex, type FleetIndex } from '../defender/facts/fleet-index.ts';
import { foreignOwner } from '../defender/facts/foreign.ts';
import { createLedgerAttempts, type LedgerAttempts } from '../defender/ledger/attempt.ts';
import type { LiveGrant } from '../defender/ledger/recover.ts';
import { type PreparedPolicies, preparePolicies } from '../defender/policies/prepare.ts';
import type { Log } from '../kube/process/log.ts';
import type { Clock } from '../os/clock.ts';
import { createFleet, factsOf, isOn, type SimulatedFleet, type SimulatedMachine } from './fleet.ts';
import { createSimulatedLedger, type SimulatedLedger } from './ledger-store.ts';
import { createRuleVersions, type RuleVersions } from './machines/judge/rule-versions.ts';
import { SIMULATED_CAPACITY } from './machines/pinned-pod.ts';
import { simulatedPolicy } from './policies.ts';
import { createRandom, type Random } from './random.ts';
import type { Scenario } from './scenario.ts';

export interface SimulationOptions {
  readonly seed: number;
  readonly days: number;
  readonly machines: number;
  readonly without?: ReadonlySet<string>;
  /** Whether the rule changes every 18 hours, and is enforced in waves. */
  readonly hasNewRules?: boolean;
  /** The scenario. Default: everything happens by chance. */
  readonly scenario?: Scenario;
}

export interface Violation {
  readonly at: string;
  readonly machine: string;
  readonly what: string;
}

export interface Storm {
  readonly sinceMs: number;
  /** The number of acts that were verified since then: the first one was the probe. */
  verified: number;
}

export interface BegunAct {
  readonly atMs: number;
  readonly machine: string;
  readonly action: string;
  readonly risk: Risk;
}

export interface SimulationRun {
  readonly fleet: SimulatedFleet;
  /** The index of the fleet as the Defender observes it. */
  readonly index: FleetIndex;
  readonly ledger: SimulatedLedger;
  readonly random: Random;
  /** The machines that are not Ready, as observed. */
  readonly ill: Map<string, MachineFacts>;
  /** The storms by zone. */
  readonly storms: Map<string, Storm>;
  /** The acts in the order in which they began. */
  readonly journal: BegunAct[];
  readonly replicas: LedgerAttempts[];
  readonly violations: Violation[];
  readonly denials: Record<string, number>;
  readonly reboots: number[];
  /** The machines whose changes are not observed yet. */
  readonly dirty: Set<SimulatedMachine>;
  readonly failures: { count: number; firstMs: number; openMs: number };
  observedMs: number;
  lostMs: number;
  recoversMs: number;
  readonly cause: CauseWatch;
  /** Absent: the asks name no version of their rule. */
  readonly ruleVersions: RuleVersions | undefined;
  acts: number;
}

/** The times of the reviews that show that a version is bad. */
export interface CauseWatch {
  /** The time of the first review of a series that may have opened the breaker. */
  suspectedMs: number;
  /** The time of the last review of the series. */
  lastMs: number;
  /** The time of a review that must have found the breaker open, or opened it. */
  knownMs: number;
}

const START_MS = Date.parse('2030-01-01T00:00:00Z');
const REPLICAS = 3;
const FAULT_RATE = 0.05;
const NEVER = Number.NEGATIVE_INFINITY;
const CLOCK_JUMP_SECONDS = 40;
const FOREIGN = simulatedPolicy({ isStopped: false, isFrozen: false, machines: 0 }).spec.blockers.foreign;

export const withoutLog: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => withoutLog };

export function createRun({ seed, machines, without, hasNewRules }: SimulationOptions): SimulationRun {
  const random = createRandom(seed);
  const run: SimulationRun = {
    fleet: createFleet(machines, START_MS),
    index: createFleetIndex(),
    ledger: createSimulatedLedger(random, FAULT_RATE),
    random,
    ill: new Map(),
    storms: new Map(),
    journal: [],
    replicas: [],
    violations: [],
    denials: {},
    reboots: [],
    dirty: new Set(),
    failures: { count: 0, firstMs: 0, openMs: NEVER },
    observedMs: START_MS,
    lostMs: NEVER,
    recoversMs: NEVER,
    cause: { suspectedMs: NEVER, lastMs: NEVER, knownMs: NEVER },
    ruleVersions: hasNewRules ? createRuleVersions(START_MS) : undefined,
    acts: 0,
  };
  const policies = preparedPolicies();
  run.index.setGroupings(policies(run).groupings, (machine) => foreignOwner(machine, FOREIGN) !== undefined);
  for (const machine of run.fleet.machines) observeMachine(run, machine);
  for (let replica = 0; replica < REPLICAS; replica += 1) {
    const attempts = createLedgerAttempts({
      store: run.ledger.store(),
      clock: clockOf(run),
      log: withoutLog,
      policies: () => policies(run),
      facts: () => factsNow(run),
      liveGrants: () => [...run.fleet.acting].flatMap(liveGrant),
      ...(without ? { without } : {}),
    });
    run.replicas.push(attempts);
  }
  return run;
}

export function observeMachine({ fleet, index, ill }: SimulationRun, machine: SimulatedMachine): void {
  if (machine.isReady) machine.brokenMs = 0;
  else if (machine.brokenMs === 0) machine.brokenMs = fleet.nowMs;
  const facts = factsOf(machine);
  index.put(facts);
  if (facts.readiness === 'Ready') ill.delete(facts.name);
  else ill.set(facts.name, facts);
}

export function anyReplica({ random, replicas }: SimulationRun): LedgerAttempts {
  const replica = random.pick(replicas);
  if (!replica) throw new Error('the run has replicas');
  return replica;
}

function factsNow({ fleet, index, observedMs }: SimulationRun): FleetFacts {
  return {
    ...index,
    view: {
      ageSeconds: (fleet.nowMs - observedMs) / 1000,
      apiErrorPercent: isOn(fleet, 'apiErrors') ? 50 : 0,
      clockSkewSeconds: isOn(fleet, 'clockWrong') ? CLOCK_JUMP_SECONDS : 0,
    },
    controlPlane: fleet.controlPlane.map(({ name, isReady, act }, order) => ({
      machine: name,
      etcd: isReady && !act ? 'Healthy' : 'Unhealthy',
      apiServer: isReady && !act ? 'Ready' : 'NotReady',
      isLeader: order === 0,
      needsWork: !isReady,
    })),
    capacity: SIMULATED_CAPACITY,
    missingIn: () => 0,
    desiredIn: () => undefined,
    zonalShifts: new Set(isOn(fleet, 'zonalShift') ? ['b'] : []),
    alert: () => ({ state: isOn(fleet, 'alerting') ? 'Firing' : 'Quiet', message: 'simulated' }),
  };
}

export function liveGrant({ name, act }: SimulatedMachine): LiveGrant[] {
  if (!act) return [];
  const { grant, ask } = act;
  const { id, fence, issuedAt, notAfter } = grant;
  const { holder, action, risk } = ask;
  const entry: LedgerGrant = { id, fence, state: 'Started', holder, action, risk, issuedAt, notAfter };
  return [{ machine: name, entry, isInWork: true }];
}

export function isNode({ risk }: GrantAsk): boolean {
  return risk !== 'None' && risk !== 'Pod';
}

/** Returns a clock on which nothing waits: retries follow at once, and three replicas still take turns. */
function clockOf({ fleet }: SimulationRun): Clock {
  const nowMs = (): number => fleet.nowMs + (isOn(fleet, 'clockWrong') ? CLOCK_JUMP_SECONDS * 1000 : 0);
  return { now: () => new Date(nowMs()), monotonicMs: nowMs, sleep: () => Promise.resolve() };
}

function preparedPolicies(): (run: Pick<SimulationRun, 'fleet'>) => PreparedPolicies {
  const sets = new Map<string, PreparedPolicies>();
  return ({ fleet }) => {
    const machines = fleet.machines.length;
    const switches = { isStopped: isOn(fleet, 'stopped'), isFrozen: isOn(fleet, 'frozen'), machines };
    const key = JSON.stringify(switches);
    const found = sets.get(key) ?? preparePolicies([simulatedPolicy(switches)]);
    sets.set(key, found);
    return found;
  };
}
