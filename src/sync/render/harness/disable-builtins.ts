/**
 * Closes what Node's permission model leaves open (measured on 26.10): signals to other processes and their priorities,
 * reports on the host, V8 flags that write files, SQLite's ATTACH, and ends of the process that would look like a result. Modules are single objects, so a function that
 * is replaced here is replaced for every way to reach it.
 */
import { syncBuiltinESMExports } from 'node:module';

const PROCESS = [
  'kill',
  '_kill',
  '_debugProcess',
  '_debugEnd',
  '_startProfilerIdleNotifier',
  'setuid',
  'seteuid',
  'setgid',
  'setegid',
  'setgroups',
  'initgroups',
  'chdir',
  'umask',
  'dlopen',
  'execve',
  'loadEnvFile',
  'setSourceMapsEnabled',
  'exit',
  'reallyExit',
  'abort',
];

const MODULES: Readonly<Record<string, readonly string[] | 'all'>> = {
  'node:v8': [
    'setFlagsFromString',
    'writeHeapSnapshot',
    'setHeapSnapshotNearHeapLimit',
    'startCpuProfile',
    'takeCoverage',
    'stopCoverage',
  ],
  'node:os': ['setPriority'],
  'node:trace_events': 'all',
  'node:inspector': 'all',
  'node:child_process': 'all',
  'node:cluster': ['fork', 'setupMaster', 'setupPrimary'],
  'node:worker_threads': ['Worker'],
  'node:wasi': 'all',
  'node:sqlite': 'all',
  'node:ffi': 'all',
};

/** How the harness itself may still end the process. */
export function disableBuiltins(): (code: number) => never {
  // Not process.exit: it runs the listeners of the program, and calls reallyExit, which is replaced below.
  const end = (process as unknown as { reallyExit: (code: number) => never }).reallyExit.bind(process);
  for (const name of PROCESS) {
    if (!(name in process)) continue;
    Object.defineProperty(process, name, { value: denied(`process.${name}`), configurable: false });
  }
  // A report names host, interfaces and libraries.
  Object.defineProperty(process, 'report', { value: undefined });
  for (const [name, functions] of Object.entries(MODULES)) disableModule(name, functions);
  syncBuiltinESMExports();
  return end;
}

function disableModule(name: string, functions: readonly string[] | 'all'): void {
  const module = process.getBuiltinModule(name) as Record<string, unknown> | undefined;
  if (!module) return;
  for (const [key, value] of Object.entries(module)) {
    if (typeof value !== 'function' || (functions !== 'all' && !functions.includes(key))) continue;
    Object.defineProperty(module, key, {
      value: denied(`${name}.${key}`),
      configurable: false,
      writable: false,
    });
  }
}

function denied(what: string): () => never {
  // A function and not an arrow: `new` on it must be refused in the same words.
  return function refuse(): never {
    throw Object.assign(new Error(`${what} is not available in a render`), { code: 'ERR_ACCESS_DENIED' });
  };
}
