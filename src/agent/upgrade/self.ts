/** The running agent as a component of its own machine. Pure. */
import type { ProcessIdentity } from '../../os/process/identity.ts';
import { agentProgram } from '../layout.ts';
import type { Target } from '../target/target.ts';
import type { AgentLaunch, AgentSlots } from './slots.ts';

export interface AgentSelf {
  /** The file on the disk that this process runs, without links. */
  readonly program: string;
  readonly launch: AgentLaunch;
  readonly identity: ProcessIdentity;
  readonly healthySeconds: number;
  readonly uptimeMs: () => number;
}

/** Why this agent cannot be replaced by another version. */
export interface NoSelfUpgrade {
  readonly unsupported: string;
}

export interface SelfObservation extends AgentSelf {
  /** Where the files of the host are on this machine. */
  readonly directory: string;
  readonly slots: AgentSlots;
  /** The watchdog runs. */
  readonly isWatched: boolean;
}

/** Returns the program of the agent as a path on the disk of this machine. */
export function programOf({ directory }: Pick<SelfObservation, 'directory'>, target: Target): string {
  return `${directory === '/' ? '' : directory}${agentProgram(target.directory)}`;
}
