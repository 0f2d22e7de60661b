/** The folders for a new cgroup, from /proc/self/mountinfo and /proc/self/cgroup. */

export interface Hierarchy {
  /** A folder in which we may create a cgroup. */
  readonly folder: string;
  readonly isCpuset: boolean;
}

export function hierarchiesIn(mountinfo: string, ownCgroups: string): readonly Hierarchy[] {
  const mounts = mountinfo.split('\n').flatMap(parseMount);
  return ownCgroups.split('\n').flatMap((line) => {
    const { controllers, path } = /^\d+:(?<controllers>[^:]*):(?<path>.*)$/.exec(line)?.groups ?? {};
    if (controllers === undefined || path === undefined) return [];
    const names = controllers.split(',');
    const mount = mounts.find(({ serves }) => names.every((name) => serves.has(name)));
    if (!mount) return [];
    return [{ folder: `${mount.target}${placeIn(mount, names, path)}`, isCpuset: names.includes('cpuset') }];
  });
}

interface Mount {
  readonly target: string;
  /** The part of the hierarchy that is mounted there. */
  readonly root: string;
  /** Controllers; '' for cgroup v2, as in /proc/self/cgroup. */
  readonly serves: ReadonlySet<string>;
}

function parseMount(line: string): Mount[] {
  const [before = '', after = ''] = line.split(' - ');
  const [, , , root = '/', target = ''] = before.split(' ');
  const [type, , options = ''] = after.split(' ');
  if (type === 'cgroup2') return [{ root, target, serves: new Set(['']) }];
  return type === 'cgroup' ? [{ root, target, serves: new Set(options.split(',')) }] : [];
}

/** Below our own cgroup, so that our limits apply to the nodes as well. */
function placeIn({ root }: Mount, names: readonly string[], path: string): string {
  // A v2 cgroup has either processes or children with controllers: ours has processes.
  if (names.includes('')) return '';
  // Outside of our view, or the root itself.
  if (path === '/' || path.startsWith('/..') || path === root) return '';
  return root !== '/' && path.startsWith(`${root}/`) ? path.slice(root.length) : path;
}
