/**
 * Instances of inotify: the kernel limits them for each user, and all nodes of a machine are processes of the same root. A systemd
 * that gets none neither boots nor prints why.
 */
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';

export interface InotifyUse {
  readonly used: number;
  readonly limit: number;
}

const LIMIT = 'fs.inotify.max_user_instances';
/** Of root: systemd holds 5, and logind, agetty and containerd one each. An agent and a log that is followed take one each. */
const OF_NODE = 10;
const OF_KUBELET = 5;

export function neededInstances(hasKubelet: boolean): number {
  return OF_NODE + (hasKubelet ? OF_KUBELET : 0);
}

/** Undefined while there is room. */
export function inotifyShortage({ used, limit }: InotifyUse, needed: number): string | undefined {
  if (limit - used >= needed) return undefined;
  return `${used} of ${limit} inotify instances of root are in use, and the node needs ${needed}: stop other nodes and clusters, or run sysctl -w ${LIMIT}=1024`;
}

export function readInotifyUse(proc = '/proc', uid = 0): InotifyUse {
  const limit = Number(readFileSync(`${proc}/sys/${LIMIT.replaceAll('.', '/')}`, 'utf8'));
  const pids = readdirSync(proc).filter((name) => /^\d+$/.test(name));
  const used = pids.reduce((sum, pid) => sum + instancesOf(`${proc}/${pid}`, uid), 0);
  return { used, limit };
}

function instancesOf(process: string, uid: number): number {
  try {
    if (statSync(process).uid !== uid) return 0;
    const files = readdirSync(`${process}/fd`).map((name) => linkOf(`${process}/fd/${name}`));
    return files.filter((target) => target === 'anon_inode:inotify').length;
  } catch {
    // It ended meanwhile.
    return 0;
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
