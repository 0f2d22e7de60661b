/** Defines what the next step of a control plane is decided on, and what the decision may be. */
import type { Cluster, HostedAddon } from '../../../api/generated/types.ts';
import type { AddonsReport } from '../addons/report.ts';
import type {
  BackupOptions,
  ChangeableMember,
  EtcdMember,
  GatewayMember,
  MemberRun,
  OutsideAddress,
  PlaneMember,
  PlaneReport,
  SettledPlane,
  UpkeepStep,
} from '../drivers/driver.ts';
import type { RotationStep } from '../drivers/rotation.ts';
import type { ClusterClients } from '../inside/clients.ts';
import type { CanaryReport, InsideReport } from '../inside/execute.ts';

export type Hosted = NonNullable<Cluster['spec']['hosted']>;
export type HostedStatus = NonNullable<NonNullable<Cluster['status']>['hosted']>;
export type Upgrade = NonNullable<HostedStatus['upgrade']>;

export interface HostingInput {
  readonly cluster: Cluster;
  readonly hosted: Hosted;
  readonly plane: PlaneReport;
  /** Whether something else starts a member again that hangs, and moves it off a machine that fails. Undefined: hosting does. */
  readonly isRestartedByHub?: boolean | undefined;
  /** Undefined: the API server does not answer. */
  readonly inside: InsideReport | undefined;
  /** Why the API server does not answer, where it was asked. */
  readonly silence?: string;
  /** Whether a write, a read and a watch work. Undefined: not asked, because nothing is being changed. */
  readonly canary?: CanaryReport | undefined;
  /** Undefined: the API server does not answer, or has not our kinds yet. */
  readonly addons?: AddonsReport | undefined;
  /** Why the add-ons could not be read, although the API server answers. */
  readonly addonsSilence?: string;
  /** The Secret of the hub with the kubeconfig of sync. `Foreign`: somebody else made it. */
  readonly secret: 'Absent' | 'Current' | 'Differs' | 'Foreign';
  /** Who holds something that the authorities made. Undefined: no rotation of them is asked for, or it could not be read. */
  readonly clients?: ClusterClients | undefined;
  /** When hosting wrote the Secret with the kubeconfig of sync. Undefined: by an earlier version, or it is not there. */
  readonly secretWrittenAt?: Date | undefined;
  /** Why no further control plane is created. */
  readonly overLimit: string | undefined;
  /** How long a throw-away cluster may exist at most, whether it was ever ready or not. */
  readonly maxAgeSeconds: number;
  /** The changes of our own controllers that other control planes of the hub have in work, or took back. Undefined: none. */
  readonly elsewhere?: ControllersElsewhere | undefined;
  /** The grant of the Defender for an act on the control plane that is in work. */
  readonly grant: HeldGrant | undefined;
  /** Why acts that only other machines need were refused just now: everything else is planned without them. */
  readonly refused?: ReadonlyMap<OutsideSubject, HostingWait>;
  /** Who engaged the kill switch of the hub, and why. */
  readonly halt: string | undefined;
  /** The backup or the drill that runs beside the reconcile now. */
  readonly upkeep?: UpkeepRun | undefined;
  readonly now: Date;
}

export interface ControllersElsewhere {
  /** The Clusters whose controllers are being changed. */
  readonly changing: readonly string[];
  /** The digests of changes that were taken back, with their Clusters. */
  readonly takenBack: readonly { readonly cluster: string; readonly digest: string }[];
}

export interface UpkeepRun {
  readonly type: 'Backup' | 'Drill';
  readonly startedAt: Date;
  readonly step: UpkeepStep;
}

/** The change of the exposure, a gateway, or the endpoint inside the cluster. */
export type OutsideSubject = 'exposure' | 'endpoint' | GatewayMember;

export interface HeldGrant {
  readonly id: string;
  readonly fence: number;
}

export type HostingAct =
  | { readonly type: SimpleAct; readonly because: string }
  | { readonly type: 'Start' | 'Stop' | 'Restart'; readonly member: PlaneMember; readonly because: string }
  | { readonly type: EtcdAct; readonly member: EtcdMember; readonly because: string }
  | {
      readonly type: 'Change';
      readonly member: ChangeableMember;
      readonly run: MemberRun;
      readonly because: string;
    }
  | {
      readonly type: 'Correct';
      readonly member: PlaneMember;
      readonly isDisruptive: boolean;
      readonly because: string;
    }
  | { readonly type: 'SetApiServers'; readonly count: number; readonly because: string }
  | {
      readonly type: 'SetOutside';
      readonly outside: OutsideAddress | undefined;
      readonly because: string;
    }
  | { readonly type: 'Backup'; readonly options: BackupOptions; readonly because: string }
  | { readonly type: 'Drill'; readonly because: string }
  | { readonly type: 'Shrink'; readonly because: string }
  | { readonly type: 'Restore'; readonly from: string; readonly because: string }
  | { readonly type: 'Rotate'; readonly step: RotationStep; readonly because: string }
  | { readonly type: 'Settle'; readonly settled: SettledPlane; readonly because: string }
  /** It is written with the status. */
  | { readonly type: 'RecordStep'; readonly upgrade: Upgrade; readonly because: string }
  | {
      readonly type: 'FinishUpgrade';
      readonly upgrade: Upgrade;
      readonly result: 'Completed' | 'RolledBack';
      readonly because: string;
    }
  | { readonly type: 'ApplyAddon'; readonly addon: HostedAddon; readonly because: string }
  | { readonly type: 'RemoveAddon'; readonly name: string; readonly because: string }
  | { readonly type: 'ScaleDown'; readonly machineSets: readonly string[]; readonly because: string };

export type EtcdAct = 'AddEtcdMember' | 'PromoteEtcdMember' | 'RemoveEtcdMember';

export type SimpleAct =
  | 'AddFinalizer'
  | 'RecordLocation'
  | 'Prepare'
  | 'Snapshot'
  | 'Install'
  | 'PublishAuthorities'
  | 'PublishEndpoint'
  | 'WriteSecret'
  | 'DeleteCluster'
  | 'DeleteSecret'
  | 'BeginDestroy'
  | 'Remove'
  | 'SettleGrant'
  | 'RemoveFinalizer';

export interface HostingWait {
  readonly reason: string;
  readonly message: string;
  readonly blocker: { readonly kind: string; readonly name: string };
  /** Whether it cannot go on without a person. */
  readonly isStalled: boolean;
}

/** One act, or what it waits for; neither: nothing is to be done. A backup is begun beside what it waits for. */
export interface HostingDecision {
  readonly act?: HostingAct;
  readonly wait?: HostingWait;
}
