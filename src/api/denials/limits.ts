/** Describes the reasons that concern one machine, and the limits of the policies: repairs, budgets, capacity, approvals. */
import { type DenialGroup, WAIT_FOR_ACT, WAIT_FOR_TIME } from './denial.ts';

const WAIT_FOR_ROOM =
  'bring machines back that are NotReady or cordoned, or wait until an act settles: kubenode defender status';

export const LIMIT_DENIALS = [
  {
    title: 'This machine',
    reasons: {
      NodeBusy: {
        meaning: 'Another act on the machine is in work.',
        hint: WAIT_FOR_ACT,
      },
      NodeTooYoung: {
        meaning: 'The Node is younger than `blockers.minNodeAgeSeconds`: repairs of it do not begin yet.',
        hint: WAIT_FOR_TIME,
      },
      NodeInterval: {
        meaning: 'The last repair ended a short time ago.',
        hint: WAIT_FOR_TIME,
      },
      NodeJobLimit: {
        meaning: 'The machine had too many repairs within the window.',
        hint: 'find the fault, or replace the machine: more repairs do not help',
      },
      NodeRebootLimit: {
        meaning: 'The machine had too many reboots within the window.',
        hint: 'find the fault, or replace the machine: more reboots do not help',
      },
      Lemon: {
        meaning:
          'The hardware was repaired too often within days, or has a fault again for which an earlier Machine was replaced.',
        hint: 'take the hardware out of service: jobs with the label kubenode.dev/hardware of Machine MACHINE are its history',
      },
      LastReadyOfPool: {
        meaning: 'The machine is the last of its pool that serves, and the pool has to have machines.',
        hint: 'repair another machine of the pool first, or add one',
      },
    },
  },
  {
    title: 'Budgets',
    reasons: {
      ConcurrencyCluster: {
        meaning: 'Too many machines of the cluster are out of service or in work.',
        hint: WAIT_FOR_ROOM,
      },
      ConcurrencyZone: {
        meaning: 'Too many machines of the zone are out of service or in work.',
        hint: WAIT_FOR_ROOM,
      },
      ConcurrencyPool: {
        meaning: 'Too many machines of the pool are out of service or in work.',
        hint: WAIT_FOR_ROOM,
      },
      ConcurrencyLabel: {
        meaning:
          'Too many machines with the same value of a label, such as a rack, are out of service or in work. Machines without the label are one group, `(none)`.',
        hint: WAIT_FOR_ROOM,
      },
      ConcurrencyHolder: {
        meaning: 'The rule or set has too many acts in work.',
        hint: WAIT_FOR_ACT,
      },
      SmallPool: {
        meaning: 'The pool is small: `counting.smallPool` permits fewer acts than the percentage.',
        hint: `${WAIT_FOR_ROOM}; or add machines to the pool`,
      },
      RateWindow: {
        meaning: 'Too many acts within the window of the rate.',
        hint: WAIT_FOR_TIME,
      },
      RateBurst: {
        meaning: 'Too many acts at once; the rate itself is not used up.',
        hint: WAIT_FOR_TIME,
      },
      FleetLimit: {
        meaning:
          'A limit of a FleetPolicy spans clusters, and this cluster has no share of it left. The hub hands out shares; the oldest request comes first. When the hub is away, the floor of the limit holds.',
        hint: 'no action required: the hub gives a share as soon as one is free. Who has them: kubenode fleet why CLUSTER, on the hub',
      },
      RuleWave: {
        meaning:
          'The rule is new or has changed, and repairs few machines first: `ruleWaves` of `fleet-default`. The next wave begins when the repairs of this one succeeded and it has soaked. A wave of which too many repairs failed begins no repair on another machine.',
        hint: 'no action required while repairs succeed. After a wave that failed, change or revert the rule in git: kubenode remedy list shows its jobs',
      },
    },
  },
  {
    title: 'Capacity',
    reasons: {
      PodsFitNowhere: {
        meaning:
          'Some Pods that the act would evict fit on no other node: `capacity.simulateScheduling` of the policy. The message names them, and what is in the way.',
        hint: 'add machines on which the Pods of the message fit, or change in git what these Pods ask for',
      },
      CapacityReserve: {
        meaning:
          'Less of a resource than `capacity.minFreePercent` of the policy asks for would be free after the act.',
        hint: 'add machines, or lower capacity.minFreePercent of the policy in git',
      },
      ReplacementOutOfStock: {
        meaning: 'The provider has no replacement.',
        hint: 'choose another machine type, or wait until the provider has this one',
        later: true,
      },
    },
  },
  {
    title: 'Answers of people',
    reasons: {
      ApprovalPending: {
        meaning: 'The policy requires an approval of the act. The message names the groups.',
        hint: 'kubenode defender approve MACHINE --reason TEXT, or kubenode defender refuse MACHINE --reason TEXT',
      },
      ApprovalRefused: {
        meaning: 'A person refused the act: the message shows who and when.',
        hint: 'no action required until the refusal ends; the person that is named can approve it before',
      },
      ApprovalTimedOut: {
        meaning: 'The approval ended before the act began.',
        hint: 'kubenode defender approve MACHINE --reason TEXT: the last approval has ended',
      },
    },
  },
] as const satisfies readonly DenialGroup[];
