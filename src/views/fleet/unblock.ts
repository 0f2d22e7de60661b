/** Describes what ends a wait of a rollout or a machine: a command, a commit, or nothing but time. Pure. */

import { DENIALS, type DenyReason } from '../../api/deny-reasons.ts';
import type { Wait } from '../../api/generated/types.ts';
import { ownValue } from '../../kube/objects/json.ts';

const STOPPED =
  'fix the version and commit, or go back: kubenode rollout undo SET. A new spec.retryToken continues with this one';

/** The hint for each reason, in which `SET` and `BLOCKER` are replaced. */
const UNBLOCKS: Readonly<Record<string, string>> = {
  NotObserved: 'run kubenode controllers for this cluster',
  NotObservedYet: 'run kubenode controllers for this cluster',
  NoToken:
    'kubenode machine token BLOCKER, and start the agent of its host with it: docs/guides/join-a-machine.md',
  TokenEnded:
    'kubenode machine token BLOCKER, and start the agent of its host with it: docs/guides/join-a-machine.md',
  TokenUnused:
    'start the agent of the host with the token: kubenode agent run --machine MACHINE --bootstrap FILE',
  NotIssued: 'check the host and its agent: kubenode agent status there',
  NodeMissing:
    'kubenode machine show BLOCKER lists its components, and what its agent reports of the kubelet',
  NotInUse: 'check the host and its agent: kubenode agent status there',
  RequestPending:
    'run kubenode controllers for this cluster: its approver decides; kubectl describe csr BLOCKER',
  RequestDenied: 'kubectl describe csr BLOCKER tells why; then kubenode machine token for the machine',
  RequestNotSigned: 'check the signer of the cluster: kubectl describe csr BLOCKER',
  ProviderMissing:
    'run kubenode controllers with the options of provider BLOCKER: kubenode controllers --help',
  Paused: 'kubenode rollout resume SET',
  ApprovalRequired: 'kubenode rollout approve SET',
  Soaking: 'no action required: it goes on when the soak ends',
  RollingBack: 'no action required: the machines go back',
  BatchFull: 'no action required: the machines of the batch are in work',
  GateOpen: 'no action required while its checks run; kubenode rollout show SET lists them',
  GateInconclusive:
    'repair the check that gives no answer, then resume: kubenode rollout pause SET, and kubenode rollout resume SET',
  GateFailed: 'fix what the check reports and commit, or go back: kubenode rollout undo SET',
  OutsideWindow: 'no action required: it goes on when a window opens',
  Freeze: 'no action required: it goes on when the freeze ends',
  InvalidWindow: 'commit a time zone that exists, such as Europe/Berlin',
  GrantDenied: 'no action required once the limit has room: kubenode defender status',
  WaitingForGrant: 'no action required once the Defender permits it: kubenode why machine BLOCKER',
  GrantNeeded: 'no action required once the Defender permits it: kubenode why machine BLOCKER',
  DependencyNotCommitted:
    'no action required once that component is committed: kubenode machine show BLOCKER',
  MachineBusy: 'no action required: it goes on when BLOCKER has ended',
  NodeCordoned: 'no action required once the repair gives the node back: kubenode why machine BLOCKER',
  GateLoosened:
    'commit the gate as it was, and change it in a commit of its own. If it is meant so, commit another spec.retryToken',
  HeldByPartition: 'commit a smaller spec.rollout.partition to go on, or go back: kubenode rollout undo SET',
  SpreadLimit: 'no action required once BLOCKER is done: kubenode why machine BLOCKER',
  ComponentIncompatible:
    'do what the message names, commit a version that fits, or exclude the machine in the selector of the set',
  CompatibilityUnknown: 'repair what reports the version that the message names',
  TooManyUnavailable: 'repair the machines that are out of service: kubenode machine list',
  AgentSilent: 'check the host and its agent: kubenode agent status there; kubenode machine show BLOCKER',
  Held: 'kubenode machine release BLOCKER',
  HostDiffers:
    'declare what the host runs, or commit the next version, or set spec.import.existingNode of Machine BLOCKER to Converge',
  HandedOff:
    'repair the machine: kubenode why job, with the job that is named. The case is closed when the fault stays away',
  Pinned: 'remove the pin: its owner removes the entry from spec.components of Machine BLOCKER',
  FailureBudgetSpent: STOPPED,
  BatchUnproven: STOPPED,
  NothingProven:
    'set spec.import.existingNode of Machine BLOCKER to Converge, or declare what its host runs and commit',
  HealthUnknown:
    'repair what reports the health of BLOCKER, then resume: kubenode rollout pause SET, and kubenode rollout resume SET',
  RolledBack: 'commit another version, or a new spec.retryToken to try this one again',
  RollbackImpossible: 'commit a version that works: no earlier revision completed',
  SetConflict: 'commit a selector or a component list that leaves each component of a machine to one set',
  ComponentNotFound: 'commit the MachineComponent BLOCKER, or another version in the set',
  ComponentRefused: 'commit a version that is accepted: kubectl describe machinecomponent BLOCKER',
  ComponentYanked: 'commit another version: BLOCKER is yanked',
  WrongComponent: 'commit a componentRef of the same component',
  ParameterMissing: 'commit a value for the parameter',
  ParameterUnknown: 'commit the set without the parameter',
  PodDisruptionBudget: 'no action required once its pods may be evicted: check the budget that is named',
  Denied: 'commit another version, or set spec.retryToken of the Machine to try this one again',
  TimedOut: 'kubenode machine show BLOCKER lists what its agent reports',
};

export function unblockHint({ reason, blocker }: Pick<Wait, 'reason' | 'blocker'>, set?: string): string {
  const hint = ownValue(UNBLOCKS, reason) ?? ownValue(DENIALS, reason)?.hint ?? fallback(blocker);
  const name = blockerName(blocker);
  return hint
    .replaceAll('SET', set ?? '<set>')
    .replaceAll('BLOCKER', name)
    .replaceAll('MACHINE', name);
}

/** Returns the hint that ends a denial of the Defender about this machine. */
export function denialHint(reason: DenyReason, machine: string): string {
  return DENIALS[reason].hint.replaceAll('MACHINE', machine);
}

/** Returns the hint for an answer about the machine itself: it must not lead back to the command that gave the answer. */
export function hintBeside(machine: string, hint: string): string {
  if (hint === `kubenode why machine ${machine}`) {
    return `kubenode machine show ${machine} lists its conditions, and what its agent reports of each component`;
  }
  return hint.replaceAll(`kubenode why machine ${machine}`, `kubenode machine show ${machine}`);
}

function fallback(blocker: Wait['blocker']): string {
  if (!blocker) return 'what is named above has to change';
  if (blocker.kind === 'Machine') return 'kubenode why machine BLOCKER';
  const namespace = blocker.namespace ? `-n ${blocker.namespace} ` : '';
  return `kubectl ${namespace}describe ${blocker.kind.toLowerCase()} BLOCKER`;
}

function blockerName(blocker: Wait['blocker']): string {
  return blocker?.name ?? '<machine>';
}
