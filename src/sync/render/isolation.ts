/**
 * The second wall, by the operating system, where it has one: limits that the kernel keeps (memory, CPU, written files, descriptors),
 * and namespaces without network and without other processes. Node's permission model is the first, and is everywhere.
 */
import { execFile } from 'node:child_process';

export interface IsolationLimits {
  readonly cpuSeconds: number;
  readonly heapMiB: number;
  /** Whether it may write files at all. */
  readonly writes: boolean;
}

export interface Isolation {
  /** What the sandboxed program is started by; empty where nothing of it works. */
  prefix(limits: IsolationLimits): readonly string[];
  /** For people: which isolation stand. */
  readonly names: readonly string[];
}

const UNSHARE = ['unshare', '--user', '--net', '--pid', '--ipc', '--uts', '--fork', '--kill-child'];
// Beyond the heap: the young generation, code, stacks, and the buffers of a program that reads large files.
const BESIDES_HEAP_MIB = 768;

/** Node's permission model alone: what machines without these tools have. */
export const NO_OS_ISOLATION: Isolation = { names: ['permissions'], prefix: () => [] };

export async function detectIsolation(): Promise<Isolation> {
  const [hasLimits, hasNamespaces] = await Promise.all([
    works(['prlimit', '--core=0', '--', 'true']),
    works([...UNSHARE, '--', 'true']),
  ]);
  return {
    names: ['permissions', ...(hasLimits ? ['limits'] : []), ...(hasNamespaces ? ['namespaces'] : [])],
    prefix: (limits) => [...(hasLimits ? prlimit(limits) : []), ...(hasNamespaces ? [...UNSHARE, '--'] : [])],
  };
}

function prlimit({ cpuSeconds, heapMiB, writes }: IsolationLimits): string[] {
  const data = (heapMiB + BESIDES_HEAP_MIB) * 1024 * 1024;
  const files = writes ? [] : ['--fsize=0'];
  return ['prlimit', `--data=${data}`, `--cpu=${cpuSeconds}`, '--core=0', ...files, '--nofile=256', '--'];
}

function works([file = '', ...args]: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(file, args, { timeout: 10_000, env: { PATH: process.env['PATH'] ?? '' } }, (error) =>
      resolve(!error),
    );
  });
}
