/** What persons, disks and other programs do to a control plane behind the back of its driver. */
import type { PlaneDriver, PlaneMember } from '../../../../src/controllers/hosting/drivers/driver.ts';

export type Repair = () => Promise<void>;

export interface PlaneFaults {
  /** Ends the member as a crash does. */
  kill(member: PlaneMember): Promise<void>;
  /** Lets etcd end soon after each start, with its reason in its log. */
  breakEtcd(): Promise<Repair>;
  /** Lets another program use the port of etcd. */
  takePort(): Promise<Repair>;
  wipeData(): Promise<void>;
  wipeFolder(): Promise<void>;
  /** Puts the data of the etcd of another Cluster there. */
  bringData(): Promise<void>;
  /** Removes the file of a key that is made once. Resolves to how it comes back. */
  loseKey(name: KeyFile): Promise<Repair>;
  replaceKey(name: KeyFile): Promise<void>;
  damageCertificate(name: LeafFile): Promise<void>;
  /** Puts a certificate of another CA there. */
  forgeCertificate(name: LeafFile): Promise<void>;
  damageRecord(): Promise<void>;
  /** Lets every user of the machine read it. */
  openRights(): Promise<void>;
  /** What other users may read or enter. */
  openEntries(): Promise<readonly string[]>;
  growLog(): Promise<void>;
  logBytes(): Promise<number>;
  /** Starts a program that looks like etcd of this control plane. Resolves to whether it runs. */
  impersonate(): Promise<() => boolean>;
}

export type KeyFile = 'etcd-ca' | 'ca' | 'front-proxy-ca' | 'service-accounts';
export type LeafFile = 'etcd' | 'apiserver' | 'sync' | 'admin';

/** What the next process of hosting finds on its machine. */
export interface Surroundings {
  readonly programs?: string | Error;
  readonly isDiskFull?: boolean;
}

export interface DriverBed {
  readonly driver: PlaneDriver;
  /** Opens another driver on the same control planes, as the next process of the controller does. */
  readonly reopen: (surroundings?: Surroundings) => Promise<PlaneDriver>;
  /** Faults of the control plane `ci`. */
  readonly faults: PlaneFaults;
  /** The clock of all drivers. */
  readonly now: () => Date;
  /** Sets the clock of all drivers to so many days from now. */
  readonly travel: (days: number) => void;
  readonly close: () => Promise<void>;
}

/** What a driver leaves to others: cases about it are tests of that driver alone. */
export interface DriverTraits {
  /** Members are processes with files, ports and logs of this machine. Else they are pods, which the hub starts again. */
  readonly hasProcesses: boolean;
  readonly takesBackups: boolean;
  /** Of so many cases, one runs in `npm test`: the seed selects which one. */
  readonly oneOf: number;
}

export const MEMORY: DriverTraits = { hasProcesses: true, takesBackups: true, oneOf: 1 };
export const PROCESSES: DriverTraits = { ...MEMORY, oneOf: 3 };
export const PODS: DriverTraits = { hasProcesses: false, takesBackups: false, oneOf: 3 };

export type OpenBed = () => Promise<DriverBed>;
