/**
 * Disables what Node's permission model allows (measured on 26.10): signals to other processes and their priorities, reports
 * about the host, V8 flags that write files, SQLite's ATTACH, exits that would look like a complete result, and every way to a
 * second clock: other realms, date headers of HTTP, profilers. A built-in module is a single object, so a function that is
 * replaced here is replaced for every importer.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

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
    'GCProfiler',
    'getCppHeapStatistics',
    'getHeapCodeStatistics',
    'getHeapSnapshot',
    'getHeapSpaceStatistics',
    'getHeapStatistics',
    'queryObjects',
    'startHeapProfile',
  ],
  'node:perf_hooks': [
    'Performance',
    'PerformanceMark',
    'PerformanceObserver',
    'monitorEventLoopDelay',
    'createHistogram',
    'createSlidingWindowHistogram',
  ],
  // A commit has no links; those of the toolchain tell where kubenode is installed.
  'node:fs': ['statfs', 'statfsSync', 'watch', 'watchFile', 'readlink', 'readlinkSync'],
  'node:fs/promises': ['statfs', 'watch', 'readlink', 'realpath'],
  // The loader reads package.json and looks for files without asking for permission.
  'node:module': [
    'findPackageJSON',
    '_readPackage',
    // Whether the machine caches compiled code, and where.
    'getCompileCacheDir',
    'enableCompileCache',
    'flushCompileCache',
  ],
  'node:crypto': ['setEngine'],
  // A realm of its own has a Date of its own.
  'node:vm': 'all',
  // A response has a date; resolvers and certificates come from the host.
  'node:http': 'all',
  'node:https': 'all',
  'node:_http_agent': 'all',
  'node:_http_client': 'all',
  'node:_http_incoming': 'all',
  'node:_http_outgoing': 'all',
  'node:_http_server': 'all',
  'node:tls': 'all',
  'node:_tls_common': 'all',
  'node:_tls_wrap': 'all',
  'node:dns': 'all',
  'node:dns/promises': 'all',
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

/** No package of the toolchain imports these: they are not even loaded, because that would take longer than a small render. */
const UNAVAILABLE = ['http2', 'repl', 'test', 'test/reporters', 'inspector/promises', 'quic'];

/** Throws for a built-in module that a program must not import. */
export function rejectModule(specifier: string): void {
  const name = specifier.replace(/^node:/, '');
  if (UNAVAILABLE.includes(name)) denied(`node:${name}`)();
}

/** Classes that are also global. */
const GLOBALS = ['PerformanceMark', 'PerformanceObserver'];

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
  limitRealpath();
  const getBuiltinModule = process.getBuiltinModule.bind(process);
  Object.defineProperty(process, 'getBuiltinModule', {
    value(id: string) {
      rejectModule(id);
      return getBuiltinModule(id);
    },
  });
  for (const name of GLOBALS) Object.defineProperty(globalThis, name, { value: denied(name) });
  syncBuiltinESMExports();
  return exit;
}

/**
 * Node resolves links itself here, without asking its permission model: that tells which files exist, and where kubenode is installed.
 * Nothing that a program may read contains a link.
 */
function limitRealpath(): void {
  const has = process.permission?.has.bind(process.permission);
  const exists = fs.statSync;
  const realpathSync = (path: unknown): string => {
    // A path is read once: an object could return another one the second time.
    const text = resolve(path instanceof URL ? fileURLToPath(path) : String(path));
    if (has && !has('fs.read', text)) denied(`fs.realpath of ${JSON.stringify(text)}`)();
    exists(text);
    return text;
  };
  const realpath = (path: unknown, ...rest: readonly unknown[]): void => {
    const done = rest.at(-1) as (error: unknown, found?: string) => void;
    process.nextTick(() => {
      try {
        done(null, realpathSync(path));
      } catch (error) {
        done(error);
      }
    });
  };
  for (const [name, value] of Object.entries({ realpathSync, realpath })) {
    Object.defineProperty(fs, name, { value: Object.assign(value, { native: value }) });
  }
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
