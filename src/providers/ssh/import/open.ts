/** Opens the hosts of imports over SSH. */
import type { Clock } from '../../../os/clock.ts';
import type { ImportHosts } from './contract.ts';

export interface OpenImportOptions {
  /** The folder with programs.json and the programs of the agent. */
  readonly programs: string;
  readonly clock: Clock;
}

export function openImportHosts({ programs }: OpenImportOptions): ImportHosts {
  return {
    connect: () => Promise.reject(new Error(`this build has no SSH session for the programs in ${programs}`)),
  };
}
