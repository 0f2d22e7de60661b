/** How a program of the agent runs on a host. Never two at once: `stop` ends every agent of this host. */
import type { UpgradeInput } from '../plan.ts';

export interface AgentService {
  /** The process of the agent. */
  running(): Promise<UpgradeInput['agent']>;
  stop(): Promise<void>;
  start(program: string): Promise<void>;
  /** The last lines that the agent printed. */
  logTail(maxBytes: number): Promise<string>;
}
