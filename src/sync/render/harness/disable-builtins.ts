/**
 * Disables what Node's permission model allows (measured on 26.10): signals to other processes and their priorities, reports
 * about the host, V8 flags that write files, SQLite's ATTACH, and exits that would look like a complete result. A built-in
 * module is a single object, so a function that is replaced here is replaced for every importer.
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

/** Returns the function with which the harness itself can still exit. */
export function disableBuiltins(): (code: number) => never {
  // Not process.exit: it runs `exit` listeners of the program, and calls reallyExit, which is replaced below.
  const exit = (process as unknown as { reallyExit: (code: number) => never }).reallyExit.bind(process);
  for (const name of PROCESS) {
    if (!(name in process)) continue;
    Object.defineProperty(process, name, { value: denied(`process.${name}`), configurable: false });
  }
  // A report contains host names, network interfaces and libraries.
  Object.defineProperty(process, 'report', { value: undefined });
  for (const [name, functions] of Object.entries(MODULES)) disableModule(name, functions);
  syncBuiltinESMExports();
  return exit;
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

function denied(name: string): () => never {
  // Not an arrow function: `new` on it has to give the same error.
  return function deny(): never {
    throw Object.assign(new Error(`${name} is not available in a render`), { code: 'ERR_ACCESS_DENIED' });
  };
}
