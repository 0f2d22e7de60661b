/** Who uses a directory: processes, by where they work, and mounts. Pure. */

export interface ListedProcess {
  readonly pid: number;
  readonly parent: number;
  /** The directory in which it works; absent where that cannot be read, as for threads of the kernel. */
  readonly directory?: string;
}

/** Returns the processes that work in the directory, with all that they started: a runtime works there, and its containers elsewhere. Never this process or those above it. */
export function usersOf(
  processes: readonly ListedProcess[],
  directory: string,
  ownPid: number,
): readonly number[] {
  const byPid = new Map(processes.map((each) => [each.pid, each]));
  const children = Map.groupBy(processes, ({ parent }) => parent);
  const spared = ancestorsOf(byPid, ownPid);
  const found = new Set<number>();
  const open = processes.filter((each) => isIn(each.directory, directory)).map(({ pid }) => pid);
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    if (found.has(pid) || spared.has(pid)) continue;
    found.add(pid);
    open.push(...(children.get(pid) ?? []).map((child) => child.pid));
  }
  return [...found].toSorted((a, b) => a - b);
}

function ancestorsOf(byPid: ReadonlyMap<number, ListedProcess>, ownPid: number): ReadonlySet<number> {
  const found = new Set<number>();
  for (let pid = ownPid; !found.has(pid); pid = byPid.get(pid)?.parent ?? pid) found.add(pid);
  return found;
}

function isIn(path: string | undefined, directory: string): boolean {
  return path === directory || path?.startsWith(`${directory}/`) === true;
}

/** Returns the mount points in the directory, the last mounted first: one may be on another. */
export function mountsIn(mountinfo: string, directory: string): readonly string[] {
  return mountinfo
    .split('\n')
    .map((line) => decoded(line.split(' ')[4] ?? ''))
    .filter((path) => isIn(path, directory))
    .toReversed();
}

/** The kernel writes a space as \\040. */
function decoded(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCodePoint(Number.parseInt(octal, 8)),
  );
}

/** Reads the parent in /proc/PID/stat. The name before it may contain spaces and brackets. */
export function parentIn(stat: string): number {
  const [, parent = '0'] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(parent);
}
