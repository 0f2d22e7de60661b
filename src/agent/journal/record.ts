/**
 * Defines the records of the journal. A record is the intent of the agent, durable before the act: after a crash the agent reads the last
 * record of each component, observes the host, and does what is left of that step.
 */
import type { JobRecord } from './jobs.ts';

/** The steps of a transition from one target of a component to another one, in order. */
export const TRANSITION_STEPS = [
  'Fetching',
  'Verified',
  'Staged',
  'Stopping',
  'Swapped',
  'Rebooting',
  'Starting',
  'Probation',
] as const;
export type TransitionStep = (typeof TRANSITION_STEPS)[number];

export interface Transition {
  readonly step: TransitionStep;
  /** The digest of the entry that asked for it. A transition that fails denies this entry. */
  readonly entry: string;
  /** The direction of the transition. Back: the previous target is being restored, which begins at Stopping. */
  readonly direction: 'Forward' | 'Back';
  /** The id of the target that was in force before; absent when the component was not installed. */
  readonly from?: string;
  /** The id of the target to install; absent to remove the component. */
  readonly to?: string;
  /** The boot in which the step began. */
  readonly bootId: string;
  /** The number of reboots since Starting. */
  readonly boots: number;
  /** The grant that permits the activation; from Stopping on. */
  readonly grant?: string;
  /** The reason why the transition goes back. */
  readonly failure?: TransitionFailure;
  /** The key of the step of a repair job that asked to install the version in force again. */
  readonly reinstall?: string;
  /** The entry that the running units of the host were compared with, and that is not activated over them. */
  readonly comparedWith?: string;
}

export interface TransitionFailure {
  readonly code: string;
  readonly message: string;
}

export interface StepRecord extends Transition {
  readonly type: 'Step';
  readonly component: string;
  readonly at: string;
}

/** Records the end of a transition. */
export interface SettledRecord {
  readonly type: 'Settled';
  readonly component: string;
  readonly at: string;
  readonly state: SettledState;
  /** The id of the target in force; absent when the component is not installed. */
  readonly current?: string;
  /** The ids of targets that were in force before, newest first. */
  readonly history: readonly string[];
  /** The target that failed here: it is not tried again before the retry token changes. */
  readonly denied?: string;
  readonly failure?: TransitionFailure;
  /** The key of the step of a repair job that this ends. */
  readonly reinstalled?: string;
  /** The same as that of a step: it outlives the transition. */
  readonly comparedWith?: string;
}

export const SETTLED_STATES = ['Committed', 'Absent', 'RolledBack', 'Failed'] as const;
export type SettledState = (typeof SETTLED_STATES)[number];

/** Records that denied targets are to be tried again. */
export interface RetryRecord {
  readonly type: 'Retry';
  /** The component whose set asks; absent: a person asks, for all components of the machine. */
  readonly component?: string;
  readonly token: string;
  readonly at: string;
}

export const DRIFT_KINDS = ['Content', 'Mode', 'Missing', 'Unit', 'Run', 'Process'] as const;
export type DriftKind = (typeof DRIFT_KINDS)[number];

/** Records that a difference between the host and the version in force is about to be corrected. */
export interface CorrectionRecord {
  readonly type: 'Correction';
  readonly component: string;
  readonly at: string;
  /** The path, or the name of the unit. */
  readonly subject: string;
  readonly kind: DriftKind;
  /** The number of corrections of this component so far, with this one. */
  readonly total: number;
}

/** Records what a process found when it started: right or wrong files and program. A process never changes that. */
export interface ProcessRecord {
  readonly type: 'Process';
  readonly component: string;
  readonly at: string;
  readonly unit: string;
  readonly startId: string;
  readonly content: 'Right' | 'Wrong';
}

export type ComponentRecord = StepRecord | SettledRecord | RetryRecord | CorrectionRecord | ProcessRecord;
export type JournalRecord = ComponentRecord | JobRecord;
