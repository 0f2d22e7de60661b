/** Describes the reasons that concern more than one machine, or come from other parties: the control plane, zones and breakers, time, blockers. */
import { type DenialGroup, WAIT_FOR_ACT, WAIT_FOR_TIME } from './denial.ts';

export const AREA_DENIALS = [
  {
    title: 'The control plane',
    reasons: {
      ControlPlaneBusy: {
        meaning: 'Another machine of the control plane is in work.',
        hint: WAIT_FOR_ACT,
      },
      ControlPlaneUnreadable: {
        meaning:
          'Members of etcd and API servers could not be read. This version reads neither, so no act on a control plane machine is permitted.',
        hint: 'maintain the machine by hand, with the runbook of your distribution',
      },
      EtcdQuorum: {
        meaning: 'Without this machine etcd would lose its quorum.',
        hint: 'repair the unhealthy member of etcd first',
      },
      APIServersNotEnough: {
        meaning: 'Too few ready API servers would remain.',
        hint: 'repair the other API servers first',
      },
      LeaderGoesLast: {
        meaning: 'The machine is the etcd leader, and other members wait for the same act.',
        hint: 'no action required: the other members come first',
      },
      SingleControlPlane: {
        meaning: 'The control plane has one machine: the act interrupts it.',
        hint: 'kubenode defender approve MACHINE --reason TEXT, at a time of your choice',
      },
      ControlPlaneActionNotAllowed: {
        meaning: 'The policy does not list the act in `controlPlane.actions`.',
        hint: 'add the act to controlPlane.actions of the policy in git',
      },
    },
  },
  {
    title: 'Whole areas',
    reasons: {
      ZoneDark: {
        meaning:
          'Most nodes of the zone are not Ready. Nothing disruptive is done in it, and nothing is drained out of it.',
        hint: 'find the fault of the zone: its network, its power, or its control plane',
      },
      ZonalShift: {
        meaning: 'The provider reports the zone as failing.',
        hint: 'no action required: the provider ends the shift',
      },
      BreakerOpen: {
        meaning:
          'A breaker is open: too many machines are unhealthy, or acts failed. The message has the evidence.',
        hint: 'fix the common fault; the breaker closes by itself after a good probe',
      },
      FleetCause: {
        meaning:
          'A version, rule, kernel or image failed in several clusters, so the hub holds it in all of them: no further machine gets it, and no repair of what it causes begins. Reverts and rollbacks are never held.',
        hint: 'revert the version or the rule in git, or commit one that works. Clusters and end: kubenode fleet status, on the hub',
      },
      BreakerHalfOpenBusy: {
        meaning: 'The breaker is half open, and its probe is still at work.',
        hint: WAIT_FOR_ACT,
      },
      BreakerNeedsPerson: {
        meaning: 'The breaker opened several times within a day. It waits for a person.',
        hint: 'fix the cause, then: kubenode defender close, with the breaker that is named',
      },
      CommonCause: {
        meaning: 'Machines with the same version or place fail together: the message names the value.',
        hint: 'roll back the version that is named, or fix the place that is named',
      },
      DetectorSuspect: {
        meaning:
          'What reports faults is suspect itself. Facts that rules need stay unknown on many machines: the message names the rule. Or a fault shows on machines with one version or configuration of the problem detector, and hardly on others: the message names both.',
        hint: 'restore what the message names, or roll the detector back; kubenode rules explain MACHINE shows each fact',
      },
      StormCooldown: {
        meaning:
          'Much of the group was unhealthy, and its breaker has just closed. Acts begin one by one: twice as many after each verified one, for a day at most.',
        hint: WAIT_FOR_ACT,
      },
    },
  },
  {
    title: 'Time',
    reasons: {
      QuietWindow: {
        meaning: 'A quiet window of the policy is open, until the shown time.',
        hint: WAIT_FOR_TIME,
      },
      Freeze: {
        meaning: 'A freeze of the policy is in force: the message has its reason.',
        hint: 'no action required: it continues when the freeze ends; or end the freeze in git',
      },
      RunsIntoWindow: {
        meaning: 'The act would run into a quiet window.',
        hint: WAIT_FOR_TIME,
        later: true,
      },
    },
  },
  {
    title: 'Blockers',
    reasons: {
      BlockedByAlert: {
        meaning: 'A query of blockers.promql of the policy returns samples: an alert is firing.',
        hint: 'end the alert that is named',
      },
      AlertUnreadable: {
        meaning:
          'A query of blockers.promql of the policy has no answer that can be trusted: the message has why.',
        hint: 'restore what the message names; without a Prometheus, remove blockers.promql from the policy',
      },
      ForeignOwner: {
        meaning: 'Another tool maintains the machine: the message shows its taint, label or Lease.',
        hint: 'wait until that tool has finished; if it crashed, remove its mark from the node',
      },
      UnregisteredRemediator: {
        meaning: 'Another remediator is active and not registered.',
        hint: 'register the other remediator in the policy, or stop it',
        later: true,
      },
      BlockedByPod: {
        meaning: 'A Pod with the label `kubenode.dev/block=true` runs on the node.',
        hint: 'ask the owner of the Pod to end it, or to remove its label kubenode.dev/block',
      },
    },
  },
] as const satisfies readonly DenialGroup[];
