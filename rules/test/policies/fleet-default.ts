import { type PolicyTest, type PolicyTestMachines, policyTests } from 'kubenode/constructs';
import { policies } from '../../index.ts';

/** Twenty machines in each of two zones. */
const ready: readonly PolicyTestMachines[] = [
  { name: 'a', count: 20, zone: 'a', pool: 'web' },
  { name: 'b', count: 20, zone: 'b', pool: 'web' },
];
const reboot = { action: 'Reboot' } as const;
const cycle = { action: 'PowerCycle' } as const;

const empty = { action: 'Cordon' } as const;
const restart = { action: 'RestartService' } as const;
const clean = { action: 'CleanDisk' } as const;

/** The same act on the first machines of zone a, one each. */
function lastActs(
  act: { readonly action: 'Reboot' | 'RestartService' | 'CleanDisk' },
  count: number,
  secondsAgo: number,
): NonNullable<PolicyTest['ledger']> {
  const settled = { secondsAgo: secondsAgo - 60 };
  const machines = Array.from({ length: count }, (_, index) => `a-${index + 1}`);
  return { acts: machines.map((machine) => ({ ...act, machine, secondsAgo, settled })) };
}

const replace = { action: 'ReplaceMachine' } as const;
/** Ten machines in each pool, and each pool in a zone of its own. */
const pools: readonly PolicyTestMachines[] = ['1', '2', '3', '4'].map((n) => ({
  name: `p${n}`,
  count: 10,
  zone: n,
  pool: `pool-${n}`,
}));

/** An act whose machine did not come back. */
function failedOn(
  machine: string,
  secondsAgo: number,
): NonNullable<NonNullable<PolicyTest['ledger']>['acts']>[number] {
  return { ...replace, machine, secondsAgo, settled: { secondsAgo: secondsAgo - 60, outcome: 'Failed' } };
}

export const tests = policyTests(policies, [
  {
    name: 'reboots one machine of a healthy fleet',
    expect: 'Granted',
    facts: { machines: ready },
    ask: { ...reboot, machine: 'a-1' },
  },
  {
    name: 'takes down one machine of a zone at a time',
    expect: 'ConcurrencyZone',
    facts: { machines: ready },
    ledger: { acts: [{ ...reboot, machine: 'a-2' }] },
    ask: { ...reboot, machine: 'a-1' },
  },
  {
    name: 'leaves a machine to the autoscaler that removes it',
    expect: 'ForeignOwner',
    facts: { machines: [...ready, { name: 'leaving', taints: ['ToBeDeletedByClusterAutoscaler'] }] },
    ask: { ...reboot, machine: 'leaving' },
  },
  {
    name: 'leaves a machine to Karpenter that replaces it',
    expect: 'ForeignOwner',
    facts: { machines: [...ready, { name: 'leaving', taints: ['karpenter.sh/disrupted'] }] },
    ask: { ...replace, machine: 'leaving' },
  },
  {
    name: 'leaves a machine to another tool that repairs it',
    expect: 'ForeignOwner',
    facts: { machines: [...ready, { name: 'sick', labels: { 'dgxc.nvidia.com/nvsentinel-state': 'x' } }] },
    ask: { ...reboot, machine: 'sick' },
  },
  {
    name: 'restarts no service of a machine that an autoscaler removes',
    expect: 'ForeignOwner',
    facts: { machines: [...ready, { name: 'leaving', taints: ['ToBeDeletedByClusterAutoscaler'] }] },
    ask: { ...restart, machine: 'leaving' },
  },
  {
    name: 'repairs a machine that an autoscaler only considers',
    expect: 'Granted',
    facts: {
      machines: [
        ...ready,
        { name: 'idle', zone: 'a', pool: 'web', taints: ['DeletionCandidateOfClusterAutoscaler'] },
      ],
    },
    ask: { ...reboot, machine: 'idle' },
  },
  {
    name: 'power-cycles a dead host',
    expect: 'Granted',
    facts: {
      machines: [...ready, { name: 'dead', count: 1, zone: 'a', pool: 'web', readiness: 'NotReady' }],
    },
    ask: { ...cycle, machine: 'dead-1' },
  },
  {
    name: 'power-cycles nothing while a fifth of its zone is silent',
    expect: 'BreakerOpen',
    facts: {
      machines: [...ready, { name: 'dead', count: 5, zone: 'a', pool: 'web', readiness: 'NotReady' }],
    },
    ask: { ...cycle, machine: 'dead-1' },
  },
  {
    name: 'acts in another zone meanwhile',
    expect: 'Granted',
    facts: { machines: ready },
    ledger: { acts: [{ ...reboot, machine: 'a-2' }] },
    ask: { ...reboot, machine: 'b-1' },
  },
  {
    name: 'spreads reboots over the hour',
    expect: 'RateWindow',
    facts: { machines: ready },
    ledger: lastActs(reboot, 20, 1800),
    ask: { ...reboot, machine: 'b-1' },
  },
  {
    name: 'empties two machines of a zone before maintenance, a tenth of it',
    expect: 'Granted',
    facts: { machines: ready },
    ledger: { acts: [{ ...empty, machine: 'a-2' }] },
    ask: { ...empty, machine: 'a-1' },
  },
  {
    name: 'empties no third machine of that zone',
    expect: 'ConcurrencyZone',
    facts: { machines: ready },
    ledger: { acts: ['a-2', 'a-3'].map((machine) => ({ ...empty, machine })) },
    ask: { ...empty, machine: 'a-1' },
  },
  {
    name: 'restarts a service while a machine of the zone reboots',
    expect: 'Granted',
    facts: { machines: ready },
    ledger: { acts: [{ ...reboot, machine: 'a-2' }] },
    ask: { ...restart, machine: 'a-1' },
  },
  {
    name: 'restarts at most five services at once',
    expect: 'RateBurst',
    facts: { machines: ready },
    ledger: lastActs(restart, 5, 90),
    ask: { ...restart, machine: 'b-1' },
  },
  {
    name: 'cleans at most ten disks at once',
    expect: 'RateBurst',
    facts: { machines: ready },
    ledger: lastActs(clean, 10, 90),
    ask: { ...clean, machine: 'b-1' },
  },
  {
    name: 'cleans a disk in place although a fifth of the zone is unhealthy',
    expect: 'Granted',
    facts: {
      machines: [...ready, { name: 'sick', count: 5, zone: 'a', pool: 'web', readiness: 'NotReady' }],
    },
    ask: { ...clean, machine: 'sick-1' },
  },
  {
    name: 'stops when a fifth of a zone is unhealthy',
    expect: 'BreakerOpen',
    facts: {
      machines: [...ready, { name: 'sick', count: 5, zone: 'a', pool: 'web', readiness: 'NotReady' }],
    },
    ask: { ...reboot, machine: 'sick-1' },
  },
  {
    name: 'replaces no second machine of a pool after one did not come back',
    expect: 'BreakerOpen',
    facts: { machines: pools },
    ledger: { acts: [failedOn('p1-1', 300)] },
    ask: { ...replace, machine: 'p1-2' },
  },
  {
    name: 'replaces machines of other pools meanwhile',
    expect: 'Granted',
    facts: { machines: pools },
    ledger: { acts: [failedOn('p1-1', 300)] },
    ask: { ...replace, machine: 'p2-1' },
  },
  {
    name: 'replaces nothing in the cluster after machines of three pools did not come back',
    expect: 'BreakerOpen',
    facts: { machines: pools },
    ledger: { acts: [failedOn('p1-1', 300), failedOn('p2-1', 280), failedOn('p3-1', 260)] },
    ask: { ...replace, machine: 'p4-1' },
  },
  {
    name: 'does nothing while the view is old',
    expect: 'WatchStale',
    facts: { machines: ready, viewAgeSeconds: 300 },
    ask: { ...reboot, machine: 'a-1' },
  },
]);
