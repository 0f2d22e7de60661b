/**
 * Defines the strings that several parts share: labels, annotations, taints, finalizers, field managers, principals, conditions and
 * reasons. It imports nothing, so that the agent can bundle it.
 */

export const GROUP = 'kubenode.dev';

// Namespaces

/** The namespace of the Secrets, Leases and inventories of kubenode. */
export const NAMESPACE = 'kubenode-system';
/** The namespace of the Service `kubernetes`. */
export const NAMESPACE_OF_API_SERVERS = 'default';
/** The EndpointSlice in which the API servers publish their addresses. */
export const SLICE_OF_API_SERVERS = 'kubernetes';
/** The EndpointSlice with the address at which other machines reach a hosted control plane. ComponentSets read the other one only, and connect to each of its addresses. */
export const ENDPOINT_OUTSIDE = { name: 'kubernetes-outside', namespace: NAMESPACE_OF_API_SERVERS };
/** The namespace in which the API server stores Events about cluster-scoped objects. */
export const NAMESPACE_OF_NODE_EVENTS = 'default';
/** The namespace in which kubelets renew a Lease each. */
export const NAMESPACE_OF_NODE_LEASES = 'kube-node-lease';
/** The namespace of the heartbeat Leases of agents only, so that the permission to write Leases there cannot be abused. */
export const NAMESPACE_AGENTS = 'kubenode-agents';
/** The pools of hosts, and the Leases of those that are taken. */
export const NAMESPACE_HOSTS = 'kubenode-hosts';
/** The audit record: who wrote what with which commit and which grant. */
export const NAMESPACE_AUDIT = 'kubenode-audit';

// Labels

export const LABEL_MANAGED_BY = 'app.kubernetes.io/managed-by';
/** The value of LABEL_MANAGED_BY on every object that one of our controllers creates. */
export const MANAGED_BY = 'kubenode';
/** The label that selectors match against `spec.environment` of a Cluster. It is not stored. */
export const LABEL_ENVIRONMENT = `${GROUP}/environment`;
/** The label that selectors match against `spec.region` of a Cluster. It is not stored. */
export const LABEL_REGION = `${GROUP}/region`;
export const LABEL_PIPELINE = `${GROUP}/pipeline`;
/** The UID of the hub that owns the object. Other hubs do not write it. */
export const LABEL_HUB = `${GROUP}/hub`;
/** On the Secret with the kubeconfig of a hosted cluster: its name. */
export const LABEL_CLUSTER = `${GROUP}/cluster`;
/** On the objects of a hosted control plane in its hub: the member that they are of. */
export const LABEL_PART = `${GROUP}/part`;
/** Which of several pods of a part it is. The first one has no such label. */
export const LABEL_MEMBER = `${GROUP}/member`;
/** On the objects of an add-on of a hosted cluster, and on the record of them: its name. */
export const LABEL_ADDON = `${GROUP}/addon`;
export const LABEL_UNIT = `${GROUP}/unit`;
export const LABEL_MACHINE = `${GROUP}/machine`;
export const LABEL_MACHINESET = `${GROUP}/machineset`;
export const LABEL_POOL = `${GROUP}/pool`;
/** On the ConfigMaps of a pool of hosts: the name of the pool. */
export const LABEL_HOST_POOL = `${GROUP}/host-pool`;
/** On the Leases that record who has which host of a pool: Machine or Host. */
export const LABEL_HOST_CLAIM = `${GROUP}/host-claim`;
/** On a Machine and its jobs, the hash of the system UUID or the provider id: repairs are counted on the hardware, not on the name. */
export const LABEL_HARDWARE = `${GROUP}/hardware`;
/** The label that, with `true` on a Pod, prevents disruptive acts on its node while the Pod runs. */
export const LABEL_BLOCK = `${GROUP}/block`;
/** The label of a Machine or Node to which nothing with a risk above None is done. */
export const LABEL_EXCLUDE = `${GROUP}/exclude`;
/** The label of a Machine whose agent is denied every write. The value is the reason. */
export const LABEL_AGENT_BLOCKED = `${GROUP}/agent-blocked`;
export const LABEL_REMEDIER = `${GROUP}/remedier`;
/** The label that identifies the jobs of one fault. */
export const LABEL_CASE = `${GROUP}/case`;
/** The label of a ClusterRole whose rules are aggregated to kubenode-sync. See docs/decisions/0005-permissions-of-sync.md. */
export const LABEL_AGGREGATE_TO_SYNC = `${GROUP}/aggregate-to-sync`;
/** The label that, with `true` on a Namespace, lets its pods read the metrics of the pods of kubenode. */
export const LABEL_SCRAPE = `${GROUP}/scrape`;

// Annotations

export const ANNOTATION_COMMIT = `${GROUP}/commit`;
/** The file and construct path of the object, for error messages. */
export const ANNOTATION_SOURCE = `${GROUP}/source`;
/** The annotation of a Node that lists the label, annotation and taint keys that kubenode set. Only these are removed. */
export const ANNOTATION_OWNED = `${GROUP}/owned`;
/** The annotation of a Node with the id of the grant that cordoned it. Without it the cordon is not ours. */
export const ANNOTATION_CORDONED_BY = `${GROUP}/cordoned-by`;
/** The annotation of a Node or Machine, `<until>; <reason>`, that counts as `spec.hold` with scope All. */
export const ANNOTATION_HOLD = `${GROUP}/hold`;
/**
 * The annotation of a Machine with why the system that owns its instance forbids to disturb it, `<Reason>: <message>`. It counts as a hold with
 * scope Disruptive that has no end.
 */
export const ANNOTATION_OWNER_HOLD = `${GROUP}/owner-hold`;
/**
 * The annotation of a Machine that follows one of Cluster API with what that has of its bootstrap config, as JSON: the version, and a digest of
 * each file. The update extension derives from it what an update changes.
 */
export const ANNOTATION_BOOTSTRAP = `${GROUP}/bootstrap`;
/** On the Leases of LABEL_HOST_CLAIM: the claim, as JSON. */
export const ANNOTATION_HOST_CLAIM = `${GROUP}/host-claim`;
export const ANNOTATION_DELETE = `${GROUP}/delete`;
/** The annotation with which a person asks the set to replace a machine. Any value but REPLACE_DELETE_FIRST waits for the replacement first. */
export const ANNOTATION_REPLACE_MACHINE = `${GROUP}/replace-machine`;
export const REPLACE_DELETE_FIRST = 'DeleteFirst';
export const REPLACE_CREATE_FIRST = 'CreateFirst';
export const ANNOTATION_DELETION_PRIORITY = `${GROUP}/deletion-priority`;
export const ANNOTATION_YANKED = `${GROUP}/yanked`;
/** The annotation that, with `Never`, keeps an object when it is removed from git. */
export const ANNOTATION_PRUNE = `${GROUP}/prune`;
export const PRUNE_NEVER = 'Never';
/** The annotation that, with `Allowed`, lets sync delete and recreate an object whose immutable field changed. Never on protected kinds. */
export const ANNOTATION_REPLACE = `${GROUP}/replace`;
export const REPLACE_ALLOWED = 'Allowed';
/** The annotation with the units that have to be ready before the unit of the object is written: `database, network`. */
export const ANNOTATION_DEPENDS_ON = `${GROUP}/depends-on`;
/** The annotation that, with `Allowed`, lets sync take over an object that exists already, and fields of other managers. */
export const ANNOTATION_ADOPT = `${GROUP}/adopt`;
export const ADOPT_ALLOWED = 'Allowed';
/** The annotation that sync sets on an object that it took over: it is released, not deleted, when git removes it. */
export const ANNOTATION_ADOPTED = `${GROUP}/adopted`;
/** The annotation of the namespace kubenode-system of a local cluster with the digest of the installed objects. */
export const ANNOTATION_INSTALLED = `${GROUP}/installed`;
/**
 * The annotation of a Secret in NAMESPACE, `<use>` or `<use>; <host>, <host>`, that states what references may use it for, and the hosts
 * that it may be sent to. Git never sets it. See docs/decisions/0019-secrets-permit-their-use.md.
 */
export const ANNOTATION_SECRET_USE = `${GROUP}/secret-use`;
/** The annotation of the Secret with the kubeconfig of a hosted cluster: when hosting wrote it. Who reached the cluster later uses it. */
export const ANNOTATION_WRITTEN_AT = `${GROUP}/written-at`;
/** The Secret in NAMESPACE with the key of the kept revisions, made by `kubenode install`. */
export const SECRET_REVISIONS = 'kubenode-revisions';
/** The Secret in NAMESPACE with which hardware systems sign the maintenance events that they send. */
export const SECRET_MAINTENANCE_WEBHOOK = 'kubenode-maintenance-webhook';
/**
 * The Service in NAMESPACE by which Cluster API calls its update extension, and the Secret with the certificate for that name, which
 * the controllers make.
 */
export const UPDATE_EXTENSION = 'kubenode-update-extension';
/**
 * The annotation of a Pipeline of which each new value makes sync poll the repository at once. `status.head.polledFor` names the last one
 * that was served.
 */
export const ANNOTATION_POLL_REQUEST = `${GROUP}/poll-request`;
/**
 * The annotation of a Cluster of which each new value makes hosting take a backup of its etcd at once. `status.hosted.etcd.backupRequest` names
 * the last one that was served.
 */
export const ANNOTATION_BACKUP_REQUEST = `${GROUP}/backup-request`;
/** The annotation of a job that lists which receivers were notified of its steps, and when. */
export const ANNOTATION_NOTIFIED = `${GROUP}/notified`;
/**
 * The annotation of a MaintenanceEvent that a hardware system reports by a file or a webhook: the time of its last report. An older report,
 * such as a repeated delivery, changes nothing.
 */
export const ANNOTATION_REPORTED_AT = `${GROUP}/reported-at`;
/** The annotation `<until>; <who>; <why>`, at most 4 hours, that overrides an admission policy, and raises an alert. */
export const ANNOTATION_BREAK_GLASS = `${GROUP}/break-glass`;
/** The annotation that kubenode-machine sets on a Machine: the bootstrap token that its agent may join with, without its secret. */
export const ANNOTATION_BOOTSTRAP_TOKEN = `${GROUP}/bootstrap-token`;
/**
 * The annotation of a certificate request with the UID of the Machine that it is for, so that a Machine of the same name is not mistaken
 * for it.
 */
export const ANNOTATION_MACHINE_UID = `${GROUP}/machine-uid`;
/** The annotation that must be the UID of a protected object before it can be deleted. */
export const ANNOTATION_CONFIRM_DELETE = `${GROUP}/confirm-delete`;

// Taints on Nodes

export const TAINT_EFFECT = 'NoSchedule';
/** The taint, with TAINT_EFFECT, of a Node from its registration until the Machine is Ready for the first time. */
export const TAINT_NOT_INITIALIZED = `${GROUP}/not-initialized`;
/**
 * The taint of a Node that is cordoned under a grant: other tools see that kubenode works on it. Pods are kept away by the cordon. With this
 * effect the taint keeps no pod of a DaemonSet away, and autoscalers do not expect it on new Nodes.
 */
export const TAINT_MAINTENANCE = `${GROUP}/maintenance`;
export const TAINT_MAINTENANCE_EFFECT = 'PreferNoSchedule';

// Finalizers

export const FINALIZER_MACHINE = `${GROUP}/machine`;
export const FINALIZER_MACHINESET = `${GROUP}/machineset`;
/** The finalizer of a Cluster with a hosted control plane. */
export const FINALIZER_HOSTING = `${GROUP}/hosting`;
/** The finalizer of a job, which first returns cordon, taints and grant. */
export const FINALIZER_SETTLE = `${GROUP}/settle`;

// Field managers, one for each controller

export const MANAGER_SYNC = 'kubenode-sync';
/** The field manager of the report of a process that applies to a cluster whose Pipeline another process promotes. */
export const MANAGER_SYNC_REPORT = 'kubenode-sync-report';
/** The field manager of the time at which a webhook of a Pipeline was received, by any replica of sync. */
export const MANAGER_SYNC_WEBHOOK = 'kubenode-sync-webhook';
/** The field manager of the commit statuses that the git host accepted, so that promotion does not remove them. */
export const MANAGER_SYNC_STATUSES = 'kubenode-sync-statuses';
/** The field manager of the plans that the git host has as comments, for the same reason. */
export const MANAGER_SYNC_PLANS = 'kubenode-sync-plans';
/** The field manager of the reverts that sync makes, for the same reason. */
export const MANAGER_SYNC_REVERTS = 'kubenode-sync-reverts';
/** The manager of allowances and of the status of FleetPolicies, which sync writes. */
export const MANAGER_FLEET_LIMITS = 'kubenode-fleet-limits';
export const MANAGER_HOSTING = 'kubenode-hosting';
export const MANAGER_MACHINE = 'kubenode-machine';
/** The field manager of the sweep of orphan instances, which writes no field and has the account of the machine controller. */
export const MANAGER_ORPHANSWEEP = 'kubenode-orphansweep';
export const MANAGER_MACHINESET = 'kubenode-machineset';
export const MANAGER_COMPONENTSET = 'kubenode-componentset';
/** The field manager of the status of MachineComponents, which is written with the account of the component sets. */
export const MANAGER_MACHINECOMPONENT = 'kubenode-machinecomponent';
export const MANAGER_AGENT = 'kubenode-agent';
export const MANAGER_REMEDY = 'kubenode-remedy';
export const MANAGER_REMEDYJOB = 'kubenode-remedyjob';
/** The field manager of the notifier, which has the account of the controller of jobs. */
export const MANAGER_NOTIFIER = 'kubenode-notifier';
/** The name of the tracer, which reads only and writes no field. */
export const MANAGER_TRACER = 'kubenode-tracer';
export const MANAGER_HOSTDOCTOR = 'kubenode-hostdoctor';
/** The field manager of Machines that follow those of Cluster API. */
export const MANAGER_CLUSTERAPI = 'kubenode-clusterapi';
/** The field manager of the pins by which the version of a Machine of Cluster API is rolled out, written with the account that follows them. */
export const MANAGER_CLUSTERAPI_UPDATE = 'kubenode-clusterapi-update';
/** The field manager of repairs that health checks of Cluster API ask for, written with the account that follows their machines. */
export const MANAGER_CLUSTERAPI_REMEDIATION = 'kubenode-clusterapi-remediation';
/** It shows Cluster API on its Machines what kubenode does there. */
export const MANAGER_CLUSTERAPI_DISRUPTION = 'kubenode-clusterapi-disruption';
/** The field manager of Machines that follow NodeClaims of Karpenter. */
export const MANAGER_EXTERNAL = 'kubenode-external';
/** The field manager of Machines that follow Nodes of node groups, written with the account that follows NodeClaims. */
export const MANAGER_NODEGROUP = 'kubenode-nodegroup';
export const MANAGER_DEFENDER = 'kubenode-defender';
export const MANAGER_IMPORT = 'kubenode-import';
export const MANAGER_CLI = 'kubenode-cli';
/** The field manager of the controller that approves and denies certificate requests of agents and their kubelets. */
export const MANAGER_APPROVER = 'kubenode-approver';
/** The field manager of `kubenode install`, for CRDs, roles and policies, which are not in git. */
export const MANAGER_INSTALL = 'kubenode-install';

/** The prefixes of event reasons. A reason is the prefix of the field manager and a CamelCase word: `RolloutBatchStarted`. */
export const EVENT_PREFIX = {
  [MANAGER_SYNC]: 'Sync',
  [MANAGER_HOSTING]: 'Hosting',
  [MANAGER_MACHINE]: 'Machine',
  [MANAGER_MACHINESET]: 'Scale',
  [MANAGER_COMPONENTSET]: 'Rollout',
  [MANAGER_AGENT]: 'Agent',
  [MANAGER_REMEDY]: 'Remedy',
  [MANAGER_REMEDYJOB]: 'Job',
  [MANAGER_NOTIFIER]: 'Notice',
  [MANAGER_HOSTDOCTOR]: 'Maintenance',
  [MANAGER_CLUSTERAPI]: 'ClusterAPI',
  [MANAGER_EXTERNAL]: 'External',
  [MANAGER_DEFENDER]: 'Defender',
  [MANAGER_APPROVER]: 'Certificate',
  [MANAGER_IMPORT]: 'Import',
  [MANAGER_CLI]: 'Operator',
} as const;

// Principals: ServiceAccounts in NAMESPACE. The principal of a controller has the name of its field manager.

export const PRINCIPAL_SYNC = MANAGER_SYNC;
export const PRINCIPAL_HOSTING = MANAGER_HOSTING;
export const PRINCIPAL_MACHINE = MANAGER_MACHINE;
export const PRINCIPAL_MACHINESET = MANAGER_MACHINESET;
export const PRINCIPAL_COMPONENTSET = MANAGER_COMPONENTSET;
export const PRINCIPAL_REMEDY = MANAGER_REMEDY;
export const PRINCIPAL_REMEDYJOB = MANAGER_REMEDYJOB;
export const PRINCIPAL_HOSTDOCTOR = MANAGER_HOSTDOCTOR;
export const PRINCIPAL_CLUSTERAPI = MANAGER_CLUSTERAPI;
export const PRINCIPAL_EXTERNAL = MANAGER_EXTERNAL;
export const PRINCIPAL_DEFENDER = MANAGER_DEFENDER;
/** The principal that approves and denies certificate requests. No other account has the verb `approve`. */
export const PRINCIPAL_APPROVER = MANAGER_APPROVER;
/** The principal of the process `kubenode controllers`, which impersonates the account of each controller that it runs. */
export const PRINCIPAL_CONTROLLERS = 'kubenode-controllers';

/** The audience of the tokens that the HTTP API of the Defender accepts. */
export const AUDIENCE_DEFENDER = PRINCIPAL_DEFENDER;

export const AGENT_GROUP = 'kubenode:agents';
/** The prefix of the user name of an agent; the name of its machine follows. */
export const AGENT_USER_PREFIX = 'kubenode:agent:';
export const NODE_USER_PREFIX = 'system:node:';
export const NODE_GROUP = 'system:nodes';
/** The group of hosts that join with a bootstrap token. They may only request a certificate. */
export const BOOTSTRAP_GROUP = 'system:bootstrappers:kubenode';
/** The prefix of the user name of a bootstrap token; its id follows. */
export const BOOTSTRAP_USER_PREFIX = 'system:bootstrap:';

/** Returns the group of the bootstrap token of one Machine. The token is in BOOTSTRAP_GROUP, too, which has the permission. */
export function bootstrapGroupOf(machineUid: string): string {
  return `${BOOTSTRAP_GROUP}:${machineUid}`;
}

/** The signers of the certificates of agents and of their kubelets. */
export const SIGNER_AGENT = 'kubernetes.io/kube-apiserver-client';
export const SIGNER_KUBELET = 'kubernetes.io/kube-apiserver-client-kubelet';

/** The ClusterRoles for people. */
export const ROLE_VIEW = 'kubenode-view';
export const ROLE_VIEW_EVENTS = 'kubenode-view-events';
export const ROLE_OPERATOR = 'kubenode-operator';
/** The ClusterRole that may only create the DefenderPolicy `kill-switch`. */
export const ROLE_STOP = 'kubenode-stop';
/** The ClusterRole of tools that ask the Defender for grants over HTTP. */
export const ROLE_GRANTS = 'kubenode-grants';
export const ROLE_ADMIN = 'kubenode-admin';

/** Returns the user name of a ServiceAccount of kubenode in a request. */
export function serviceAccountUser(principal: string): string {
  return `system:serviceaccount:${NAMESPACE}:${principal}`;
}

export function agentUser(machine: string): string {
  return `${AGENT_USER_PREFIX}${machine}`;
}

// Admission policies

export const POLICY_AGENT_OWN_OBJECTS = 'kubenode-agent-own-objects';
export const POLICY_AGENT_BLOCKED = 'kubenode-agent-blocked';
export const POLICY_AGENT_BLOCKED_OBJECT = 'kubenode-agent-blocked-object';
export const POLICY_LEDGER_RULES = 'kubenode-ledger-rules';
export const POLICY_LEDGER_WRITER = 'kubenode-ledger-writer';
export const POLICY_COMPONENTS_WRITER = 'kubenode-components-writer';
export const POLICY_GIT_ONLY = 'kubenode-git-only';
export const POLICY_PROTECTED_DELETE = 'kubenode-protected-delete';
export const POLICY_GRANT_REQUIRED = 'kubenode-grant-required';
export const POLICY_BOOTSTRAP_TOKENS = 'kubenode-bootstrap-tokens';
export const POLICY_CLUSTERAPI_HOOK = 'kubenode-clusterapi-hook';
export const POLICY_CLUSTERAPI_STATUS = 'kubenode-clusterapi-status';
export const POLICY_AUDIT_RECORD = 'kubenode-audit-record';

// Objects with a fixed name, and composed names

/** The only DefenderLedger of a cluster. */
export const LEDGER = 'default';
/** The DefenderPolicy without which every ask is denied. */
export const FLEET_DEFAULT = 'fleet-default';
/** The DefenderPolicy that `kubenode defender stop` creates. Sync never renders it. */
export const KILL_SWITCH = 'kill-switch';
/** Name of the only FleetAllowance of a cluster. */
export const FLEET_ALLOWANCE = 'default';
/** The namespace in which bootstrap tokens are Secrets. */
export const NAMESPACE_KUBE_SYSTEM = 'kube-system';

export function bootstrapTokenSecret(tokenId: string): string {
  return `bootstrap-token-${tokenId}`;
}

/** The shipped NodeRemedier that prepares a machine for what a MaintenanceEvent announces. Its jobs are the jobs of events. */
export const MAINTENANCE_REMEDIER = 'maintenance';

/** The Lease whose holder runs the controllers of a cluster. */
export const CONTROLLERS_LEASE = { namespace: NAMESPACE, name: 'kubenode-controllers' } as const;

/** The Lease whose holder runs the hosting of a hub. */
export const HOSTING_LEASE = { namespace: NAMESPACE, name: 'kubenode-hosting' } as const;

/** Returns the name of the Secret in NAMESPACE of the hub with the kubeconfig of a cluster that kubenode created. */
export function kubeconfigSecret(cluster: string): string {
  return `${cluster}-kubeconfig`;
}

/** The prefix of the ConfigMaps of sync's write-ahead inventory: `inventory-<unit>-<n>`. */
export const INVENTORY_PREFIX = 'inventory-';

// Conditions

/**
 * Lists every condition type of our kinds. `+`: True is good. `-`: True needs attention. A missing condition reads as Unknown, and Unknown
 * is never good.
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
  ControlPlaneStalled: '-',
  // Pipeline
  SourceReady: '+',
  Rendered: '+',
  WebhookReady: '+',
  CommitStatusReady: '+',
  PlanCommentsReady: '+',
  RevertReady: '+',
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
  GatesStable: '+',
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
  StepsPermitted: '+',
  Proven: '+',
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
  CommonCauseFound: '-',
  KillSwitchEngaged: '-',
  BreakerOpen: '-',
  ZoneDark: '-',
  // DefenderLedger
  NearFull: '-',
  Suspect: '-',
  Unrecorded: '-',
  RuleHeld: '-',
  // FleetPolicy and FleetAllowance
  ClustersReached: '+',
  Adopted: '+',
} as const;

export type ConditionType = keyof typeof CONDITIONS;

/** The reasons of conditions and waits that several parts write or read. */
export const REASONS = [
  'AdmissionDenied',
  'AllDone',
  'ApprovalRequired',
  'AsWanted',
  'Audit',
  'BatchFull',
  'BatchUnproven',
  'CompatibilityUnknown',
  'ComponentIncompatible',
  'Denied',
  'DriftConflict',
  'DuplicateHost',
  'FailureBudgetSpent',
  'FleetCause',
  'Freeze',
  'GateFailed',
  'GateInconclusive',
  'GateLoosened',
  'GateOpen',
  'GrantDenied',
  'HealthUnknown',
  'HeldAll',
  'HeldByPartition',
  'HeldDisruptive',
  'HostKeyMismatch',
  'MachineBusy',
  'NoNodesYet',
  'NothingProven',
  'Observe',
  'OutsideWindow',
  'Paused',
  'PodDisruptionBudget',
  'ProgressDeadlineExceeded',
  'ReplacementRequired',
  'RollbackImpossible',
  'RolledBack',
  'RollingBack',
  'SetConflict',
  'Shadow',
  'Soaking',
  'SpreadLimit',
  'StageBefore',
  'Stale',
  'Suspended',
  'TooManyUnavailable',
  'ViewLost',
] as const;

export type Reason = (typeof REASONS)[number];

/** The conditions of the kubelet. An agent that could write them could report a faulty node as healthy. */
export const KUBELET_CONDITIONS: readonly string[] = [
  'Ready',
  'MemoryPressure',
  'DiskPressure',
  'PIDPressure',
  'NetworkUnavailable',
];

/** The ConfigMap in our namespace of a hosted cluster that hosting writes to prove that its API server works. */
export const UPGRADE_CANARY = 'kubenode-upgrade-canary';

/** The ConfigMap with the authorities of a hosted cluster, signed by hosting. Each agent reads it. */
export const CONFIG_AUTHORITIES = { namespace: NAMESPACE_AGENTS, name: 'authorities' } as const;
