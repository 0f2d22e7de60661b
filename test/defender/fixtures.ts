/** One scene for each reason of a denial, with everything that the denial has to tell. */
import { DENIALS, DENY_REASONS, type DenyReason } from '../../src/api/deny-reasons.ts';
import type {
  Breaker,
  DefenderPolicySpec,
  LedgerApproval,
  LedgerBreaker,
  LedgerRate,
} from '../../src/api/generated/types.ts';
import type { ControlPlaneMember, MachineFacts } from '../../src/defender/facts/facts.ts';
import { jsonBytes } from '../../src/defender/ledger/usage.ts';
import { ledgerRule } from '../rollout/rule-waves/builders.ts';
import { allowance, clustersLimit } from './allowance/builders.ts';
import {
  ago,
  entry,
  ledgerSpec,
  machineFacts,
  machines,
  policy,
  type Scene,
  secondsAgo,
} from './builders.ts';
import { capacityOf, nodeOf, podOf } from './capacity/builders.ts';

export interface DenialFixture {
  readonly reason: DenyReason;
  readonly scene: Scene;
  readonly because: string;
}

/** The shell of the ledger gives these reasons, and is tested with them. */
export const OF_THE_LEDGER: readonly DenyReason[] = ['LedgerUnavailable', 'LedgerConflict'];

/** No part of this version gives these reasons. */
export const OF_LATER_VERSIONS = DENY_REASONS.filter((reason) => DENIALS[reason].later);

const P = '[fleet-default]';

const SILENT_FACTS = { readiness: 'Unknown', unknownSince: secondsAgo(9000) } as const;
const SILENT = machineFacts('m-1', SILENT_FACTS);

/** A policy whose other limits a silent fleet does not reach. */
function vantage(witness: 'PeerAgents' | 'Provider'): Pick<Scene, 'policies'> {
  const { selfDoubt } = policy().spec;
  return only({ selfDoubt: { ...selfDoubt, massUnknownPercent: 1000, secondVantage: [witness] } });
}

function only(spec: Partial<DefenderPolicySpec>): Pick<Scene, 'policies'> {
  return { policies: [policy(spec)] };
}

/** Ten machines, of which the first is like this. */
function first(facts: Partial<MachineFacts>): Pick<Scene, 'machines'> {
  return { machines: [machineFacts('m-1', facts), ...machines(10).slice(1)] };
}

function concurrency(limit: Partial<DefenderPolicySpec['concurrency'][number]>): Pick<Scene, 'policies'> {
  return only({ concurrency: [{ name: 'limit', per: 'Cluster', actions: [], max: 1, ...limit }] });
}

const inWork = { ledger: { grants: { 'm-2': entry('m-2') } } };

function breaker(state: LedgerBreaker, fields: Partial<Breaker> = {}, key = 'cluster'): Scene {
  const declared: Breaker = {
    name: 'storm',
    type: 'UnhealthyRatio',
    per: 'Cluster',
    risks: [],
    percent: 20,
    count: 3,
    lift: 2,
    cooldownSeconds: 900,
    probes: 1,
    manualAfterTrips: 2,
    ...fields,
  };
  return {
    ...only({ breakers: [declared] }),
    ledger: { breakers: { [`fleet-default/storm/${key}`]: state } },
  };
}

function counter(value: number): LedgerRate {
  return { bucketSeconds: 7200, firstBucketAt: ago(600), counts: [value] };
}

function breakersOf(count: number): Record<string, LedgerBreaker> {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`other/b/${n}`, OPEN]));
}

/** So many that the ledger has this size exactly. */
function largeApprovals(kibibytes: number): Record<string, LedgerApproval> {
  const answers = Array.from(
    { length: 64 },
    (_, n) => [`x-${String(n).padStart(2, '0')}`, refusal(5000)] as const,
  );
  const over = jsonBytes(ledgerSpec({ approvals: Object.fromEntries(answers) })) - kibibytes * 1024;
  return Object.fromEntries([...answers.slice(1), ['x-00', refusal(5000 - over)]]);
}

function refusal(length: number): LedgerApproval {
  return {
    action: 'Reboot',
    holder: 'x',
    decision: 'Refused',
    by: 'a'.repeat(length),
    at: ago(9),
    until: ago(-9),
  };
}

const OPEN: LedgerBreaker = { state: 'Open', since: ago(60), trips: 1, evidence: '5 of 10 not Ready' };

function plane(members: readonly Partial<ControlPlaneMember>[]): Scene {
  const controlPlane = members.map(
    (member, index): ControlPlaneMember => ({
      machine: `m-${index + 1}`,
      etcd: 'Healthy',
      apiServer: 'Ready',
      isLeader: false,
      needsWork: false,
      ...member,
    }),
  );
  return { machines: machines(10, { isControlPlane: true }), facts: { controlPlane } };
}

const approval = {
  name: 'data',
  risks: [],
  actions: [],
  onlyLocalData: false,
  approvers: ['sre'],
  timeoutSeconds: 60,
};

function answered(decision: 'Approved' | 'Refused', until: string): Scene {
  const answer = { action: 'Reboot', holder: 'm-1-job', decision, by: 'ann', at: ago(60), until };
  return { ...only({ approval: [approval] }), ledger: { approvals: { 'm-1': answer } } };
}

function rate(burst: number): Scene {
  return {
    ...only({
      rates: [
        {
          name: 'reboots',
          per: 'Cluster',
          actions: ['Reboot'],
          risks: [],
          max: 3,
          windowSeconds: 3600,
          burst,
        },
      ],
    }),
    ledger: {
      rates: {
        'fleet-default/reboots/cluster': {
          bucketSeconds: 300,
          firstBucketAt: ago(1000),
          counts: [1, 1, 0, 1],
        },
      },
    },
  };
}

const repaired = (seconds: number, rebooted = false) => ({ at: secondsAgo(seconds), rebooted });

export const FIXTURES: readonly DenialFixture[] = [
  {
    reason: 'KillSwitch',
    scene: only({ killSwitch: { engaged: true, scope: 'All', by: 'ann', reason: 'storm' } }),
    because: `KillSwitch ${P}: kill switch engaged by ann: storm`,
  },
  {
    reason: 'ClusterPaused',
    scene: first({ paused: true }),
    because: 'ClusterPaused: m-1 is paused',
  },
  {
    reason: 'HumanHold',
    scene: first({ holds: [{ reason: 'debugging', scope: 'Disruptive' }] }),
    because: 'HumanHold: machine m-1 is held: debugging',
  },
  {
    reason: 'NodeExcluded',
    scene: first({ excluded: true }),
    because: 'NodeExcluded: machine m-1 has the label kubenode.dev/exclude',
  },
  {
    reason: 'PolicyMissing',
    scene: { policies: [policy({}, 'gpu')] },
    because: 'PolicyMissing: DefenderPolicy fleet-default is missing',
  },
  {
    reason: 'PolicyInvalid',
    scene: only({ concurrency: [] }),
    because: `PolicyInvalid ${P}: DefenderPolicy fleet-default: fleet-default must limit concurrency`,
  },
  {
    reason: 'FactUnknown',
    scene: { ask: { machine: 'm-99' } },
    because: 'FactUnknown: machine m-99 is unknown',
  },
  {
    reason: 'LedgerFull',
    scene: {
      ledger: {
        grants: Object.fromEntries(Array.from({ length: 512 }, (_, n) => [`x-${n}`, entry(`x-${n}`)])),
      },
    },
    because: 'LedgerFull: grants of the ledger: 512 of 512 entries',
  },
  {
    reason: 'LedgerFull',
    scene: { ledger: { breakers: breakersOf(64) } },
    because: 'LedgerFull: breakers of the ledger: 64 of 64 entries',
  },
  {
    reason: 'LedgerFull',
    scene: { ledger: { approvals: largeApprovals(384) } },
    because: `LedgerFull: bytes of the ledger: ${384 * 1024} of ${384 * 1024}`,
  },
  {
    reason: 'StormCooldown',
    scene: {
      ...breaker(OPEN),
      ledger: {
        rates: { 'fleet-default/storm/cluster#storm': counter(1) },
        grants: { 'm-2': entry('m-2') },
      },
    },
    because: `StormCooldown ${P}: cluster recovers from a storm: 1 acts in work, and at most 1 allowed until more are verified (breaker storm)`,
  },
  {
    reason: 'LedgerRecovering',
    scene: { ledger: { recovering: true, recoveringSince: ago(60) } },
    because: 'LedgerRecovering: the ledger was lost or restored, and recovers until 2030-01-01T12:04:00.000Z',
  },
  {
    reason: 'AskInvalid',
    scene: { ask: { risk: 'None' } },
    because: 'AskInvalid: invalid ask: risk of Reboot is at least Node',
  },
  {
    reason: 'AskStale',
    scene: { ask: { factsAt: secondsAgo(61) } },
    because: 'AskStale: the facts of the ask are 61 s old; at most 60 s are allowed',
  },
  {
    reason: 'RevisionUnknown',
    scene: { ask: { holder: { kind: 'RemedyOperationJob', name: 'j' } } },
    because:
      'RevisionUnknown: RemedyOperationJob j does not name the revision of the rule or set that it acts for',
  },
  {
    reason: 'NodeIdentityChanged',
    scene: { ask: { nodeUID: 'older' } },
    because: 'NodeIdentityChanged: machine m-1: the ask is about Node older, but its Node is uid-m-1',
  },
  {
    reason: 'WatchStale',
    scene: { facts: { view: { ageSeconds: 200, apiErrorPercent: 0, clockSkewSeconds: 0 } } },
    because: `WatchStale ${P}: no contact with the API server for 200 s; at most 150 s are allowed`,
  },
  {
    reason: 'APIErrors',
    scene: { facts: { view: { ageSeconds: 0, apiErrorPercent: 40, clockSkewSeconds: 0 } } },
    because: `APIErrors ${P}: failed requests to the API server: 40 %; at most 20 % are allowed`,
  },
  {
    reason: 'MassUnknown',
    scene: {
      ...only({
        selfDoubt: {
          maxViewAgeSeconds: 150,
          apiErrorPercent: 20,
          massUnknownPercent: 40,
          withinSeconds: 120,
          secondVantage: [],
        },
      }),
      machines: [
        ...machines(6),
        ...[7, 8, 9, 10].map((n) =>
          machineFacts(`m-${n}`, { readiness: 'Unknown', unknownSince: secondsAgo(600 + n) }),
        ),
      ],
    },
    because: `MassUnknown ${P}: 4 of 10 machines became Unknown within 120 s; 4 put the view in doubt`,
  },
  {
    reason: 'SecondVantageMissing',
    scene: { ...vantage('Provider'), machines: [SILENT, ...machines(10).slice(1)] },
    because: `SecondVantageMissing ${P}: machine m-1 is silent, and no witness confirms it: Provider`,
  },
  {
    reason: 'SecondVantageDisagrees',
    scene: {
      ...vantage('PeerAgents'),
      machines: [SILENT, ...machines(10, { ...SILENT_FACTS, zone: 'a' }).slice(1)],
    },
    because: `SecondVantageDisagrees ${P}: machine m-1 is silent, and so are most machines near it: the network or the view is cut`,
  },
  {
    reason: 'ControlPlaneBusy',
    scene: { ...plane([{}, {}, {}]), ledger: { grants: { 'm-3': entry('m-3') } } },
    because: `ControlPlaneBusy ${P}: control plane machines in work: m-3; at most 1 at a time`,
  },
  {
    reason: 'ControlPlaneUnreadable',
    scene: { machines: machines(3, { isControlPlane: true }), facts: { controlPlane: undefined } },
    because: `ControlPlaneUnreadable ${P}: etcd members and API servers could not all be read`,
  },
  {
    reason: 'EtcdQuorum',
    scene: plane([{}, { etcd: 'Unhealthy' }, {}]),
    because: `EtcdQuorum ${P}: healthy etcd members without this one: 1; the quorum is 2`,
  },
  {
    reason: 'APIServersNotEnough',
    scene: plane([{}, { apiServer: 'NotReady' }, {}]),
    because: `APIServersNotEnough ${P}: ready API servers without this one: 1; at least 2 must remain`,
  },
  {
    reason: 'LeaderGoesLast',
    scene: plane([{ isLeader: true }, { needsWork: true }, {}]),
    because: `LeaderGoesLast ${P}: machine m-1 is the etcd leader, and m-2 goes first`,
  },
  {
    reason: 'SingleControlPlane',
    scene: plane([{}]),
    because: `SingleControlPlane ${P}: the control plane has one machine: approve the act to interrupt it`,
  },
  {
    reason: 'ControlPlaneActionNotAllowed',
    scene: {
      ...plane([{}, {}, {}]),
      ...only({
        controlPlane: { max: 1, readyAPIServersAfter: 2, etcdQuorumAfter: true, actions: ['CleanDisk'] },
      }),
    },
    because: `ControlPlaneActionNotAllowed ${P}: Reboot is not allowed on control plane machines`,
  },
  {
    reason: 'ZoneDark',
    scene: {
      ...only({ zones: { haltPercent: 55, minNodes: 3 } }),
      machines: [
        ...machines(4),
        ...[5, 6, 7, 8, 9].map((n) => machineFacts(`m-${n}`, { readiness: 'NotReady' })),
      ],
    },
    because: `ZoneDark ${P}: zone a is dark: 5 of 9 nodes are not Ready; 5 make it dark`,
  },
  {
    reason: 'ZonalShift',
    scene: { facts: { zonalShifts: new Set(['a']) } },
    because: 'ZonalShift: the provider reports zone a as failing',
  },
  {
    reason: 'BreakerOpen',
    scene: breaker(OPEN),
    because: `BreakerOpen ${P}: breaker storm of cluster is open: 5 of 10 not Ready`,
  },
  {
    reason: 'BreakerHalfOpenBusy',
    scene: breaker({ ...OPEN, state: 'HalfOpen', probe: 'm-4' }),
    because: `BreakerHalfOpenBusy ${P}: breaker storm of cluster is half open, and m-4 is its probe`,
  },
  {
    reason: 'BreakerNeedsPerson',
    scene: breaker({ ...OPEN, state: 'NeedsPerson' }),
    because: `BreakerNeedsPerson ${P}: breaker storm of cluster waits for a person: 5 of 10 not Ready`,
  },
  {
    reason: 'CommonCause',
    scene: {
      ...breaker(OPEN, { type: 'CommonCause', dimensions: ['kernelVersion'] }, 'kernelVersion=6.9'),
      ...first({ dimensions: { kernelVersion: '6.9' } }),
    },
    because: `CommonCause ${P}: breaker storm of kernelVersion 6.9 is open: 5 of 10 not Ready`,
  },
  {
    reason: 'DetectorSuspect',
    scene: breaker(OPEN, { type: 'IndeterminateRatio' }),
    because: `DetectorSuspect ${P}: breaker storm of cluster is open: 5 of 10 not Ready`,
  },
  {
    reason: 'DetectorSuspect',
    scene: {
      ...breaker(OPEN, { type: 'CommonCause', dimensions: ['detectorConfig'] }, 'detectorConfig=ab12'),
      ...first({ dimensions: { detectorConfig: 'ab12' } }),
    },
    because: `DetectorSuspect ${P}: breaker storm of detectorConfig ab12 is open: 5 of 10 not Ready`,
  },
  {
    reason: 'QuietWindow',
    scene: only({
      quiet: [
        {
          name: 'noon',
          start: '11:00',
          end: '13:00',
          timeZone: 'UTC',
          risks: ['Node'],
          exceptFaultClasses: ['GPU'],
        },
      ],
    }),
    because: `QuietWindow ${P}: quiet window noon until 2030-01-01T13:00:00.000Z`,
  },
  {
    reason: 'Freeze',
    scene: only({
      freezes: [{ name: 'sale', from: ago(60), until: ago(-60), reason: 'big sale', risks: ['Node'] }],
    }),
    because: `Freeze ${P}: freeze sale until 2030-01-01T12:01:00.000Z: big sale`,
  },
  {
    reason: 'BlockedByAlert',
    scene: {
      ...only({
        blockers: {
          foreign: [],
          podLabels: [],
          minNodeAgeSeconds: 0,
          promql: [{ name: 'paging', query: 'x' }],
        },
      }),
      facts: { alert: () => ({ state: 'Firing', message: '2 samples' }) },
    },
    because: `BlockedByAlert ${P}: alert paging is firing: 2 samples`,
  },
  {
    reason: 'AlertUnreadable',
    scene: only({
      blockers: {
        foreign: [],
        podLabels: [],
        minNodeAgeSeconds: 0,
        promql: [{ name: 'paging', query: 'x' }],
      },
    }),
    because: `AlertUnreadable ${P}: alert paging could not be read: Prometheus was not asked yet`,
  },
  {
    reason: 'ForeignOwner',
    scene: {
      ...only({
        blockers: {
          foreign: [{ lease: 'medik8s-leases/node-{node}' }],
          podLabels: [],
          minNodeAgeSeconds: 0,
          promql: [],
        },
      }),
      ...first({ foreignLeases: ['medik8s-leases/node-m-1'] }),
    },
    because: `ForeignOwner ${P}: another tool maintains m-1: lease medik8s-leases/node-m-1`,
  },
  {
    reason: 'BlockedByPod',
    scene: {
      ...only({
        blockers: { foreign: [], podLabels: ['kubenode.dev/block=true'], minNodeAgeSeconds: 0, promql: [] },
      }),
      ...first({ blockingPods: { 'kubenode.dev/block=true': 'shop/cart-1' } }),
    },
    because: `BlockedByPod ${P}: Pod shop/cart-1 with label kubenode.dev/block=true runs on it`,
  },
  {
    reason: 'NodeBusy',
    scene: { ledger: { grants: { 'm-1': entry('m-1') } } },
    because: 'NodeBusy: machine m-1: UpdateComponent of MachineComponentSet base is in work (g-m-1, Started)',
  },
  {
    reason: 'NodeTooYoung',
    scene: first({ nodeCreatedAt: secondsAgo(100) }),
    because: `NodeTooYoung ${P}: Node m-1 is 100 s old; repairs begin after 900 s`,
  },
  {
    reason: 'NodeInterval',
    scene: first({ repairs: [repaired(600)] }),
    because: `NodeInterval ${P}: machine m-1 was repaired 600 s ago; the next repair may begin at 2030-01-01T12:20:00.000Z`,
  },
  {
    reason: 'NodeJobLimit',
    scene: first({ repairs: [1, 2, 3, 4, 5].map((hours) => repaired(hours * 3600)) }),
    because: `NodeJobLimit ${P}: machine m-1: 5 repairs within 86400 s; the limit is 5`,
  },
  {
    reason: 'NodeRebootLimit',
    scene: first({ repairs: [1, 2, 3].map((hours) => repaired(hours * 3600, true)) }),
    because: `NodeRebootLimit ${P}: machine m-1: 3 reboots within 86400 s; the limit is 3`,
  },
  {
    reason: 'Lemon',
    scene: first({ repairs: Array.from({ length: 50 }, (_, n) => repaired(90_000 + n)) }),
    because: `Lemon ${P}: machine m-1: 50 repairs of a lemon within 604800 s; the limit is 50`,
  },
  {
    reason: 'LastReadyOfPool',
    scene: { machines: [machineFacts('m-1', { pool: 'db' }), ...machines(10).slice(1)] },
    because: `LastReadyOfPool ${P}: machine m-1 is the last of pool db that serves`,
  },
  {
    reason: 'ConcurrencyCluster',
    scene: { ...concurrency({ max: '10%' }), ...inWork },
    because: `ConcurrencyCluster ${P}: cluster: 1 out of service or in work, and at most 1 allowed (10% of 10) by limit limit`,
  },
  {
    reason: 'ConcurrencyZone',
    scene: { ...concurrency({ per: 'Zone' }), ...inWork },
    because: `ConcurrencyZone ${P}: zone a: 1 out of service or in work, and at most 1 allowed by limit limit`,
  },
  {
    reason: 'ConcurrencyPool',
    scene: { ...concurrency({ per: 'Pool' }), ...inWork },
    because: `ConcurrencyPool ${P}: pool web: 1 out of service or in work, and at most 1 allowed by limit limit`,
  },
  {
    reason: 'ConcurrencyLabel',
    scene: { ...concurrency({ per: 'Label', labelKey: 'topology.kubernetes.io/rack' }), ...inWork },
    because: `ConcurrencyLabel ${P}: topology.kubernetes.io/rack r1: 1 out of service or in work, and at most 1 allowed by limit limit`,
  },
  {
    reason: 'ConcurrencyHolder',
    scene: {
      ...concurrency({ per: 'Holder' }),
      ledger: {
        grants: {
          'm-2': entry('m-2', {
            holder: { kind: 'RemedyOperationJob', name: 'j', origin: 'NodeRemedier/hang' },
          }),
        },
      },
    },
    because: `ConcurrencyHolder ${P}: holder NodeRemedier/hang: 1 in work, and at most 1 allowed by limit limit`,
  },
  {
    reason: 'SmallPool',
    scene: {
      ...only({
        counting: { include: ['InFlight'], lingerSeconds: 900, smallPool: { below: 11, max: 1 } },
        concurrency: [{ name: 'limit', per: 'Pool', actions: [], max: 5 }],
      }),
      ...inWork,
    },
    because: `SmallPool ${P}: pool web: 1 out of service or in work, and at most 1 allowed by limit limit`,
  },
  {
    reason: 'RateWindow',
    scene: rate(3),
    because: `RateWindow ${P}: reboots: 3 acts within 3600 s, and at most 3 allowed for cluster`,
  },
  {
    reason: 'FleetLimit',
    scene: { ledger: { allowance: allowance({ limits: [clustersLimit({ share: 0 })] }) } },
    because:
      'FleetLimit: fleet/clusters: at most 3 (clusters) may be in work at once over the fleet, and it is not the turn of this cluster; the hub gives a share as soon as one is free',
  },
  {
    reason: 'FleetCause',
    scene: {
      ledger: {
        allowance: allowance({
          causes: [
            {
              dimension: 'componentUpdate',
              value: 'kubelet-2',
              policy: 'fleet',
              until: '2031-01-01T00:00:00Z',
              message: 'componentUpdate kubelet-2 failed in test-1, pre-1: it was rolled back',
            },
          ],
        }),
      },
      ask: { action: 'UpdateComponent', brings: ['kubelet-2'] },
    },
    because:
      'FleetCause: componentUpdate kubelet-2 failed in test-1, pre-1: it was rolled back (FleetPolicy fleet holds it until 2031-01-01T00:00:00Z)',
  },
  {
    reason: 'RuleWave',
    scene: {
      ledger: { rules: { hang: ledgerRule({ failed: ['m-2'] }) } },
      ask: { ruleDigest: 'd-1' },
    },
    because: `RuleWave ${P}: rule hang: wave 1 of 4 failed: 1 of 1 repairs failed, and at least 90 % must succeed: change or revert the rule`,
  },
  {
    reason: 'PodsFitNowhere',
    scene: {
      ...only({ capacity: { minFreePercent: {}, simulateScheduling: true } }),
      facts: { capacity: capacityOf([nodeOf('m-1'), nodeOf('m-2')], [podOf('api', 'm-1', { cpu: '9' })]) },
    },
    because: `PodsFitNowhere ${P}: Pods fit on no other node: web/api: too little cpu on 1 node`,
  },
  {
    reason: 'CapacityReserve',
    scene: {
      ...only({
        capacity: { minFreePercent: { cpu: 30 }, simulateScheduling: false },
      }),
      facts: { capacity: capacityOf([nodeOf('m-1'), nodeOf('m-2')], [podOf('api', 'm-1', { cpu: '3' })]) },
    },
    because: `CapacityReserve ${P}: cpu: 25 % would be free after the act, at least 30 % must be (3 of 4 requested)`,
  },
  {
    reason: 'RateBurst',
    scene: {
      ...only({
        rates: [
          { name: 'reboots', per: 'Cluster', actions: [], risks: [], max: 9, windowSeconds: 3600, burst: 1 },
        ],
      }),
      ledger: {
        rates: {
          'fleet-default/reboots/cluster': { bucketSeconds: 300, firstBucketAt: ago(400), counts: [0, 1] },
        },
      },
    },
    because: `RateBurst ${P}: reboots: 1 acts within 300 s, and at most 1 allowed for cluster`,
  },
  {
    reason: 'ApprovalPending',
    scene: only({ approval: [approval] }),
    because: `ApprovalPending ${P}: Reboot of m-1 by RemedyOperationJob m-1-job waits for the approval of sre`,
  },
  {
    reason: 'ApprovalRefused',
    scene: answered('Refused', ago(-60)),
    because: `ApprovalRefused ${P}: Reboot of m-1 by RemedyOperationJob m-1-job was refused by ann at 2030-01-01T11:59:00Z`,
  },
  {
    reason: 'ApprovalTimedOut',
    scene: answered('Approved', ago(1)),
    because: `ApprovalTimedOut ${P}: the approval of Reboot of m-1 by RemedyOperationJob m-1-job by ann ended at 2030-01-01T11:59:59Z`,
  },
];
