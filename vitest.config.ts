import { randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { COMPILED } from './test/support/compiled-code.ts';
import { LAZY_GC } from './test/support/lazy-gc.ts';
import { leakGuard } from './test/support/leak-guard/run.ts';
import { LongestFirst } from './test/support/longest-first.ts';
import { Totals } from './test/support/report/reporter.ts';

// One seed for the order of the tests, fast-check and every sweep. vitest prints it when it starts.
const seed = Number((process.env['KUBENODE_SEED'] ??= String(randomInt(1, 2 ** 31))));

// The programs that tests start compile the same sources hundreds of times: half of the CPU of a start. By paths that are relative to this
// folder, so that a copy of the checkout starts with what is compiled here. An installation of the dependencies empties it.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, COMPILED);
process.env['NODE_COMPILE_CACHE_PORTABLE'] ??= '1';

// Fleets and hosted control planes pass it on to their API servers.
for (const [name, value] of Object.entries(LAZY_GC)) process.env[name] ??= value;

/** `npm run test:long` */
const long = process.env['KUBENODE_LONG'] === '1';
const LONG_MS = 12 * 3_600_000;

/**
 * The limits of a test, a hook and a wait end what hangs; they measure nothing. A machine that computes for others too, as those of
 * CI do, can stand still for a minute: whatever hangs for longer than these does not go on.
 */
const GUARDS = guardsOf({ testMs: 600_000, pollMs: 240_000 });

function guardsOf({ testMs, pollMs }: { readonly testMs: number; readonly pollMs: number }) {
  return {
    // Whole sweeps take hours.
    testTimeout: long ? LONG_MS : testMs,
    hookTimeout: testMs,
    // By default expect.poll looks every 50 ms: each time it asks an API server, and a test waits thousands of times.
    expect: { poll: { interval: 200, timeout: pollMs } },
  };
}

const shared = {
  runner: 'test/support/timely-runner.ts',
  // The rules of the example fleet import the package by its name.
  alias: { 'kubenode/constructs': join(import.meta.dirname, 'src/constructs/index.ts') },
  // In this order: the last of the hooks of a file measures what all others cost, too.
  sequence: { shuffle: true, setupFiles: 'list' as const },
  globals: false,
  ...GUARDS,
  setupFiles: [
    'test/support/cost/file.ts',
    'test/support/leak-guard/file.ts',
    'test/support/fast-check-seed.ts',
  ],
};

/**
 * Files of `cluster` wait, for servers and for time. Twice as many as cores keep these busy; more make each file slower, and none
 * end earlier. Each takes about 1 GiB, with its API server.
 */
const BEYOND_CORES = 2 * availableParallelism();

const UNIT = { include: ['test/**/*.test.ts'], exclude: ['test/cluster/**', 'test/e2e/**', 'test/nodes/**'] };
const CLUSTER = {
  // A new process for each file would take a fifth of the time. The files share no state: tests pass in any order.
  isolate: false,
  include: ['test/cluster/**/*.test.ts'],
  globalSetup: 'test/support/control-plane-setup.ts',
  maxWorkers: BEYOND_CORES,
};

const unit = {
  ...shared,
  ...UNIT,
  name: 'unit',
  isolate: false,
  // Some wait, for programs and for time.
  maxWorkers: availableParallelism() + 1,
};

const cluster = {
  ...shared,
  ...CLUSTER,
  name: 'cluster',
  sequence: { ...shared.sequence, groupOrder: 1 },
};

/**
 * `npm test` and CI run `unit` beside `cluster`: its files compute while the others wait. As one project, because vitest ends a
 * worker whose next file is of another project: to start one takes more than most files of `unit`.
 */
const together = {
  ...shared,
  ...CLUSTER,
  name: 'all',
  include: UNIT.include,
  exclude: ['test/e2e/**', 'test/nodes/**'],
};

/**
 * A whole fleet takes minutes for what others do in seconds, and a tour of it half an hour on a machine that is three times slower than
 * usual, beside other files.
 */
const FLEET_GUARDS = guardsOf({ testMs: 3_000_000, pollMs: 900_000 });

/** Each file keeps a fleet of several clusters, with its machines, busy for minutes: one for each core. */
const e2e = {
  ...shared,
  ...CLUSTER,
  name: 'e2e',
  sequence: { ...shared.sequence, groupOrder: 2 },
  include: ['test/e2e/**/*.test.ts'],
  maxWorkers: availableParallelism(),
  ...FLEET_GUARDS,
};

/** The names of bridges and cgroups have room for so many. */
const MOST_WORKERS_WITH_NODES = 9;

const NODES = {
  isolate: false,
  include: ['test/nodes/**/*.test.ts'],
  globalSetup: ['test/support/control-plane-setup.ts', 'test/support/node-kit/setup.ts'],
};

const nodes = {
  ...shared,
  ...NODES,
  name: 'nodes',
  // Nodes boot and wait most of the time.
  maxWorkers: Math.min(availableParallelism() + 1, MOST_WORKERS_WITH_NODES),
  sequence: { ...shared.sequence, groupOrder: 3 },
  hookTimeout: 900_000,
};

/** CI runs everything as one project: fleets and nodes wait for a third of their time, in which the others compute. */
const everything = {
  ...shared,
  ...NODES,
  name: 'everything',
  include: UNIT.include,
  maxWorkers: Math.min(BEYOND_CORES, MOST_WORKERS_WITH_NODES),
  ...FLEET_GUARDS,
};

const TOGETHER: Readonly<Record<string, object>> = { npm: together, ci: everything };
const one = TOGETHER[process.env['KUBENODE_TOGETHER'] ?? ''];
const projects = one ? [one] : [unit, cluster, e2e, nodes];

/** `unit` needs no server, `cluster` real API servers, `e2e` whole fleets on this computer, `nodes` root and real systemd nodes. */
// oxlint-disable-next-line import/no-default-export -- vitest reads the default export
export default defineConfig({
  plugins: [leakGuard()],
  test: {
    sequence: { seed, sequencer: LongestFirst },
    reporters: ['default', new Totals()],
    teardownTimeout: 60_000,
    projects: projects.map((test) => ({ test })),
  },
});
