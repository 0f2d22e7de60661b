/** Measures what a test file costs: CPU of its worker, of the programs that it started, and of API servers that files share. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cpuSecondsOf, cpuSecondsOfEndedChildren, parentOf } from './cpu.ts';

export interface FileCost {
  readonly workerSeconds: number;
  readonly programSeconds: number;
}

declare module 'vitest' {
  interface TaskMeta {
    cost?: FileCost;
  }
}

/** Counts what a file uses of a server that files share. */
export interface SharedServerMeter {
  givenBack(): void;
  /** Call it before the server is ended. */
  ending(): void;
}

/** The CPU seconds of shared servers since the file began. Files of one worker run one after the other, in the same module. */
let sharedSeconds = 0;
/** Where the shared servers are recorded that have ended. */
let recordsFolder: string | undefined;

/** Returns the function that reads the cost since then. Call it when the programs of the file have ended. */
export function startMeter(): () => FileCost {
  const worker = process.cpuUsage();
  const children = cpuSecondsOfEndedChildren();
  sharedSeconds = 0;
  return () => {
    const { user, system } = process.cpuUsage(worker);
    const ended = cpuSecondsOfEndedChildren() - children - takeEndedServers();
    return {
      workerSeconds: (user + system) / 1e6,
      programSeconds: Math.max(0, ended + sharedSeconds),
    };
  };
}

/** `folder` is that of the run, where servers that end are recorded. */
export function meterSharedServer(
  pid: number,
  { isUsedBefore, folder }: { readonly isUsedBefore: boolean; readonly folder: string },
): SharedServerMeter {
  recordsFolder = folder;
  const before = isUsedBefore ? cpuSecondsOf(pid) : 0;
  const parent = parentOf(pid);
  const count = (total: number): void => {
    sharedSeconds += Math.max(0, total - before);
  };
  return {
    givenBack: () => count(cpuSecondsOf(pid)),
    ending: () => {
      const total = cpuSecondsOf(pid);
      count(total);
      // The kernel adds the whole life of the server to the worker that started it, whichever file that runs then.
      writeFileSync(join(folder, `${prefixOf(parent)}${pid}`), String(total));
    },
  };
}

function takeEndedServers(): number {
  if (recordsFolder === undefined || !existsSync(recordsFolder)) return 0;
  const names = readdirSync(recordsFolder).filter((name) => name.startsWith(prefixOf(process.pid)));
  return names.reduce((sum, name) => {
    const file = join(recordsFolder ?? '', name);
    const seconds = Number(readFileSync(file, 'utf8'));
    rmSync(file);
    return sum + seconds;
  }, 0);
}

function prefixOf(worker: number): string {
  return `ended-${worker}-`;
}
