/** Describes what ends the state of a cluster, or of an object in it: a command, a commit, or nothing but time. Pure. */
import { isPausedReason } from '../../../api/status/sync-words.ts';
import { ownValue } from '../../../kube/objects/json.ts';
import type { ClusterRow } from '../hub-status.ts';

/** The hint by the reason of the wait, in which `CLUSTER` and `PIPELINE` are replaced. */
const BY_REASON: Readonly<Record<string, string>> = {
  UnitPaused:
    'kubenode release resume PIPELINE --cluster CLUSTER --unit UNIT, for each unit that is paused below',
  ObjectPaused:
    'kubenode release resume PIPELINE --cluster CLUSTER --object OBJECT, for each object that is paused below',
  NotDecrypted: 'do what the message names: docs/guides/secrets.md',
  IdentityDenied: 'do what the message names: docs/guides/permissions.md',
  IdentityMissing: 'do what the message names: docs/guides/permissions.md',
  IdentityUnknown: 'no action required: sync asks again',
  UnitNotReady: 'do what the message names, unless that becomes ready by itself',
  RolledBack: 'kubenode rollback CLUSTER --end, or commit the content that it returned to',
  DeletesHeld: 'kubenode release acknowledge CLUSTER --reason TEXT, which prints what to commit',
  ApprovalRequired: 'kubenode release list, then kubenode release approve RELEASE STAGE',
  FailureBudgetSpent: 'fix the clusters that failed and commit, or revert the commit',
  FleetCause: 'revert the commit, or commit what works: kubenode fleet status has the clusters and the end',
  CheckFailed: 'fix what the check reports and commit, or revert the commit',
  NotObservedYet: 'run kubenode controllers --context CLUSTER, if none runs',
  MachinesNotReady: 'do what the message asks for; kubenode machine list --context CLUSTER has all machines',
  Unassigned: 'commit a label of the Cluster, or a clusterSelector, so that one stage selects it',
  ClusterContested: 'commit labels or selectors, so that only one stage of one Pipeline selects it',
  CredentialsInvalid: 'renew the Secret that spec.connection.credentialsRef names',
  StageBefore: 'no action required: it goes on when the stage before has proven the commit',
  StageBusy: 'no action required: it goes on when the stage has ended its commit',
  Pending: 'no action required: it goes on when the stage has room',
  OutsideWindow: 'no action required: it goes on when a window opens',
  Freeze: 'no action required: it goes on when the freeze ends',
  InvalidWindow: 'commit a time zone that exists, such as Europe/Berlin',
};

const BY_STATE: Readonly<Record<string, string>> = {
  Proven: '',
  Pending: 'no action required: it goes on when its turn comes',
  Applying: 'no action required while sync writes and retries',
  Soaking: 'no action required: it goes on when the soak ends',
  Ahead: 'no action required: its stage gets to the newer commit',
  Paused: 'kubenode release resume PIPELINE --cluster CLUSTER, or commit paused: false',
  Failed: 'fix what is named and commit, or revert the commit',
  Held: 'do what the message asks for: sync writes nothing else to it',
  Skipped: 'check its API server, and the network and the credentials of the hub: it goes on when it answers',
  Unreachable:
    'check its API server, and the network and the credentials of the hub: it goes on when it answers',
};

export function unblockCluster({
  name,
  pipeline,
  state,
  reason,
}: Pick<ClusterRow, 'name' | 'pipeline' | 'state'> & { readonly reason: string }): string {
  const isDone = state === 'Proven' || (state === 'Paused' && !isPausedReason(reason));
  const found = isDone ? BY_STATE[state] : (ownValue(BY_REASON, reason) ?? ownValue(BY_STATE, state));
  const text = found ?? 'check that kubenode sync is running';
  return text.replaceAll('CLUSTER', name).replaceAll('PIPELINE', pipeline ?? '<pipeline>');
}

const RETRIED: ReadonlySet<string> = new Set([
  'ServerError',
  'Timeout',
  'Conflict',
  'NotFound',
  'Gone',
  'BadAnswer',
  'Terminating',
  'Replacing',
]);

export function unblockObject(reason: string): string {
  if (RETRIED.has(reason)) return 'no action required: sync retries';
  return ownValue(OBJECTS, reason) ?? 'fix the object and commit, or revert the commit';
}

const OBJECTS: Readonly<Record<string, string>> = {
  Waiting: 'no action required once what it waits for is there',
  UnitNotReady: 'no action required once the unit that it names is ready',
  ForeignFinalizer: 'no commit waits for it: its controller, or a person, has to remove the finalizers',
  DeleteFirst: 'no action required once the object that it names is deleted',
  ApplyFirst: 'no action required once the object that it names is applied',
  DependencyFailed: 'fix the object that it needs',
  UnitPaused: 'no action required once the unit is resumed',
  ObjectPaused: 'no action required once the object is resumed',
  NotWritten: 'no action required once the cluster may be written again',
  FieldConflict: 'do what the message names, and commit',
  NotDecrypted: 'do what the message names: docs/guides/secrets.md',
  IdentityDenied: 'do what the message names: docs/guides/permissions.md',
  IdentityMissing: 'do what the message names: docs/guides/permissions.md',
  IdentityUnknown: 'no action required: sync asks again',
  Forbidden: 'permit it to the user of sync in this cluster: docs/guides/permissions.md',
};
