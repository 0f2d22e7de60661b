/** Tells what a process of a member really runs: the version that its own executable reports, and the flags of its command line. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { GRACEFUL_END } from '../../../../local/processes/specs.ts';
import type { ProcessIdentity } from '../../../../os/process/identity.ts';
import { isAllowedFlag } from '../../plan/flags.ts';
import { isApiServer, isEtcdMember, type MemberRun, type RunMember } from '../driver.ts';
import { EMULATED_VERSION, ETCD_QUOTA } from '../runs.ts';

export type VersionReader = (member: RunMember, process: ProcessIdentity) => Promise<string | undefined>;

const VERSION_MS = 10_000;

/**
 * Asks the executable of the process, which the kernel keeps also when its file was replaced. The path in the command line would not tell
 * after the programs were moved. Undefined: unknown.
 */
export function createVersionReader(): VersionReader {
  const known = new Map<string, string>();
  return async (member, { pid, startTicks, bootId }) => {
    const key = `${bootId}/${pid}/${startTicks}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const version = await readVersion(`/proc/${pid}/exe`, memberProgram(member));
    if (version !== undefined) known.set(key, version);
    return version;
  };
}

/** Returns the name of the program that a member is. */
export function memberProgram(member: RunMember): MemberProgram {
  if (isEtcdMember(member)) return 'etcd';
  return isApiServer(member) ? 'kube-apiserver' : member;
}

export type MemberProgram = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler';

/** Returns the version that a program prints: `v1.36.3`. One executable may be several programs, by the name that it is called by. */
export async function readVersion(program: string, name: string): Promise<string | undefined> {
  const child = spawn(program, ['--version'], {
    argv0: name,
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: VERSION_MS,
  });
  try {
    const [printed] = await Promise.all([text(child.stdout), once(child, 'close')]);
    return child.exitCode === 0 ? parseVersion(printed) : undefined;
  } catch {
    return undefined;
  }
}

export function parseVersion(printed: string): string | undefined {
  const found = /\bv?(?<version>\d+\.\d+\.\d+[\w.+-]*)/.exec(printed)?.groups?.['version'];
  return found === undefined ? undefined : `v${found}`;
}

/**
 * Tells whether the process was started with another version or other flags than are recorded. It compares only the flags that a Cluster
 * may change: a hosting of a later version, which starts members with other flags of its own, restarts none.
 */
export function isProcessOutdated(
  member: RunMember,
  running: { readonly version: string | undefined; readonly args: readonly string[] },
  expected: { readonly run: MemberRun; readonly args: readonly string[] },
): boolean {
  const { version } = expected.run;
  if (running.version !== undefined && version !== undefined && running.version !== version) return true;
  const [found, wanted] = [running.args, expected.args].map((args) => changeableFlags(member, args));
  return found !== wanted;
}

const PARTS = {
  'kube-apiserver': 'apiServer',
  'kube-controller-manager': 'controllerManager',
  'kube-scheduler': 'scheduler',
} as const;

function changeableFlags(member: RunMember, args: readonly string[]): string {
  const program = memberProgram(member);
  const isChangeable = (name: string): boolean =>
    program === 'etcd'
      ? name === ETCD_QUOTA
      : name === EMULATED_VERSION || isAllowedFlag(PARTS[program], name);
  // Those of hosting itself come before those of the Cluster.
  const theirs = args.filter((arg) => !GRACEFUL_END.includes(arg));
  const flags = theirs.filter((arg) => isChangeable(/^--(?<name>[^=]+)/.exec(arg)?.groups?.['name'] ?? ''));
  return flags.toSorted().join(' ');
}
