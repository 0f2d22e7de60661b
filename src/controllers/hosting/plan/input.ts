/** Defines what the next step of a control plane is decided on, and what the decision may be. */
import type { Cluster } from '../../../api/generated/types.ts';
import type { PlaneMember, PlaneReport } from '../drivers/driver.ts';
import type { InsideReport } from '../inside/execute.ts';

export type Hosted = NonNullable<Cluster['spec']['hosted']>;

export interface HostingInput {
  readonly cluster: Cluster;
  readonly hosted: Hosted;
  readonly plane: PlaneReport;
  /** Undefined: the API server does not answer. */
  readonly inside: InsideReport | undefined;
  /** Why the API server does not answer, where it was asked. */
  readonly silence?: string;
  /** The Secret of the hub with the kubeconfig of sync. `Foreign`: somebody else made it. */
  readonly secret: 'Absent' | 'Current' | 'Differs' | 'Foreign';
  /** Why no further control plane is created. */
  readonly overLimit: string | undefined;
  /** How long a throw-away cluster may exist at most, whether it was ever ready or not. */
  readonly maxAgeSeconds: number;
  /** The grant of the Defender for an act on the control plane that is in work. */
  readonly grant: HeldGrant | undefined;
  /** Who engaged the kill switch of the hub, and why. */
  readonly halt: string | undefined;
  readonly now: Date;
}

export interface HeldGrant {
  readonly id: string;
  readonly fence: number;
}

export type HostingAct =
  | { readonly type: SimpleAct; readonly because: string }
  | { readonly type: 'Start' | 'Stop'; readonly member: PlaneMember; readonly because: string }
  | { readonly type: 'ScaleDown'; readonly machineSets: readonly string[]; readonly because: string };

export type SimpleAct =
  | 'AddFinalizer'
  | 'RecordLocation'
  | 'Prepare'
  | 'Install'
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

/** One act, or what it waits for; neither: there is nothing to do. */
export interface HostingDecision {
  readonly act?: HostingAct;
  readonly wait?: HostingWait;
}
