/** S20: a fleet repository is arbitrary code. Everything that it could misuse is denied. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Renderer } from '../../../../src/sync/render/renderer.ts';
import { NO_OS_ISOLATION } from '../../../../src/sync/render/sandbox/os-isolation.ts';
import { createFleetFolder, createTestRenderer, program } from '../../../support/fleet-repository.ts';
import { tempFolder } from '../../../support/temp.ts';

const CANARY = 'canary-4711-must-not-leak';
const shared = createTestRenderer();
const outside = tempFolder('outside');
const secret = join(outside, 'secret');
let server: Server;
let port = 0;
let connections = 0;

beforeAll(async () => {
  process.env['KUBENODE_CANARY'] = CANARY;
  writeFileSync(secret, CANARY);
  server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  port = typeof address === 'object' && address ? address.port : 0;
});

afterAll(async () => {
  delete process.env['KUBENODE_CANARY'];
  await new Promise((resolve) => {
    server.close(resolve);
  });
});

const ENVIRONMENT = ['the environment', 'JSON.stringify(process.env)'] as const;
/** Denied by an error, or the module does not exist at all. */
const DENIED = /^error: (ERR_ACCESS_DENIED|ERR_DLOPEN_DISABLED|Cannot read properties of undefined)/;

type Attempt = readonly [what: string, expression: string];

const READS: readonly Attempt[] = [
  ['/etc/passwd', `(await import('node:fs')).readFileSync('/etc/passwd')`],
  ['/var/run', `(await import('node:fs')).readdirSync('/var/run')`],
  ['a file of this process', `(await import('node:fs')).readFileSync('SECRET')`],
  ['a file of this process as a module', `await import('SECRET')`],
  ['a file of this process with require', `createRequire('/')('SECRET')`],
  ['the environment of its parent', `(await import('node:fs')).readFileSync('/proc/1/environ')`],
  ['its own maps', `(await import('node:fs')).readFileSync('/proc/self/maps')`],
  ['the parent folder', `(await import('node:fs')).readdirSync('..')`],
  ['home', `process.loadEnvFile('/root/.bashrc')`],
  [
    'a database',
    `new (process.getBuiltinModule('node:sqlite').DatabaseSync)(':memory:').exec("ATTACH 'SECRET' AS s")`,
  ],
  ['a native library', `process.getBuiltinModule('node:ffi').dlopen('libc.so.6', {})`],
  ['an addon', `process.dlopen({ exports: {} }, '/lib/x86_64-linux-gnu/libc.so.6')`],
  ['the bindings of Node', `process.binding('fs')`],
];

const USES: readonly Attempt[] = [
  ['a report on the host', `JSON.stringify((process.report as any).getReport())`],
  ['the priority of its parent', `process.getBuiltinModule('node:os').setPriority(process.ppid, 19)`],
  [
    'a socket through the handle of its output',
    `await new Promise((ok, no) => { const P = (process.stdout as any)._handle.constructor; let Req: any; const net = process.getBuiltinModule('node:net'); const s = new net.Socket(); (s as any)._handle = { connect(req: any) { Req = req.constructor; return 0; } }; s.connect({ path: '/x' }); const r = new P(0).connect(new Req(), '/var/run/docker.sock'); r instanceof Error ? no(r) : ok(r); })`,
  ],
  [
    'TCP',
    `await new Promise((ok, no) => process.getBuiltinModule('node:net').connect(PORT, '127.0.0.1').on('connect', ok).on('error', no))`,
  ],
  ['fetch', `await fetch('http://127.0.0.1:PORT')`],
  [
    'a listening socket',
    `await new Promise((ok, no) => process.getBuiltinModule('node:net').createServer().listen(0, ok).on('error', no))`,
  ],
  [
    'a unix socket',
    `await new Promise((ok, no) => process.getBuiltinModule('node:net').connect('/var/run/docker.sock').on('connect', ok).on('error', no))`,
  ],
  [
    'UDP',
    `await new Promise((ok, no) => { const s = process.getBuiltinModule('node:dgram').createSocket('udp4'); s.on('error', no); s.send('x', PORT, '127.0.0.1', (e) => e ? no(e) : ok('sent')); })`,
  ],
  ['DNS', `await process.getBuiltinModule('node:dns').promises.lookup('example.com')`],
  ['a child process', `process.getBuiltinModule('node:child_process').execSync('id')`],
  ['a forked process', `process.getBuiltinModule('node:cluster').fork()`],
  ['another program', `process.execve('/bin/true', ['true'], {})`],
  ['a worker', `new (process.getBuiltinModule('node:worker_threads').Worker)('1', { eval: true })`],
  [
    'WASI',
    `new (process.getBuiltinModule('node:wasi').WASI)({ version: 'preview1', preopens: { '/': '/' } })`,
  ],
  ['a debugger', `process.getBuiltinModule('node:inspector').open(0)`],
  ['a signal to its parent', `process.kill(process.ppid, 'SIGKILL')`],
  ['a signal to its group', `process.kill(0, 'SIGKILL')`],
  ['a signal to all processes', `process.kill(-1, 'SIGKILL')`],
  ['a signal through process._kill', `(process as any)._kill(1, 9)`],
  [
    'the flags of V8',
    `process.getBuiltinModule('node:v8').setFlagsFromString('--logfile=OUTSIDE/x --log-all')`,
  ],
];

const WRITES: readonly Attempt[] = [
  ['a file', `process.getBuiltinModule('node:fs').writeFileSync('OUTSIDE/written', 'x')`],
  ['a file in its own folder', `process.getBuiltinModule('node:fs').writeFileSync('evil', 'x')`],
  ['a folder', `process.getBuiltinModule('node:fs').mkdirSync('OUTSIDE/written')`],
  ['a link', `process.getBuiltinModule('node:fs').symlinkSync('/etc', 'evil')`],
  ['a heap snapshot', `process.getBuiltinModule('node:v8').writeHeapSnapshot('OUTSIDE/written')`],
  ['a report', `(process.report as any).writeReport('OUTSIDE/written')`],
  ['a trace', `process.getBuiltinModule('node:trace_events').createTracing({ categories: ['v8'] }).enable()`],
  ['a database', `new (process.getBuiltinModule('node:sqlite').DatabaseSync)('OUTSIDE/written')`],
  ['over its own program', `process.getBuiltinModule('node:fs').rmSync('main.ts')`],
];

/** Runs all attempts in one sandbox and returns the outcome of each. */
async function attemptAll(
  at: Renderer,
  attempts: readonly Attempt[],
): Promise<Readonly<Record<string, string>>> {
  const tries = attempts.map(([what, expression]) => {
    const code = expression
      .replaceAll('PORT', `${port}`)
      .replaceAll('OUTSIDE', outside)
      .replaceAll('SECRET', secret);
    return `${JSON.stringify(what)}: async () => (${code}),`;
  });
  const body = `const outcomes: Record<string, string> = {};
    for (const [what, attempt] of Object.entries({ ${tries.join('\n')} })) {
      try { outcomes[what] = 'value: ' + String(await attempt()); }
      catch (error) { outcomes[what] = 'error: ' + ((error as any).code ?? (error as any).cause?.code ?? (error as any).message); }
    }`;
  const main = `import { createRequire } from 'node:module';\n${program(body, 'outcomes')}`;
  const { targets } = await at.folder({ folder: createFleetFolder({ 'main.ts': main }) });
  const data = targets.find(({ target }) => target === 'test')?.units[0]?.objects[0]?.object['data'];
  return data as Record<string, string>;
}

describe.each([
  ['all isolation of this machine', shared],
  ['the permission model of Node only', createTestRenderer({ isolation: NO_OS_ISOLATION })],
])('a hostile repository with %s', (_, at) => {
  let outcomes: Readonly<Record<string, string>>;
  beforeAll(async () => {
    outcomes = await attemptAll(at, [ENVIRONMENT, ...READS, ...USES, ...WRITES]);
  });

  it('does not see the environment of kubenode', () => {
    const environment = JSON.parse(outcomes[ENVIRONMENT[0]]?.replace('value: ', '') ?? '') as object;
    expect(Object.keys(environment).filter((name) => !['TZ', 'LC_ALL', 'PATH'].includes(name))).toEqual([]);
  });

  it.each(READS)('cannot read %s', (what) => {
    expect(outcomes[what]).toMatch(DENIED);
  });

  it.each(USES)('cannot use %s', (what) => {
    expect(outcomes[what]).toMatch(DENIED);
    expect(connections).toBe(0);
  });

  it.each(WRITES)('cannot write %s', (what) => {
    expect(outcomes[what]).toMatch(DENIED);
    expect(readdirSync(outside)).toEqual(['secret']);
    expect(readFileSync(secret, 'utf8')).toBe(CANARY);
  });
});
