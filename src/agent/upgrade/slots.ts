/**
 * Stores the upgrade of the agent itself, as one file on the host. While no upgrade is in it, only the agent writes it; from then on only
 * the watchdog does, until the verdict. Agents of other versions read it: fields are added, never changed.
 */
import type { ProcessIdentity } from '../../os/process/identity.ts';
import type { TransitionFailure } from '../journal/record.ts';

/** Describes how a program of the agent is started on this host. */
export interface AgentLaunch {
  /** The command of Node.js and its options. */
  readonly runtime: readonly string[];
  /** The arguments after the program. */
  readonly args: readonly string[];
}

export interface UpgradeLimits {
  /** The time within which the new agent must have proved that it is healthy. */
  readonly healthySeconds: number;
  /** The time for which it must then stay alive. */
  readonly holdSeconds: number;
  readonly maxResidentBytes: number;
}

export interface AgentProcess {
  readonly pid: number;
  /** The start time. With the pid it identifies exactly one process of this boot. */
  readonly startId: string;
}

export interface AgentUpgrade {
  /** The key of this attempt: it names the entry and when its activation began. */
  readonly key: string;
  readonly version: string;
  /** The old program. It and `to`, the new one, are paths on the disk. */
  readonly from: string;
  readonly to: string;
  readonly launch: AgentLaunch;
  readonly limits: UpgradeLimits;
  /** The agent that handed over. */
  readonly replaces: ProcessIdentity;
  readonly step: 'Starting' | 'Probation' | 'Returning';
  readonly bootId: string;
  /** The number of reboots since the new program was first started. */
  readonly boots: number;
  /** The process on probation, and when it was first observed. Moments are uptimes: no clock that jumps ends a probation. */
  readonly observed?: { readonly agent?: AgentProcess; readonly atMs: number };
  /** The uptime when it first proved that it is healthy. */
  readonly healthyAtMs?: number;
  /** The reason why the old program returns. */
  readonly failure?: TransitionFailure;
}

export interface UpgradeVerdict {
  readonly key: string;
  readonly version: string;
  readonly result: 'Committed' | 'RolledBack';
  /** The program that runs since then. */
  readonly program: string;
  readonly at: string;
  readonly failure?: TransitionFailure;
}

export interface AgentSlots {
  readonly upgrade?: AgentUpgrade;
  readonly last?: UpgradeVerdict;
}
