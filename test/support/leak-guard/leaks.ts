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

/** Processes that carry the mark, or descend from `parent`: an orphan loses its parent, a child may clear its environment. */
export function processesOf(mark: string, parent?: number): readonly Process[] {
  const all = listPids().flatMap((pid) => describeProcess(pid) ?? []);
  const family = new Set(parent === undefined ? [] : [parent]);
  // Process ids wrap around, so a child can be listed before its parent: repeat until no process is added.
  for (let before = -1; before !== family.size; ) {
    before = family.size;
    for (const { pid, ppid } of all) if (family.has(ppid)) family.add(pid);
  }
  const ours = all.filter(({ pid }) => family.has(pid) || environmentOf(pid).includes(mark));
  return ours.filter(({ pid }) => pid !== parent && pid !== process.pid);
}

/** The sockets that this process listens on. */
export function listeners(): readonly string[] {
  const inodes = new Set(socketInodes());
  const names = listeningSockets().flatMap(([inode, name]) => (inodes.has(inode) ? [name] : []));
  return names.toSorted();
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

function describeProcess(pid: number): Process | undefined {
  // The name is in brackets and may contain any character, brackets too: read from the last bracket on.
  const stat = textOf(`/proc/${pid}/stat`);
  const [state, ppid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (ppid === undefined || state === 'Z') return undefined;
  const words = textOf(`/proc/${pid}/cmdline`).split('\0').join(' ').trim();
  return { pid, ppid: Number(ppid), command: words.slice(0, 160) || stat.slice(0, stat.indexOf(')') + 1) };
}

function environmentOf(pid: number): readonly string[] {
  return textOf(`/proc/${pid}/environ`).split('\0');
}

function socketInodes(): string[] {
  return namesIn('/proc/self/fd').flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${fd}`))?.[1] ?? [];
    } catch {
      return []; // closed since the folder was read
    }
  });
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
