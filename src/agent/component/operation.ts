/** Describes what the executor does on the host, one operation at a time. Each can be repeated after a crash in the middle of it. */
import type { DRAIN_PENDING } from '../../api/machine/drain-wait.ts';
import type { FileAttributes } from '../host/port.ts';
import type { ComponentRecord } from '../journal/record.ts';
import type { Target } from '../target/target.ts';
import type { AgentUpgrade } from '../upgrade/slots.ts';

export type HostOperation =
  | { readonly op: 'StoreTarget'; readonly target: Target }
  | { readonly op: 'Download' | 'VerifyArtifact' | 'Unpack'; readonly target: Target }
  | { readonly op: 'Backup' | 'Restore' | 'WriteFile'; readonly target: Target; readonly path: string }
  | { readonly op: 'Link'; readonly path: string; readonly to: string }
  | { readonly op: 'MakeDirectory'; readonly path: string }
  | { readonly op: 'SetAttributes'; readonly path: string; readonly attributes: FileAttributes }
  | {
      readonly op: 'WriteUnit' | 'RemoveUnit' | 'SetEnabled' | 'StopUnit' | 'StartUnit' | 'ReloadUnit';
      readonly target: Target;
      readonly unit: string;
    }
  | { readonly op: 'HandOver'; readonly upgrade: AgentUpgrade }
  | { readonly op: 'Reboot' | 'EndHandOver' };

/** Each entry of a plan is carried out in order. An operation that fails ends the plan. */
export type ComponentAction =
  | { readonly type: 'Operate'; readonly operation: HostOperation; readonly because: string }
  | { readonly type: 'Record'; readonly record: ComponentRecord; readonly because: string };

/** The reason why the component makes no progress now. */
export interface ComponentWait {
  readonly reason: ComponentWaitReason;
  readonly message: string;
}

export type ComponentWaitReason =
  | 'ComponentChanging' // the agent and another component are never changed at once
  | 'Denied' // this target failed here before
  | 'DependencyMismatch' // the version in force does not fit a version that it depends on
  | 'DependencyNotCommitted'
  | 'Downloading'
  | typeof DRAIN_PENDING
  | 'GrantNeeded'
  | 'HandedOver' // this agent is replaced by another version of itself
  | 'Held'
  | 'HostDiffers' // the host runs something else, which is adopted and not replaced
  | 'InvalidEntry' // the entry cannot become a target
  | 'JobRunning'
  | 'NoWayBack'
  | 'Offline' // the API is unreachable: nothing new starts
  | 'Orphaned' // the entry was removed, the component is kept
  | 'ProbesPending'
  | 'RetryPending'
  | 'SelfProbation' // this agent is a new version that proves itself
  | 'StillNeeded' // another component depends on the one to remove
  | 'TargetDamaged'; // what the host should have of a version cannot be read

export interface ComponentPlan {
  readonly actions: readonly ComponentAction[];
  readonly wait?: ComponentWait;
}
