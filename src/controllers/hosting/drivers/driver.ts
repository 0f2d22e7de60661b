/**
 * Defines the port of drivers: what runs the members of a control plane. Every operation is idempotent, and a thing that is missing counts
 * as removed, so that an interrupted act is simply repeated. Every driver fulfills test/support/hosting/driver-contract.ts.
 */
import type { SignedAuthorities } from '../../../api/authorities/document.ts';
import type { PlaneSettings } from '../../../local/state.ts';
import type { DrillCheck } from './etcd/drill/check.ts';
import type { KnownOrders, RotationReport, RotationStep } from './rotation.ts';

/** The members of every control plane, in the order of their dependencies. `kubenode-controllers` are our own controllers with the Defender. */
export const MEMBERS = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubenode-controllers',
] as const;
/** The members of an etcd, of which a control plane has the first one, three or five. */
export const ETCD_MEMBERS = ['etcd', 'etcd-1', 'etcd-2', 'etcd-3', 'etcd-4'] as const;
export type EtcdMember = (typeof ETCD_MEMBERS)[number];
/** The API servers, of which a control plane has the first one, two or three. */
export const API_SERVERS = ['kube-apiserver', 'kube-apiserver-1', 'kube-apiserver-2'] as const;
export type ApiServerMember = (typeof API_SERVERS)[number];
/** The balancers before several API servers. Both have the port of clients, so that clients are served when one of them ends. */
export const BALANCERS = ['kubenode-balancer', 'kubenode-balancer-1'] as const;
export type BalancerMember = (typeof BALANCERS)[number];
/** The gateways of a control plane that other machines reach. Both have the port of `spec.hosted.exposure`, on all addresses. */
export const GATEWAYS = ['kubenode-gateway', 'kubenode-gateway-1'] as const;
export type GatewayMember = (typeof GATEWAYS)[number];
export type PlaneMember =
  | (typeof MEMBERS)[number]
  | EtcdMember
  | ApiServerMember
  | BalancerMember
  | GatewayMember;

export function isEtcdMember(member: PlaneMember): member is EtcdMember {
  return ETCD_MEMBERS.some((each) => each === member);
}

export function isApiServer(member: PlaneMember): member is ApiServerMember {
  return API_SERVERS.some((each) => each === member);
}

export function isBalancer(member: PlaneMember): member is BalancerMember {
  return BALANCERS.some((each) => each === member);
}

export function isGateway(member: PlaneMember): member is GatewayMember {
  return GATEWAYS.some((each) => each === member);
}

/** Tells whether the member relays what others encrypt, and has neither a key nor a certificate. */
export function isRelay(member: PlaneMember): member is BalancerMember | GatewayMember {
  return isBalancer(member) || isGateway(member);
}

/** The members whose version and flags are those of a Cluster. The version of our own programs is that of hosting. */
export const RUN_MEMBERS = [
  ...ETCD_MEMBERS,
  ...API_SERVERS,
  'kube-controller-manager',
  'kube-scheduler',
] as const;
export type RunMember = (typeof RUN_MEMBERS)[number];

/** Our own controllers, which are changed by their image alone. */
export const OWN_CONTROLLERS = 'kubenode-controllers';
/** The members that a change can reach: those of a Cluster's version and flags, and our own controllers. */
export const CHANGEABLE_MEMBERS = [...RUN_MEMBERS, OWN_CONTROLLERS] as const;
export type ChangeableMember = (typeof CHANGEABLE_MEMBERS)[number];

export function isRunMember(member: PlaneMember): member is RunMember {
  return RUN_MEMBERS.some((each) => each === member);
}

/** Holds what a member is started with. */
export interface MemberRun {
  /** The version of its program: that of Kubernetes, or that of etcd. Undefined: not known before the programs are loaded. */
  readonly version?: string | undefined;
  /** Its additional flags, without leading dashes. */
  readonly flags: Readonly<Record<string, string>>;
  /** Undefined: the driver reserves nothing for it. */
  readonly requests?: MemberRequests | undefined;
  /** The image of our own controllers. The driver finds those of other members by their version. */
  readonly image?: string | undefined;
}

/** Holds what a control plane was created with, or what its last change was completed with. A rollback returns to it. */
export interface SettledPlane {
  readonly version: string;
  readonly etcdVersion?: string | undefined;
  readonly settings: PlaneSettings;
  /** The requests of members that are pods. Undefined: the members are processes. */
  readonly requests?: PlanePlacement['requests'] | undefined;
  /** The image of our own controllers. Undefined: they are processes, or it is not known. */
  readonly controllers?: string | undefined;
}

/** The versions of programs that belong together: `v1.36.3` and `v3.6.8`. */
export interface ProgramVersions {
  readonly kubernetes: string;
  readonly etcd: string;
}

/** The Cluster whose control plane it is. Another Cluster of the same name has another UID. */
export interface PlaneOwner {
  readonly name: string;
  readonly uid: string;
}

export interface PlaneSpec extends PlaneOwner {
  /** The Kubernetes version: `v1.36.3`. */
  readonly version: string;
  readonly settings: PlaneSettings;
  /** The number of API servers. */
  readonly apiServers: number;
  /** Tells how its pods take place in the hub. Undefined: the members are processes. */
  readonly placement?: PlanePlacement | undefined;
  /** Where processes are reached by other machines. Undefined: nowhere, or the members are pods. */
  readonly outside?: OutsideAddress | undefined;
}

/** The name or address that clients of other machines use, and the port. */
export interface OutsideAddress {
  readonly host: string;
  readonly port: number;
}

/** How the members take place in a hub as pods. */
export interface PlanePlacement {
  readonly storageGiB: number;
  readonly exposure: PlaneExposure;
  readonly requests: Readonly<Partial<Record<RunMember, MemberRequests>>>;
}

export interface PlaneExposure {
  readonly type: 'ClusterIP' | 'NodePort' | 'LoadBalancer';
  /** The name or address in certificate and kubeconfig. */
  readonly host?: string | undefined;
  readonly port: number;
}

export interface MemberRequests {
  readonly cpuMillis?: number | undefined;
  readonly memoryMiB?: number | undefined;
}

export interface MemberReport {
  readonly member: PlaneMember;
  /** Which process or pod it is: another one has another identity. Undefined: it is stopped. */
  readonly identity?: string | undefined;
  /** `Starting`: it runs and does not answer. */
  readonly state: 'Stopped' | 'Starting' | 'Ready';
  /** Since when it runs and does not answer, as far as this process knows. */
  readonly unreadySince?: Date | undefined;
  /** The version that its program itself reports. */
  readonly version?: string | undefined;
  /** The program and flags that it is started with, as they were recorded before its last change. */
  readonly run?: MemberRun | undefined;
  /** Whether a process runs that was started with something else: a change was interrupted. */
  readonly isOutdated?: boolean | undefined;
  /** Whether a former one of it still serves while the one that was started does not. */
  readonly isServed?: boolean | undefined;
  /** Since when it answers, where the hub reports that. */
  readonly readySince?: Date | undefined;
  /** Why it is not what the driver has made of it, although nothing is being changed: somebody edited it. */
  readonly drift?: MemberDrift | undefined;
  /** Whether an API server has the port of clients itself: it was started as the only one. */
  readonly isDirect?: boolean | undefined;
  /** The API servers that a balancer finds ready, by the authorities that it trusts. Undefined: one that an earlier version of hosting started does not tell. */
  readonly reaches?: readonly ApiServerMember[] | undefined;
  readonly certificate?: MemberCertificate | undefined;
  /** Whose data a member of etcd has in its folder. */
  readonly data?: DataState | undefined;
  /** How long the only API server was away last, where the driver measured it: it looks now and then, so that it was away for no longer. */
  readonly outage?: MemberOutage | undefined;
  /** The times of its last starts, oldest first. Each is recorded before the start. */
  readonly starts: readonly Date[];
  /** The end of its log, of a member that is stopped. */
  readonly logTail?: string | undefined;
  /** Tells what keeps it from its start, where the driver knows: an image that cannot be pulled, a quota, a volume. A restart does not help. */
  readonly problem?: MemberProblem | undefined;
}

export interface MemberProblem {
  readonly reason: string;
  readonly message: string;
  /** The object that blocks it. */
  readonly blocker: { readonly kind: string; readonly name: string };
  /** How often it has ended since it was started with what it runs with. Undefined: it has not. */
  readonly ends?: number | undefined;
}

export interface MemberDrift {
  readonly what: string;
  /** Whether the member is started again to correct it. */
  readonly isDisruptive: boolean;
}

export interface MemberOutage {
  /** When it answered again. */
  readonly endedAt: Date;
  readonly milliseconds: number;
  /** `Change`: it was stopped to run with something else. `Start`: it did not run before, or had ended. */
  readonly cause: 'Change' | 'Start';
}

/** `Empty`: it has none yet, or it was lost. `Other`: of another control plane, of another member, or not known. */
export type DataState = 'Empty' | 'Own' | 'Other';

/** A member in the list that the majority of an etcd agrees on. */
export interface ListedMember {
  /** Undefined: it does not belong to this control plane. */
  readonly member: EtcdMember | undefined;
  readonly isLearner: boolean;
  /** Whether its process ever joined. */
  readonly isStarted: boolean;
}

export interface MemberCertificate {
  /** The serial that a client sees. */
  readonly serial: string;
  readonly notAfter: Date;
  /** The serial of the certificate that it should serve. */
  readonly expectedSerial: string | undefined;
}

/** A certificate in the files of the control plane. */
export interface PlaneCertificate {
  readonly name: string;
  /** Why it has to be renewed, or made. A CA is never renewed. */
  readonly due?: string | undefined;
  /** When it was issued; undefined: it is missing, or cannot be read. */
  readonly issuedAt?: Date | undefined;
  readonly notAfter?: Date | undefined;
  /** When it is renewed; undefined: never. */
  readonly renewAt?: Date | undefined;
  /** The member that serves it. */
  readonly servedBy?: readonly PlaneMember[];
}

export interface PlaneReport {
  /** Where the control plane is, for people. */
  readonly where: string;
  /** The kind of place that `where` names. Undefined: a folder of this machine. */
  readonly place?: 'Folder' | 'Namespace' | undefined;
  /** The machine and the place on it. Another hosting of the same hub has another one. */
  readonly location: string;
  /** Whose control plane is there: `Other` is of another Cluster, or its owner is not known. */
  readonly claim: 'None' | 'Own' | 'Other';
  /** Whether keys, ports and folders are there, and private. */
  readonly isPrepared: boolean;
  /** Whose data etcd has. `Empty`: too few of its members have data for a majority. */
  readonly data: DataState;
  /** The members of an etcd that has several, as it lists them. Undefined: there is one, or no majority answers. */
  readonly etcd?: readonly ListedMember[] | undefined;
  /** The problems of keys that are made only once: `etcd-pki/ca.pem is missing or damaged`. */
  readonly lostKeys: readonly string[];
  /** Those of them that never issued anything: a rotation is taken back without them. */
  readonly lostUnused?: readonly string[] | undefined;
  readonly certificates: readonly PlaneCertificate[];
  /** Whether the destruction was begun. It is recorded before the first member is stopped for it. */
  readonly isDestroying: boolean;
  /** Undefined before it is prepared. */
  readonly settled: SettledPlane | undefined;
  /** The settings in which the control plane differs from its spec: `version v1.36.3, not v1.36.4`. */
  readonly differences: readonly string[];
  /** Those of the differences that the driver does not carry out. Undefined: none. */
  readonly fixed?: readonly string[] | undefined;
  /** The versions of the programs that can be started, or why none can. */
  readonly programs: AvailablePrograms | ProgramsProblem;
  /** Where other machines reach it, as it was recorded. Undefined: nowhere, or the driver has another way. */
  readonly outside?: OutsideAddress | undefined;
  /** When the snapshot of etcd was taken that is kept until the next upgrade. */
  readonly snapshotAt?: Date | undefined;
  /** The claims of volumes that have another StorageClass than hosting asks for. Undefined: none. */
  readonly otherClasses?: readonly ClaimClass[] | undefined;
  /** Undefined: the driver takes no backups, or the control plane is not prepared. */
  readonly backup?: BackupReport | undefined;
  /** Undefined: etcd does not answer, or the driver does not ask it. */
  readonly space?: EtcdSpace | undefined;
  /** The rotation of the authorities that was begun, or completed last. Undefined: none, or it was taken back. */
  readonly rotation?: RotationReport | undefined;
  /** The document of the authorities that was signed last, for the agents of the cluster. Undefined: nothing was ever rotated. */
  readonly authorities?: SignedAuthorities | undefined;
  /** All members, in their order. */
  readonly members: readonly MemberReport[];
}

/** A claim that keeps a StorageClass which hosting does not ask for any more, or never did: a person made it. */
export interface ClaimClass {
  /** `kn-ci/etcd`. */
  readonly claim: string;
  /** Whether the volume has the backups, and not the data of etcd. */
  readonly isBackup: boolean;
  /** Undefined: the claim has no class. */
  readonly found?: string | undefined;
  readonly expected: string;
}

/** The database of etcd. It never gets smaller by itself: what is deleted leaves room that is used again. */
export interface EtcdSpace {
  readonly quotaBytes: number;
  readonly dbBytes: number;
  readonly inUseBytes: number;
  /** Whether it refuses writes, because the database had the size of its quota. */
  readonly isFull: boolean;
  /** The last attempt to make the database smaller. It is recorded before it begins. */
  readonly attempt?: BackupAttempt | undefined;
}

export interface BackupReport {
  /** The backups that are complete, oldest first. */
  readonly backups: readonly PlaneBackup[];
  /** The last attempt. It is recorded before it begins. */
  readonly attempt?: BackupAttempt | undefined;
  /** The last drill. It is recorded before it begins. */
  readonly drill?: BackupAttempt | undefined;
  /** The backup that the data of etcd began with. */
  readonly restoredFrom?: string | undefined;
}

export interface PlaneBackup {
  readonly name: string;
  readonly takenAt: Date;
  /** The request of a person that it answers. */
  readonly request?: string | undefined;
}

/** The problem of an attempt that a crash ended. */
export const INTERRUPTED = 'it was interrupted';

export interface BackupAttempt {
  readonly at: Date;
  /** Why it failed. Undefined: it did not. */
  readonly problem?: string | undefined;
  /** Since when every attempt has failed. */
  readonly since?: Date | undefined;
  /** The problem of the attempt before one that has not ended, or that a crash ended. */
  readonly former?: string | undefined;
  /** The findings of a drill that did not fail. */
  readonly checked?: DrillCheck | undefined;
}

export interface BackupOptions {
  /** How many backups are kept. */
  readonly keep: number;
  readonly request?: string | undefined;
}

/** The steps of a backup or a drill. `Waiting`: for another one of this control plane. `Serving`: an API server reads the data. */
export const UPKEEP_STEPS = ['Waiting', 'Copying', 'Opening', 'Serving'] as const;
export type UpkeepStep = (typeof UPKEEP_STEPS)[number];

/** Connects a backup or a drill with the caller that began it. */
export interface UpkeepControl {
  /** Ends it: it counts as interrupted, and leaves neither a process nor a file. */
  readonly signal: AbortSignal;
  readonly onStep: (step: UpkeepStep) => void;
}

/** Backups and drills of one control plane never run at once. They keep no member from being started, stopped or changed. */
export interface BackupOperations {
  /** Takes and verifies a backup, then removes the oldest. It rejects when none was taken; the attempt is recorded before it begins, and when it ends. */
  take(plane: PlaneOwner, options: BackupOptions, control: UpkeepControl): Promise<void>;
  /** Restores the newest backup into a throw-away control plane, whose API server reads every object of it, and which is removed. It rejects as `take` does, and is postponed where memory is short. */
  drill(plane: PlaneOwner, control: UpkeepControl): Promise<void>;
  /** Puts the data of a backup in the place of an etcd that has none. Rejects unless it was verified. */
  restore(plane: PlaneSpec, name: string): Promise<void>;
}

export interface AvailablePrograms {
  readonly versions: readonly ProgramVersions[];
  /** The image that our own controllers are to run. Undefined: the driver does not change them. */
  readonly controllers?: string | undefined;
}

export interface ProgramsProblem {
  readonly problem: string;
  /** Whether they are still looked for, downloaded or built. */
  readonly isLoading: boolean;
}

export interface PlaneAccess {
  readonly server: string;
  /** The kubeconfig of the administrator. Only hosting uses it, and it is not written to the Secret for sync. */
  readonly admin: string;
  /** The kubeconfig of sync, with the rights of kubenode-sync. */
  readonly sync: string;
  /** The kubeconfig of the administrator for other machines. Undefined: they do not reach it, or `admin` is it. */
  readonly adminOutside?: string | undefined;
  /** The kubeconfigs of the administrator for each of several API servers that has an address. Undefined: there is only one. */
  readonly apiServers?: readonly ApiServerAccess[] | undefined;
}

export interface ApiServerAccess {
  readonly member: ApiServerMember;
  readonly admin: string;
}

export interface PlaneDriver {
  observe(plane: PlaneSpec, signal: AbortSignal): Promise<PlaneReport>;
  /** Creates keys, ports and folders that are missing, and renews certificates that are due. Never replaces a key of a CA. */
  prepare(plane: PlaneSpec): Promise<void>;
  /** Starts the member, or leaves the one that runs. Does not wait until it answers. */
  start(plane: PlaneSpec, member: PlaneMember): Promise<void>;
  stop(plane: PlaneOwner, member: PlaneMember): Promise<void>;
  /**
   * Records what the member is started with from now on, then stops the process that was started with something else, or lets the hub replace
   * its pod.
   */
  change(plane: PlaneOwner, member: ChangeableMember, run: MemberRun): Promise<void>;
  /** Makes the member what was recorded for it again, after somebody edited it. Undefined: the driver has nothing that others can edit. */
  correct?(plane: PlaneOwner, member: PlaneMember): Promise<void>;
  /** Lets the hub replace the pod of a member, which reads what the phase of a rotation has. Undefined: it is stopped, then started. */
  restart?(plane: PlaneOwner, member: PlaneMember): Promise<void>;
  /**
   * Records how many API servers the control plane has. A new one is started with what is settled. Rejects while one that is not counted any
   * more runs.
   */
  setApiServers(plane: PlaneOwner, count: number): Promise<void>;
  /**
   * Records where other machines reach the control plane, or that they do not. It ends our own controllers, which give hosts that address when they
   * are started again. Rejects while a gateway runs that has another port, and where the port is that of somebody else. Undefined: the driver has
   * no gateways.
   */
  setOutside?(plane: PlaneOwner, outside: OutsideAddress | undefined): Promise<void>;
  /** Adds a member without data to the etcd, as a learner: it gets the data of the others, and does not count for a majority. */
  addEtcdMember(plane: PlaneOwner, member: EtcdMember): Promise<void>;
  /** Lets a learner count for a majority. Rejects while it has not the data of the others. */
  promoteEtcdMember(plane: PlaneOwner, member: EtcdMember): Promise<void>;
  /** Removes a member that has lost its data from the etcd. Rejects while it runs or has data. */
  removeEtcdMember(plane: PlaneOwner, member: EtcdMember): Promise<void>;
  /**
   * Takes and verifies a snapshot of etcd, and keeps it until the next one. Rejects as `SnapshotRunning` where it is still being taken after a
   * moment: the next call finds it. The signal ends the wait for it.
   */
  snapshot(plane: PlaneOwner, signal?: AbortSignal): Promise<void>;
  /** Undefined: the driver takes no backups. */
  readonly backups?: BackupOperations;
  /**
   * Makes the database of etcd as small as its content, and lets etcd take writes again when there is room. An etcd that is full forgets
   * former versions of objects first. It rejects when it is still full. Undefined: the driver does not ask etcd.
   */
  shrink?(plane: PlaneOwner): Promise<void>;
  /**
   * Brings the authorities, certificates and kubeconfigs to a phase of a rotation, and records it first. `Aborted` forgets the rotation with its
   * new keys, and `Completed` the former ones. Members have to be started again after it. Undefined: the driver rotates nothing.
   */
  rotate?(plane: PlaneSpec, step: RotationStep): Promise<void>;
  /**
   * Signs the authorities that the phase of the rotation trusts, once for each phase, and returns what was signed last. A rotation that is over
   * has the document of its last phase. Undefined: the driver rotates nothing, or nothing was ever rotated.
   */
  signAuthorities?(plane: PlaneOwner, known: KnownOrders): Promise<SignedAuthorities | undefined>;
  /** Records the version and the settings as those that the control plane has. */
  settle(plane: PlaneOwner, settled: SettledPlane): Promise<void>;
  /** Records that the control plane is being destroyed. From then on it is never started again. */
  beginDestroy(plane: PlaneOwner): Promise<void>;
  /** Removes everything but processes, after a backup or a drill has ended. Rejects while a member runs. */
  remove(plane: PlaneOwner): Promise<void>;
  /** Undefined before it is prepared. */
  access(plane: PlaneOwner): Promise<PlaneAccess | undefined>;
}
