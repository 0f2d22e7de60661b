/**
 * Isolation by the operating system, in addition to Node's permission model: on Linux, kernel limits (memory, CPU time, written
 * files, file descriptors), and namespaces without network and without other processes.
 */
import { execFile } from 'node:child_process';

export interface IsolationLimits {
  readonly cpuSeconds: number;
  readonly heapMiB: number;
  /** Whether the process may write files. */
  readonly writes: boolean;
}

export interface Isolation {
  /** The command that starts the sandboxed process; empty when the machine supports no isolation. */
  prefix(limits: IsolationLimits): readonly string[];
  /** The active mechanisms. */
  readonly names: readonly string[];
}

const UNSHARE = ['unshare', '--user', '--net', '--pid', '--ipc', '--uts', '--fork', '--kill-child'];
// In addition to the heap: young generation, code, stacks, and the buffers of a program that reads large files.
const OVERHEAD_MIB = 768;

/** The isolation of machines without these tools: Node's permission model alone. */
export const NO_OS_ISOLATION: Isolation = { names: ['permissions'], prefix: () => [] };

export async function detectIsolation(): Promise<Isolation> {
  const [hasLimits, hasNamespaces] = await Promise.all([
    succeeds(['prlimit', '--core=0', '--', 'true']),
    succeeds([...UNSHARE, '--', 'true']),
  ]);
  return isolationOf([
    'permissions',
    ...(hasLimits ? ['limits'] : []),
    ...(hasNamespaces ? ['namespaces'] : []),
  ]);
}

/** The isolation with the mechanisms of these names, as another process detected it. */
export function isolationOf(names: readonly string[]): Isolation {
  const [hasLimits, hasNamespaces] = [names.includes('limits'), names.includes('namespaces')];
  return {
    names,
    prefix: (limits) => [...(hasLimits ? prlimit(limits) : []), ...(hasNamespaces ? [...UNSHARE, '--'] : [])],
  };
}

function prlimit({ cpuSeconds, heapMiB, writes }: IsolationLimits): string[] {
  const data = (heapMiB + OVERHEAD_MIB) * 1024 * 1024;
  const files = writes ? [] : ['--fsize=0'];
  return ['prlimit', `--data=${data}`, `--cpu=${cpuSeconds}`, '--core=0', ...files, '--nofile=256', '--'];
}

function succeeds([file = '', ...args]: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(file, args, { timeout: 10_000, env: { PATH: process.env['PATH'] ?? '' } }, (error) =>
      resolve(!error),
    );
  });
}
