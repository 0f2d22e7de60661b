/** What a controller is: a name, what it reads, what it alone writes, and a pass over one key. */

import type { KubeObject } from '../objects/object.ts';
import type { Log } from '../process/log.ts';

export interface Controller {
  /** In lower case; it names the queue, the metrics and the log lines, too. */
  readonly name: string;
  /** Kinds that a pass looks at. A pass begins only when the view of each is whole and fresh. */
  readonly reads: readonly string[];
  /**
   * Fields that this controller alone writes, in this process and in every other: `Machine.spec.components`, or one
   * entry of a map or a list with keys: `Machine.status.conditions[Ready]`. Nothing that others write may lie below.
   */
  readonly writes: readonly string[];
  /** Under which name it applies them. Shared with nobody: an apply takes away what its manager no longer sends. */
  readonly fieldManager: string;
  /**
   * Which keys an object concerns, by kind; asked of an object before and after a change. Without an entry the first
   * kind of `reads` concerns the key of its own name; every other kind needs one.
   */
  readonly keys?: Readonly<Record<string, KeysOf>>;
  /** How many keys at once; 1 where a pass looks at the whole fleet. */
  readonly concurrency?: number;
  reconcile(key: string, pass: Pass): Promise<Outcome>;
}

export type KeysOf = (object: KubeObject) => Iterable<string>;

/** Done, or done until that moment. What failed throws, and comes back after a while. */
export interface Outcome {
  readonly wakeAt?: Date;
}

/** What the runner gives to a pass. */
export interface Pass {
  /** Aborted when the time of the pass is over, when we lead no more, or when the process has to end now. */
  readonly signal: AbortSignal;
  /** Throws unless we still lead. Right before each write. */
  fence(): void;
  /** Of our term, for compare-and-swap; undefined without an election. */
  readonly epoch: number | undefined;
  /** With the controller's name and the key. */
  readonly log: Log;
}
