/** S20: the same commit renders to the same bytes at any time and on any machine. */
import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createFleetFolder, createTestRenderer, program } from '../../../support/fleet-repository.ts';
import { dataOf } from '../results.ts';

type Source = readonly [what: string, expression: string, expected: string];

const DENIED = 'denied';
const NOW = '946684800000';
const ISO = '2000-01-01T00:00:00.000Z';
const builtin = (name: string): string => `(process.getBuiltinModule('node:${name}') as any)`;
const fs = builtin('fs');
const vm = builtin('vm');

/** Every way that we know to a clock, and what it tells. */
const CLOCKS: readonly Source[] = [
  ['Date', 'new Date().toISOString()', ISO],
  ['Date as a function', 'Date()', 'Sat Jan 01 2000 00:00:00 GMT+0000 (Coordinated Universal Time)'],
  ['Date.now', 'Date.now()', NOW],
  ['a subclass of Date', 'new (class extends Date {})().getTime()', NOW],
  ['the constructor of a date', 'new (new Date(0).constructor as any)().getTime()', NOW],
  [
    'the constructor of a cloned date',
    'new (structuredClone(new Date(0)).constructor as any)().getTime()',
    NOW,
  ],
  [
    'the constructor of a deserialized date',
    `new (${builtin('v8')}.deserialize(${builtin('v8')}.serialize(new Date(0))).constructor)().getTime()`,
    NOW,
  ],
  ['Date in a new context', `${vm}.runInNewContext('Date.now()')`, DENIED],
  ['Date in a created context', `${vm}.runInContext('Date.now()', ${vm}.createContext())`, DENIED],
  ['Date in a script', `new (${vm}.Script)('Date.now()').runInNewContext()`, DENIED],
  ['Date in a compiled function', `${vm}.compileFunction('return Date.now()')()`, DENIED],
  ['Date in a module', `new (${vm}.SourceTextModule ?? ${vm}.Script)('Date.now()')`, DENIED],
  ['Date through eval', `(0, eval)('Date.now()')`, NOW],
  ['Date through Function', `new Function('return Date.now()')()`, NOW],
  ['Date in a worker', `new (${builtin('worker_threads')}.Worker)('', { eval: true })`, DENIED],
  ['Date in a shell', `${builtin('repl')}.start()`, DENIED],
  [
    'Date in mock timers',
    `(({ timers }) => { timers.enable({ apis: ['Date'] }); const mocked = Date.now(); timers.reset(); return [mocked, Date.now()].join(); })(${builtin('test')}.mock)`,
    DENIED,
  ],
  ['Temporal.Now.instant', '(globalThis as any).Temporal.Now.instant().epochMilliseconds', NOW],
  ['Temporal.Now.plainDateISO', '(globalThis as any).Temporal.Now.plainDateISO().toString()', '2000-01-01'],
  ['Temporal.Now.plainTimeISO', '(globalThis as any).Temporal.Now.plainTimeISO().toString()', '00:00:00'],
  [
    'Temporal.Now.plainDateTimeISO',
    '(globalThis as any).Temporal.Now.plainDateTimeISO().toString()',
    '2000-01-01T00:00:00',
  ],
  [
    'Temporal.Now.zonedDateTimeISO',
    '(globalThis as any).Temporal.Now.zonedDateTimeISO().epochMilliseconds',
    NOW,
  ],
  ['Temporal.Now.timeZoneId', '(globalThis as any).Temporal.Now.timeZoneId()', 'UTC'],
  ['Intl.DateTimeFormat.format', `new Intl.DateTimeFormat('en').format()`, '1/1/2000'],
  ['Intl.DateTimeFormat.format of undefined', `new Intl.DateTimeFormat('en').format(undefined)`, '1/1/2000'],
  ['a detached format', `(({ format }) => format())(new Intl.DateTimeFormat('en'))`, '1/1/2000'],
  [
    'Intl.DateTimeFormat.formatToParts',
    `new Intl.DateTimeFormat('en').formatToParts().map(({ value }) => value).join('')`,
    '1/1/2000',
  ],
  ['Intl of a given date', `new Intl.DateTimeFormat('en').format(0)`, '1/1/1970'],
  ['the time zone', 'Intl.DateTimeFormat().resolvedOptions().timeZone', 'UTC'],
  ['performance.now', 'performance.now()', '0'],
  ['performance.now of the prototype', 'Object.getPrototypeOf(performance).now.call(performance)', '0'],
  ['performance.timeOrigin', 'performance.timeOrigin', NOW],
  ['performance.toJSON', 'JSON.stringify(performance.toJSON())', `{"timeOrigin":${NOW}}`],
  ['performance.mark', `performance.mark('a').startTime`, '0'],
  ['performance.measure', `performance.measure('a').duration`, '0'],
  ['performance.nodeTiming', '(performance as any).nodeTiming', 'undefined'],
  ['eventLoopUtilization', `${builtin('perf_hooks')}.eventLoopUtilization().active`, '0'],
  ['PerformanceMark', `new PerformanceMark('a').startTime`, DENIED],
  ['PerformanceObserver', 'new PerformanceObserver(() => undefined)', DENIED],
  ['monitorEventLoopDelay', `${builtin('perf_hooks')}.monitorEventLoopDelay()`, DENIED],
  ['process.hrtime', 'process.hrtime().join()', '0,0'],
  ['process.hrtime.bigint', 'process.hrtime.bigint()', '0'],
  ['process.uptime', 'process.uptime()', '0'],
  ['process.cpuUsage', 'process.cpuUsage().user', '0'],
  ['process.resourceUsage', 'JSON.stringify(process.resourceUsage())', '{}'],
  ['os.uptime', `${builtin('os')}.uptime()`, '0'],
  ...['atimeMs', 'mtimeMs', 'ctimeMs', 'birthtimeMs'].flatMap((field): Source[] => [
    [`${field} of a file`, `${fs}.statSync('main.ts').${field}`, NOW],
    [`${field} of a file as a bigint`, `${fs}.statSync('main.ts', { bigint: true }).${field}`, NOW],
  ]),
  ['mtime of a file', `${fs}.statSync('main.ts').mtime.toISOString()`, ISO],
  ['birthtime of a file', `${fs}.lstatSync('main.ts').birthtime.toISOString()`, ISO],
  ['mtimeNs of a file', `${fs}.statSync('main.ts', { bigint: true }).mtimeNs`, `${NOW}000000`],
  ['mtime by promise', `(await ${fs}.promises.stat('main.ts')).mtimeMs`, NOW],
  [
    'mtime by callback',
    `await new Promise((ok) => ${fs}.stat('main.ts', (_: any, s: any) => ok(s.mtimeMs)))`,
    NOW,
  ],
  ['mtime of a descriptor', `${fs}.fstatSync(${fs}.openSync('main.ts')).mtimeMs`, NOW],
  ['mtime of a file handle', `(await (await ${fs}.promises.open('main.ts')).stat()).mtimeMs`, NOW],
  ['mtime of its output', `${fs}.fstatSync(1).mtimeMs`, NOW],
  [
    'mtime in an inspected file',
    `/20[1-9]\\d-/.test(${builtin('util')}.inspect(${fs}.statSync('main.ts')))`,
    'false',
  ],
  ['mtime of a watched file', `${fs}.watchFile('main.ts', () => undefined)`, DENIED],
  ['the date of a new File', `new File([], 'x').lastModified`, NOW],
  [
    'the date of a File of a form',
    `(() => { const f = new FormData(); f.append('x', new Blob([])); return (f.get('x') as File).lastModified; })()`,
    NOW,
  ],
  ['the time of an event', `new Event('x').timeStamp`, '0'],
  ['the date of an HTTP response', `new (${builtin('http')}.ServerResponse)({ method: 'GET' })`, DENIED],
  [
    'the date of an inner HTTP response',
    `new (${builtin('_http_server')}.ServerResponse)({ method: 'GET' })`,
    DENIED,
  ],
  ['the profiler', `new (${builtin('v8')}.GCProfiler)()`, DENIED],
  ['a database', `new (${builtin('sqlite')}?.DatabaseSync ?? ${vm}.Script)(':memory:')`, DENIED],
  ['a UUID with a time', `${builtin('crypto')}.randomUUIDv7?.().length ?? 36`, '36'],
  ['a debugger', `new (${builtin('inspector')}.Session)()`, DENIED],
];

/** What else would make a render differ between two machines. */
const HOST: readonly Source[] = [
  ['its arguments', 'process.argv.join()', 'node,render'],
  ['the program of Node', 'process.execPath', 'node'],
  ['the name of its process', 'process.title', 'node'],
  [
    'the system',
    `[process.platform, process.arch, ${builtin('os')}.platform(), ${builtin('os')}.type(), ${builtin('os')}.arch()].join()`,
    'linux,x64,linux,Linux,x64',
  ],
  ['the flags of Node', 'process.execArgv.length', '0'],
  ['the path of programs', 'process.env.PATH', 'undefined'],
  ['users', '[process.getuid?.(), process.getgid?.(), process.getgroups?.().length].join()', '0,0,0'],
  ['memory', 'process.memoryUsage().rss + process.memoryUsage.rss() + process.availableMemory()', '0'],
  ['processors', `navigator.hardwareConcurrency + ${builtin('os')}.cpus().length`, '1'],
  [
    'inodes and devices',
    `(({ dev, ino, uid }) => [dev, ino, uid].join())(${fs}.statSync('main.ts'))`,
    '0,0,0',
  ],
  ['free disk space', `${fs}.statfsSync('.').bfree`, DENIED],
  ['free disk space by promise', `(await ${fs}.promises.statfs('.')).bfree`, DENIED],
  ['the compile cache', `${builtin('module')}.getCompileCacheDir()`, DENIED],
  ['whether code is cached', `${builtin('module')}.enableCompileCache().status`, DENIED],
  ['whether cached code is written', `${builtin('module')}.flushCompileCache()`, DENIED],
  ['resolvers', `${builtin('dns')}.getServers()`, DENIED],
  ['certificates of the host', `${builtin('tls')}.getCACertificates('system').length`, DENIED],
  ['heap statistics', `${builtin('v8')}.getHeapStatistics()`, DENIED],
];

const shared = createTestRenderer();

async function evaluate(sources: readonly Source[]): Promise<Readonly<Record<string, string>>> {
  const tries = sources.map(([what, expression]) => `${JSON.stringify(what)}: async () => (${expression}),`);
  const body = `const outcomes: Record<string, string> = {};
    for (const [what, source] of Object.entries({ ${tries.join('\n')} })) {
      try { outcomes[what] = String(await (source as any)()); }
      catch (error) { outcomes[what] = (error as any).code === 'ERR_ACCESS_DENIED' ? 'denied' : 'error: ' + (error as any).message; }
    }`;
  const folder = createFleetFolder({ 'main.ts': program(body, 'outcomes') });
  // Another day than that of any other render.
  utimesSync(join(folder, 'main.ts'), 1_234_567_890, 1_234_567_890);
  return dataOf(await shared.folder({ folder })) as Record<string, string>;
}

describe('a render', () => {
  let outcomes: Readonly<Record<string, string>>;
  beforeAll(async () => {
    outcomes = await evaluate([...CLOCKS, ...HOST]);
  });

  it.each(CLOCKS)('S20, SAF-15 gets no time from %s', (what, _, expected) => {
    expect(outcomes[what]).toBe(expected);
  });

  it.each(HOST)('S20 gets nothing of the host from %s', (what, _, expected) => {
    expect(outcomes[what]).toBe(expected);
  });
});
