/** Policies, machines and ledgers of the Defender's tests: valid by default, and healthy. */
import type {
  Breaker,
  DefenderLedgerSpec,
  DefenderPolicy,
  DefenderPolicySpec,
  LedgerGrant,
} from '../../src/api/generated/types.ts';
import type { Denial, GrantAsk } from '../../src/api/grants.ts';
import { FLEET_DEFAULT } from '../../src/api/names.ts';
import { type Decision, decideAsk } from '../../src/defender/decide.ts';
import type { FleetFacts, MachineFacts } from '../../src/defender/facts/facts.ts';
import { createFleetIndex } from '../../src/defender/facts/fleet-index.ts';
import { foreignOwner } from '../../src/defender/facts/foreign.ts';
import { createLedgerUsage } from '../../src/defender/ledger/usage.ts';
import { preparePolicies } from '../../src/defender/policies/prepare.ts';
import { ago, NOW } from '../support/builders.ts';

export { ago, NOW } from '../support/builders.ts';

export function secondsAgo(seconds: number): Date {
  return new Date(ago(seconds));
}

export const EVERY_STATE = [
  'InFlight',
  'NotReady',
  'Cordoned',
  'ForeignMaintenance',
  'DeletedNotReplaced',
  'Unknown',
] as const;

/** `fleet-default` without a limit that binds, unless the test sets one. */
export function policy(spec: Partial<DefenderPolicySpec> = {}, name: string = FLEET_DEFAULT): DefenderPolicy {
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'DefenderPolicy',
    metadata: { name },
    spec: {
      mode: 'Enforce',
      scope: { nodeSelector: { all: true }, actions: [], risks: [], holders: [] },
      killSwitch: { engaged: false, scope: 'All' },
      grantSeconds: 300,
      counting: { include: [...EVERY_STATE], lingerSeconds: 900, smallPool: { below: 0, max: 1 } },
      concurrency: [{ name: 'all', per: 'Cluster', actions: [], max: 1000 }],
      rates: [],
      perMachine: {
        maxGrants: 5,
        maxReboots: 3,
        windowSeconds: 86_400,
        minIntervalSeconds: 1800,
        // oxlint-disable-next-line unicorn/no-thenable -- name of the API field
        lemon: { repairs: 50, windowSeconds: 604_800, then: 'HandOff' },
      },
      breakers: [],
      zones: { haltPercent: 100, minNodes: 1000 },
      selfDoubt: {
        maxViewAgeSeconds: 150,
        apiErrorPercent: 20,
        massUnknownPercent: 100,
        withinSeconds: 120,
        secondVantage: [],
      },
      controlPlane: { max: 1, readyAPIServersAfter: 2, etcdQuorumAfter: true, actions: [] },
      quiet: [],
      freezes: [],
      blockers: { foreign: [], podLabels: [], minNodeAgeSeconds: 900, promql: [] },
      capacity: { minFreePercent: {}, simulateScheduling: false },
      ruleWaves: { waves: [1, '5%', '20%', '100%'], soakSeconds: 1800, minSuccessPercent: 90 },
      approval: [],
      ...spec,
    },
  };
}

/** Ready for long, in zone a and pool web. */
export function machineFacts(name: string, facts: Partial<MachineFacts> = {}): MachineFacts {
  return {
    name,
    labels: { 'topology.kubernetes.io/rack': 'r1' },
    zone: 'a',
    pool: 'web',
    nodeUID: `uid-${name}`,
    nodeCreatedAt: secondsAgo(86_400),
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
    ...facts,
  };
}

/** Machines `m-1` to `m-n`. */
export function machines(count: number, facts: Partial<MachineFacts> = {}): readonly MachineFacts[] {
  return Array.from({ length: count }, (_, index) => machineFacts(`m-${index + 1}`, facts));
}

export function fleetFacts(
  all: readonly MachineFacts[],
  policies: readonly DefenderPolicy[],
  facts: Partial<FleetFacts> = {},
): FleetFacts {
  const index = createFleetIndex();
  const foreign = policies.flatMap(({ spec }) => spec.blockers.foreign);
  index.setGroupings(
    preparePolicies(policies).groupings,
    (machine) => foreignOwner(machine, foreign) !== undefined,
  );
  for (const machine of all) index.put(machine);
  return {
    ...index,
    view: { ageSeconds: 0, apiErrorPercent: 0, clockSkewSeconds: 0 },
    controlPlane: [],
    zonalShifts: new Set(),
    missingIn: () => undefined,
    desiredIn: () => undefined,
    alert: () => ({ state: 'Unknown', message: 'Prometheus was not asked yet' }),
    ...facts,
  };
}

/** A repair by reboot of m-1, which is in order. */
export function ask(fields: Partial<GrantAsk> = {}): GrantAsk {
  const machine = fields.machine ?? 'm-1';
  return {
    holder: {
      kind: 'RemedyOperationJob',
      name: `${machine}-job`,
      origin: 'NodeRemedier/hang',
      revision: 'r-1',
    },
    machine,
    nodeUID: `uid-${machine}`,
    action: 'Reboot',
    risk: 'Node',
    factsAt: NOW,
    expectedSeconds: 600,
    ...fields,
  };
}

/** A grant in flight, issued a minute ago. */
export function entry(machine: string, fields: Partial<LedgerGrant> = {}): LedgerGrant {
  return {
    id: `g-${machine}`,
    fence: 7,
    state: 'Started',
    holder: {
      kind: 'MachineComponentSet',
      name: 'base',
      origin: 'MachineComponentSet/base',
      revision: 'r-2',
    },
    action: 'UpdateComponent',
    risk: 'Node',
    nodeUID: `uid-${machine}`,
    keys: { zone: 'a', pool: 'web' },
    issuedAt: ago(60),
    notAfter: new Date(+NOW + 240_000).toISOString(),
    ...fields,
  };
}

export function ledgerSpec(spec: Partial<DefenderLedgerSpec> = {}): DefenderLedgerSpec {
  return {
    seq: 7,
    epoch: 1,
    recovering: false,
    grants: {},
    gone: {},
    rates: {},
    breakers: {},
    approvals: {},
    ruleTerms: { inForce: { waves: [1, '5%', '20%', '100%'], soakSeconds: 1800, minSuccessPercent: 90 } },
    ...spec,
  };
}

export interface Scene {
  readonly policies?: readonly DefenderPolicy[];
  readonly machines?: readonly MachineFacts[];
  readonly ledger?: Partial<DefenderLedgerSpec>;
  readonly facts?: Partial<FleetFacts>;
  readonly ask?: Partial<GrantAsk>;
}

/** Decides with all guards, except those with the ids `without`. */
export function decideScene(scene: Scene, without: ReadonlySet<string> = new Set()): Decision {
  const { policies: all = [policy()], ask: fields } = scene;
  const facts = fleetFacts(scene.machines ?? machines(10), all, scene.facts);
  const state = { policies: preparePolicies(all), ledger: ledgerSpec(scene.ledger), facts, now: NOW };
  return decideAsk({ ...state, usage: createLedgerUsage(state), without }, ask(fields));
}

/** `granted`, or every cause: reason, policy and message. */
export function explain(decision: Decision | Denial): string {
  if (!('permitted' in decision)) return [decision, ...decision.also].map(line).join('\n');
  return decision.permitted ? 'granted' : [decision, ...decision.also].map(line).join('\n');
}

function line({
  reason,
  policy: name,
  message,
}: {
  reason: string;
  policy?: string;
  message: string;
}): string {
  return `${reason}${name === undefined ? '' : ` [${name}]`}: ${message}`;
}

/** Declared in a policy. */
export function breaker(fields: Partial<Breaker> = {}): Breaker {
  return {
    name: 'b',
    type: 'ConsecutiveFailures',
    per: 'Pool',
    risks: [],
    lift: 2,
    cooldownSeconds: 900,
    probes: 1,
    manualAfterTrips: 2,
    ...fields,
  };
}
