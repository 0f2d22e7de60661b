/** Describes what ends the wait of a rule that found a fault on a machine and begins no repair. Pure. */
import { DENIALS } from '../../api/deny-reasons.ts';
import { LABEL_EXCLUDE } from '../../api/names.ts';
import type { WaitReason } from '../../api/status/rule-waits.ts';
import { ownValue } from '../../kube/objects/json.ts';

/**
 * The hint for each reason, in which `MACHINE` and `RULE` are replaced. Where the Defender denied the repair, its reason is reported
 * instead.
 */
const HINTS: Readonly<Record<Exclude<WaitReason, 'Denied'>, string>> = {
  Observe: 'no action required: the rule only counts. To let it act, commit spec.mode Enforce',
  Shadow:
    'no action required: the rule only records what it would do. To let it act, commit spec.mode Enforce',
  NoCommit: 'commit the rule to the fleet repository: only rules that sync applied act',
  GateClosed:
    'no action required: it acts once its gate opens. kubenode rules explain MACHINE shows the gate',
  Indeterminate: 'restore what is unknown: kubenode rules explain MACHINE shows what, and since when',
  Starting: 'no action required: it acts once each of its targets was evaluated',
  TooManyMatches:
    'look for a common cause, or commit a higher spec.target.maxMatchPercent: kubenode rules explain MACHINE',
  NoNode: 'no action required once the machine has a Node: kubenode machine show MACHINE',
  NeedsPerson:
    'repair the machine. The condition is removed when the fault stays away: kubenode machine show MACHINE',
  HandedOff: 'repair the machine. The case is closed when the fault stays away: kubenode remedy list',
  HumanHold: 'kubenode machine release MACHINE',
  NodeExcluded: `remove the label ${LABEL_EXCLUDE} from the machine`,
  Covered: 'no action required: another rule or job repairs the machine. kubenode remedy list',
  JobActive: 'no action required: the rule is evaluated again when the job has ended. kubenode remedy list',
  Verified: 'no action required: the next job is for a fault that begins after that repair',
  RetryLater: 'no action required: it begins at the time that is named',
  Flapping:
    'look for what makes the fault come and go. Repairs continue when it was calm until the time that is named',
  MaxJobs: 'repair the machine, or commit a higher spec.perMachine.maxJobs of rule RULE',
  ControlPlaneBusy: 'no action required once that job has ended: kubenode remedy list',
  Outranked: 'no action required: it is evaluated again after the rule that goes first',
  NotItsTurn: 'no action required once the machine that goes first has its job: kubenode remedy list',
};

export function ruleWaitHint(reason: string, rule: string, machine: string): string | undefined {
  const hint = ownValue<string>(HINTS, reason) ?? ownValue(DENIALS, reason)?.hint;
  return hint?.replaceAll('MACHINE', machine).replaceAll('RULE', rule);
}
