/** Measures what a test file costs: CPU of its worker, of the programs that it started, and of API servers that files share. */
import { cpuSecondsOf, cpuSecondsOfEndedChildren, isOwnChild } from './cpu.ts';

export interface FileCost {
  readonly workerSeconds: number;
  readonly programSeconds: number;
}

declare module 'vitest' {
  interface TaskMeta {
    cost?: FileCost;
  }
}

/** The CPU seconds of shared servers since the file began. Files of one worker run one after the other, in the same module. */
let sharedServers = 0;

/** Returns the function that reads the cost since then. Call it when the programs of the file have ended. */
export function startMeter(): () => FileCost {
  const worker = process.cpuUsage();
  const children = cpuSecondsOfEndedChildren();
  sharedServers = 0;
  return () => {
    const { user, system } = process.cpuUsage(worker);
    return {
      workerSeconds: (user + system) / 1e6,
      programSeconds: Math.max(0, cpuSecondsOfEndedChildren() - children + sharedServers),
    };
  };
}

/** Returns what to call when the file gives the server back, or has ended it. What other files used of it before is not counted. */
export function meterSharedServer(pid: number, isUsedBefore: boolean): { givenBack(): void; ended(): void } {
  const before = isUsedBefore ? cpuSecondsOf(pid) : 0;
  const isOurs = isOwnChild(pid);
  return {
    givenBack: () => void (sharedServers += cpuSecondsOf(pid) - before),
    // The kernel counts the whole life of a child that has ended: this file did not use the first part.
    ended: () => void (sharedServers -= isOurs ? before : 0),
  };
}
