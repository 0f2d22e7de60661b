/**
 * Every string that two parts must agree on: labels, annotations, taints, finalizers, managers, principals,
 * conditions and reasons. Nothing is imported here, so that the agent's bundle can hold it.
 */

export const GROUP = 'kubenode.dev';

// Namespaces

/** Secrets, Leases and inventories of our own. */
export const NAMESPACE = 'kubenode-system';
/** The API server stores Events about cluster-scoped objects here. */
export const NAMESPACE_OF_NODE_EVENTS = 'default';
/** Heartbeat Leases of agents and nothing else, so that the right to write Leases there is worth little. */
export const NAMESPACE_AGENTS = 'kubenode-agents';

// Labels

export const LABEL_MANAGED_BY = 'app.kubernetes.io/managed-by';
/** The value of LABEL_MANAGED_BY on every object that one of our controllers creates. */
export const MANAGED_BY = 'kubenode';
export const LABEL_CLUSTER = `${GROUP}/cluster`;
/** Not stored: `spec.environment` of a Cluster, as selectors see it. */
export const LABEL_ENVIRONMENT = `${GROUP}/environment`;
/** Not stored: `spec.region` of a Cluster, as selectors see it. */
export const LABEL_REGION = `${GROUP}/region`;
export const LABEL_PIPELINE = `${GROUP}/pipeline`;
/** UID of the hub that owns the object; another hub leaves it alone. */
export const LABEL_HUB = `${GROUP}/hub`;
export const LABEL_UNIT = `${GROUP}/unit`;
export const LABEL_MACHINE = `${GROUP}/machine`;
export const LABEL_MACHINESET = `${GROUP}/machineset`;
export const LABEL_POOL = `${GROUP}/pool`;
/** A hash of serial or provider host: repairs are counted on the hardware, not on the name. */
export const LABEL_HARDWARE = `${GROUP}/hardware`;
/** `true` on a Pod: while it runs, no disruptive act on its node. */
export const LABEL_BLOCK = `${GROUP}/block`;
/** On a Machine or Node: nothing with a risk above None is done to it. */
export const LABEL_EXCLUDE = `${GROUP}/exclude`;
/** On a Machine, a word that says why: no write of its agent is accepted. */
export const LABEL_AGENT_BLOCKED = `${GROUP}/agent-blocked`;
export const LABEL_REMEDIER = `${GROUP}/remedier`;
/** Joins the attempts of one fault. */
export const LABEL_CASE = `${GROUP}/case`;
export const LABEL_PART = `${GROUP}/part`;
/** On a ClusterRole: its rules become rules of kubenode-sync. See docs/decisions/0005-permissions-of-sync.md. */
export const LABEL_AGGREGATE_TO_SYNC = `${GROUP}/aggregate-to-sync`;

// Annotations

export const ANNOTATION_COMMIT = `${GROUP}/commit`;
/** File and construct path, for error messages. */
export const ANNOTATION_SOURCE = `${GROUP}/source`;
/** On a Node, the keys that we put there; only these are ever removed. */
export const ANNOTATION_OWNED = `${GROUP}/owned`;
/** On a Node, the id of the grant that cordoned it; absent means that the cordon is not ours. */
export const ANNOTATION_CORDONED_BY = `${GROUP}/cordoned-by`;
/** On a Node or Machine, `<until>; <reason>`: counts as `spec.hold` with scope All. */
export const ANNOTATION_HOLD = `${GROUP}/hold`;
export const ANNOTATION_DELETE = `${GROUP}/delete`;
export const ANNOTATION_DELETION_PRIORITY = `${GROUP}/deletion-priority`;
export const ANNOTATION_YANKED = `${GROUP}/yanked`;
/** `Never` keeps an object when it leaves git. */
export const ANNOTATION_PRUNE = `${GROUP}/prune`;
export const PRUNE_NEVER = 'Never';
/** `Allowed` lets sync delete and create anew where a field is immutable; never on protected kinds. */
export const ANNOTATION_REPLACE = `${GROUP}/replace`;
export const REPLACE_ALLOWED = 'Allowed';
/** On the namespace kubenode-system of a local cluster: the digest of all that was installed there. */
export const ANNOTATION_INSTALLED = `${GROUP}/installed`;
/** `<until>; <who>; <why>`, at most 4 hours: overrides an admission policy, and raises an alert. */
export const ANNOTATION_BREAK_GLASS = `${GROUP}/break-glass`;
/** The UID of the object, which a delete of a protected object must name. */
export const ANNOTATION_CONFIRM_DELETE = `${GROUP}/confirm-delete`;

// Taints on Nodes, all of one effect

export const TAINT_EFFECT = 'NoSchedule';
/** From registration until the Machine is Ready for the first time. */
export const TAINT_NOT_INITIALIZED = `${GROUP}/not-initialized`;
/** While a job or rollout holds the node; says to other remediators that it is ours. */
export const TAINT_MAINTENANCE = `${GROUP}/maintenance`;
export const TAINT_DISK = `${GROUP}/disk`;

// Finalizers

export const FINALIZER_CLUSTER = `${GROUP}/cluster`;
export const FINALIZER_MACHINE = `${GROUP}/machine`;
export const FINALIZER_MACHINESET = `${GROUP}/machineset`;
export const FINALIZER_IN_USE = `${GROUP}/in-use`;
/** A job or maintenance event gives back cordon, taints and grant first. */
export const FINALIZER_SETTLE = `${GROUP}/settle`;

// Field managers, one a controller

export const MANAGER_SYNC = 'kubenode-sync';
export const MANAGER_HOSTING = 'kubenode-hosting';
export const MANAGER_MACHINE = 'kubenode-machine';
export const MANAGER_MACHINESET = 'kubenode-machineset';
export const MANAGER_COMPONENTSET = 'kubenode-componentset';
export const MANAGER_AGENT = 'kubenode-agent';
export const MANAGER_REMEDY = 'kubenode-remedy';
export const MANAGER_REMEDYJOB = 'kubenode-remedyjob';
export const MANAGER_HOSTDOCTOR = 'kubenode-hostdoctor';
export const MANAGER_DEFENDER = 'kubenode-defender';
export const MANAGER_IMPORT = 'kubenode-import';
export const MANAGER_CLI = 'kubenode-cli';
/** Approves and denies certificate requests of agents and their kubelets. */
export const MANAGER_APPROVER = 'kubenode-approver';
/** `kubenode install`: kinds, roles and policies; not in git, so not sync's. */
export const MANAGER_INSTALL = 'kubenode-install';

/** An event reason is the prefix of its manager and a word in CamelCase: `RolloutBatchStarted`. */
export const EVENT_PREFIX = {
  [MANAGER_SYNC]: 'Sync',
  [MANAGER_HOSTING]: 'Hosting',
  [MANAGER_MACHINE]: 'Machine',
  [MANAGER_MACHINESET]: 'Scale',
  [MANAGER_COMPONENTSET]: 'Rollout',
  [MANAGER_AGENT]: 'Agent',
  [MANAGER_REMEDY]: 'Remedy',
  [MANAGER_REMEDYJOB]: 'Job',
  [MANAGER_HOSTDOCTOR]: 'Maintenance',
  [MANAGER_DEFENDER]: 'Defender',
  [MANAGER_APPROVER]: 'Certificate',
  [MANAGER_IMPORT]: 'Import',
  [MANAGER_CLI]: 'Operator',
} as const;

// Principals: ServiceAccounts in NAMESPACE. A controller's principal is named like its field manager.

export const PRINCIPAL_SYNC = MANAGER_SYNC;
export const PRINCIPAL_HOSTING = MANAGER_HOSTING;
export const PRINCIPAL_MACHINE = MANAGER_MACHINE;
export const PRINCIPAL_MACHINESET = MANAGER_MACHINESET;
export const PRINCIPAL_COMPONENTSET = MANAGER_COMPONENTSET;
export const PRINCIPAL_REMEDY = MANAGER_REMEDY;
export const PRINCIPAL_REMEDYJOB = MANAGER_REMEDYJOB;
export const PRINCIPAL_HOSTDOCTOR = MANAGER_HOSTDOCTOR;
export const PRINCIPAL_DEFENDER = MANAGER_DEFENDER;
/** Approves and denies CSRs in our names; nobody else holds `approve`. */
export const PRINCIPAL_APPROVER = MANAGER_APPROVER;
/** The process `kubenode controllers`; impersonates the account of each controller that it runs. */
export const PRINCIPAL_CONTROLLERS = 'kubenode-controllers';

export const AGENT_GROUP = 'kubenode:agents';
/** The user of an agent is this and the name of its machine. */
export const AGENT_USER_PREFIX = 'kubenode:agent:';
export const NODE_USER_PREFIX = 'system:node:';
/** Hosts that join with a bootstrap token: they may request a certificate, and nothing else. */
export const BOOTSTRAP_GROUP = 'system:bootstrappers:kubenode';

/** ClusterRoles for people. */
export const ROLE_VIEW = 'kubenode-view';
export const ROLE_OPERATOR = 'kubenode-operator';
/** May create the policy `kill-switch`, and nothing else. */
export const ROLE_STOP = 'kubenode-stop';
export const ROLE_ADMIN = 'kubenode-admin';

/** As the API server names a ServiceAccount of ours in a request. */
export function serviceAccountUser(principal: string): string {
  return `system:serviceaccount:${NAMESPACE}:${principal}`;
}

export function agentUser(machine: string): string {
  return `${AGENT_USER_PREFIX}${machine}`;
}

// Admission policies

export const POLICY_AGENT_OWN_OBJECTS = 'kubenode-agent-own-objects';
export const POLICY_AGENT_BLOCKED = 'kubenode-agent-blocked';
export const POLICY_LEDGER_WRITER = 'kubenode-ledger-writer';
export const POLICY_COMPONENTS_WRITER = 'kubenode-components-writer';
export const POLICY_GIT_ONLY = 'kubenode-git-only';
export const POLICY_PROTECTED_DELETE = 'kubenode-protected-delete';
export const POLICY_GRANT_REQUIRED = 'kubenode-grant-required';
export const POLICY_BOOTSTRAP_TOKENS = 'kubenode-bootstrap-tokens';

// Objects with a fixed name, and names that are composed

/** The one DefenderLedger of a cluster. */
export const LEDGER = 'default';
/** The DefenderPolicy without which every ask is denied. */
export const FLEET_DEFAULT = 'fleet-default';
/** The DefenderPolicy that `kubenode defender stop` creates; sync never renders it. */
export const KILL_SWITCH = 'kill-switch';
/** Bootstrap tokens are Secrets here. */
export const NAMESPACE_KUBE_SYSTEM = 'kube-system';
/** The namespace whose UID is the identity of a cluster. */
export const IDENTITY_NAMESPACE = NAMESPACE_KUBE_SYSTEM;

/** The Lease that is the right to sync one cluster. */
export function clusterLease(cluster: string): string {
  return `cluster-${cluster}`;
}

/** The Secret in NAMESPACE of the hub through which sync reaches a cluster that we made. */
export function kubeconfigSecret(cluster: string): string {
  return `${cluster}-kubeconfig`;
}

/** The ConfigMaps of sync's write-ahead inventory: `inventory-<unit>-<n>`. */
export const INVENTORY_PREFIX = 'inventory-';

export function inventoryConfigMap(unit: string, index: number): string {
  return `${INVENTORY_PREFIX}${unit}-${index}`;
}

// Conditions

/**
 * Every condition type of our kinds. `+`: True is the good state. `-`: True is the state to look at.
 * A missing condition reads as Unknown, and Unknown is never good.
 */
export const CONDITIONS = {
  // every kind that can wait
  Progressing: '+',
  Stalled: '-',
  Ready: '+',
  // Cluster
  Reachable: '+',
  IdentityVerified: '+',
  Synced: '+',
  Healthy: '+',
  ControlPlaneReady: '+',
  ControlPlaneUpToDate: '+',
  EtcdReady: '+',
  CertificatesValid: '+',
  AddonsReady: '+',
  BackupReady: '+',
  TunnelToNodes: '+',
  TunnelFromNodes: '+',
  ControlPlaneStalled: '-',
  // Pipeline
  SourceReady: '+',
  Rendered: '+',
  Promoted: '+',
  Held: '-',
  // Release
  Succeeded: '+',
  Superseded: '-',
  // Machine
  InfraConfigValid: '+',
  InfraReady: '+',
  HostTrusted: '+',
  PreflightPassed: '+',
  AgentInstalled: '+',
  SSHCredentialsNeeded: '-',
  CertificateIssued: '+',
  AgentReady: '+',
  NodeReady: '+',
  NodeSynced: '+',
  ComponentsReady: '+',
  UpToDate: '+',
  DriftDetected: '-',
  NeedsPerson: '-',
  // MachineSet
  ScaledAsWanted: '+',
  MachinesReady: '+',
  StormGuardActive: '-',
  // MachineComponent
  Accepted: '+',
  InUse: '-',
  Yanked: '-',
  // MachineComponentSet
  Available: '+',
  GatesPassed: '+',
  Conflict: '-',
  // NodeRemedier
  MatchBounded: '+',
  Enforcing: '+',
  Indeterminate: '-',
  // RemedyOperationJob
  Guarded: '+',
  Executed: '+',
  Verified: '+',
  Settled: '+',
  // MaintenanceEvent
  Matched: '+',
  Prepared: '+',
  Inconsistent: '-',
  // DefenderPolicy
  InForce: '+',
  KillSwitchEngaged: '-',
  BreakerOpen: '-',
  // DefenderLedger
  NearFull: '-',
  Suspect: '-',
} as const;

export type ConditionType = keyof typeof CONDITIONS;

/** Reasons of conditions and waits that more than one part writes or reads. CamelCase, "not yet, because …". */
export const REASONS = [
  'AdmissionDenied',
  'AllDone',
  'ApprovalRequired',
  'AsWanted',
  'Audit',
  'BatchFull',
  'Denied',
  'DriftConflict',
  'DuplicateHost',
  'FailureBudgetSpent',
  'Freeze',
  'GateOpen',
  'GrantDenied',
  'HeldAll',
  'HeldDisruptive',
  'HostKeyMismatch',
  'MachineBusy',
  'NoNodesYet',
  'Observe',
  'OutsideWindow',
  'Paused',
  'PodDisruptionBudget',
  'ReplacementRequired',
  'RollbackImpossible',
  'RolledBack',
  'RollingBack',
  'Shadow',
  'Soaking',
  'StageBefore',
  'Stale',
  'Suspended',
  'TooManyUnavailable',
  'ViewLost',
] as const;

export type Reason = (typeof REASONS)[number];
