/**
 * What a test may leave behind, according to the kernel: processes, listening sockets,
 * mounts, network interfaces. Linux lists all of them under /proc; elsewhere only folders are guarded.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** In the environment of every process that a test run starts, even if its parent has ended. */
export const RUN_MARK = 'KUBENODE_TEST_RUN';
export const FILE_MARK = 'KUBENODE_TEST_FILE';
/** The folder that contains the temporary folders of the test files. */
export const RUN_FOLDER = 'KUBENODE_TEST_FOLDER';

export interface Process {
  readonly pid: number;
  readonly ppid: number;
  readonly command: string;
}

export interface ProcessSearch {
  /** Also finds the descendants of this process: an orphan loses its parent, a child may clear its environment. */
  readonly parent?: number;
  /** Finds only processes that started at this moment or later, and reads nothing else of the others. */
  readonly since?: BootTicks;
}

/** Ticks since the machine booted. */
type BootTicks = number;

/** USER_HZ: 100 on every platform that Node runs on. */
const TICKS_PER_SECOND = 100;

/**
 * Returns the current moment, or one shortly before it, as the kernel records it for a process that starts now. By the start of this
 * process, because a container may have its own /proc/uptime.
 */
export function bootTicks(): BootTicks {
  const started = describeProcess(process.pid)?.started ?? 0;
  return started + Math.floor(process.uptime() * TICKS_PER_SECOND);
}

/** Processes that carry the mark in their environment, or descend from the parent. */
export function processesOf(mark: string, { parent, since = 0 }: ProcessSearch = {}): readonly Process[] {
  const all = listPids().flatMap((pid) => describeProcess(pid) ?? []);
  const family = new Set(parent === undefined ? [] : [parent]);
  // Process ids wrap around, so a child can be listed before its parent: repeat until no process is added.
  for (let before = -1; before !== family.size; ) {
    before = family.size;
    for (const { pid, ppid } of all) if (family.has(ppid)) family.add(pid);
  }
  const recent = all.filter(({ started }) => started >= since);
  const ours = recent.filter(({ pid }) => family.has(pid) || environmentOf(pid).includes(mark));
  return ours
    .filter(({ pid }) => pid !== parent && pid !== process.pid)
    .map(({ pid, ppid, name }) => ({ pid, ppid, command: commandOf(pid) ?? name }));
}

/**
 * Returns the sockets that this process listens on, but for those with these inodes. Reads the sockets of the machine only if this process
 * has other ones: the kernel searches a large table for them.
 */
export function listeners(known: ReadonlySet<string> = new Set()): readonly string[] {
  const inodes = [...socketInodes()].filter((inode) => !known.has(inode));
  if (inodes.length === 0) return [];
  const names = listeningSockets().flatMap(([inode, name]) => (inodes.includes(inode) ? [name] : []));
  return names.toSorted();
}

/** Returns the inodes of the sockets that this process has open. */
export function socketInodes(): ReadonlySet<string> {
  const inodes = namesIn('/proc/self/fd').flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${fd}`))?.[1] ?? [];
    } catch {
      return []; // closed since the folder was read
    }
  });
  return new Set(inodes);
}

export function mountsUnder(folder: string): readonly string[] {
  const targets = linesOf('/proc/self/mounts').map((line) => line.split(' ')[1] ?? '');
  return targets.filter((target) => target.startsWith(`${folder}/`));
}

export function networkInterfaces(prefix: string): readonly string[] {
  return namesIn('/sys/class/net').filter((name) => name.startsWith(prefix));
}

/** Ends processes that tests started and left behind. */
export function end(processes: readonly Process[]): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // ended meanwhile
    }
  }
}

export function isAlive(pid: number): boolean {
  return describeProcess(pid) !== undefined;
}

function listPids(): number[] {
  return namesIn('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
}

interface ProcessStat {
  readonly pid: number;
  readonly ppid: number;
  readonly started: BootTicks;
  /** The name that the kernel has for it, in brackets. */
  readonly name: string;
}

/** Positions behind the name in /proc/<pid>/stat. */
const FIELD = { state: 0, ppid: 1, started: 19 } as const;

function describeProcess(pid: number): ProcessStat | undefined {
  // The name is in brackets and may contain any character, brackets too: read from the last bracket on.
  const stat = textOf(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ppid = fields[FIELD.ppid];
  if (ppid === undefined || fields[FIELD.state] === 'Z') return undefined;
  const name = stat.slice(0, stat.indexOf(')') + 1);
  return { pid, ppid: Number(ppid), started: Number(fields[FIELD.started]), name };
}

/** Returns undefined for a process without a command line. */
function commandOf(pid: number): string | undefined {
  const words = textOf(`/proc/${pid}/cmdline`).split('\0').join(' ').trim();
  return words.slice(0, 160) || undefined;
}

function environmentOf(pid: number): readonly string[] {
  return textOf(`/proc/${pid}/environ`).split('\0');
}

const TCP_LISTEN = '0A';
const UNIX_ACCEPTS = '00010000';

function listeningSockets(): readonly (readonly [inode: string, name: string])[] {
  return [...listeningTcp('tcp'), ...listeningTcp('tcp6'), ...listeningUnix()];
}

function listeningTcp(family: 'tcp' | 'tcp6'): [inode: string, name: string][] {
  return linesOf(`/proc/self/net/${family}`).flatMap((line) => {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
    const port = Number.parseInt(local.split(':')[1] ?? '', 16);
    return state === TCP_LISTEN ? [[inode, `${family} port ${port}`]] : [];
  });
}

function listeningUnix(): [inode: string, name: string][] {
  return linesOf('/proc/self/net/unix').flatMap((line) => {
    const [, , , flags, , , inode = '', path = 'unnamed'] = line.trim().split(/\s+/);
    return flags === UNIX_ACCEPTS ? [[inode, `unix socket ${path}`]] : [];
  });
}

function linesOf(file: string): string[] {
  return textOf(file).split('\n').filter(Boolean);
}

/** Empty if the file does not exist, or not any more: processes start and end meanwhile. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
