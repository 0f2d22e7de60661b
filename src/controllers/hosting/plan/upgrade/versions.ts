/** Compares versions such as `v1.36.3`. Pure. */
const VERSION = /^v(?<major>\d+)\.(?<minor>\d+)\./;

/** Returns `1.36`. */
export function minorOf(version: string): string {
  const { major = '0', minor = '0' } = VERSION.exec(version)?.groups ?? {};
  return `${major}.${minor}`;
}

/** Returns `1.37` for a version of 1.36. */
export function minorAfter(version: string): string {
  const { major = '0', minor = '0' } = VERSION.exec(version)?.groups ?? {};
  return `${major}.${Number(minor) + 1}`;
}

/** Returns how many minor versions are between them: negative when the second is older. Another major version is a hundred away. */
export function minorsBetween(from: string, to: string): number {
  const [before, after] = [from, to].map((version) => {
    const { major = '0', minor = '0' } = VERSION.exec(version)?.groups ?? {};
    return Number(major) * 100 + Number(minor);
  });
  return (after ?? 0) - (before ?? 0);
}

export function isNewerMinor(from: string, to: string): boolean {
  return minorsBetween(from, to) > 0;
}
