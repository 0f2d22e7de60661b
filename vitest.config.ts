import { randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { cacheFolder } from './src/local/folders.ts';
import { leakGuard } from './test/support/leak-guard/run.ts';
import { LongestFirst } from './test/support/longest-first.ts';
import { Totals } from './test/support/report/reporter.ts';

// One seed for the order of the tests, fast-check and every sweep. vitest prints it when it starts.
const seed = Number((process.env['KUBENODE_SEED'] ??= String(randomInt(1, 2 ** 31))));

// The programs that tests start compile the same sources hundreds of times: half of the CPU of a start.
process.env['NODE_COMPILE_CACHE'] ??= join(cacheFolder(process.env), 'compiled');

/** `npm run test:long` */
const long = process.env['KUBENODE_LONG'] === '1';
const LONG_MS = 12 * 3_600_000;

const shared = {
  // The rules of the example fleet import the package by its name.
  alias: { 'kubenode/constructs': join(import.meta.dirname, 'src/constructs/index.ts') },
  // In this order: the last of the hooks of a file measures what all others cost, too.
  sequence: { shuffle: true, setupFiles: 'list' as const },
  globals: false,
  setupFiles: [
    'test/support/cost/file.ts',
    'test/support/leak-guard/file.ts',
    'test/support/fast-check-seed.ts',
  ],
};

/** Their files wait more than they compute, for servers and for time. Each takes about 1 GiB, with its API server. */
const beyondCores = {
  ...shared,
  maxWorkers: availableParallelism() + 4,
  sequence: { ...shared.sequence, groupOrder: 1 },
  isolate: false,
};

/** Files whose sweeps are too long for `npm run check`: `unit` runs a part of each, `sweeps` the whole slice. */
const SWEEPS = [
  'test/agent/simulate/unit-starts.test.ts',
  'test/controllers/crash.test.ts',
  'test/sim/machines/simulate-machine-sets.test.ts',
  'test/sim/rollout/guards/breakage.test.ts',
  'test/sim/rollout/repairs/repairs.test.ts',
  'test/sync/apply/crash.test.ts',
  'test/sync/judge/empty-render.test.ts',
  'test/sync/promote/model.test.ts',
];

/** `unit` and `sweeps` need no server, `cluster` needs a real API server, `nodes` root and real systemd nodes. */
// oxlint-disable-next-line import/no-default-export -- vitest reads the default export
export default defineConfig({
  plugins: [leakGuard()],
  test: {
    sequence: { seed, sequencer: LongestFirst },
    // By default vitest leaves one core idle.
    maxWorkers: '100%',
    reporters: ['default', new Totals()],
    teardownTimeout: 60_000,
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/cluster/**', 'test/nodes/**'],
          env: { KUBENODE_QUICK: '1' },
          // A new process for each file would take a fifth of the time. The files share no state: tests pass in any order.
          isolate: false,
          // No test waits that long, except on a machine that builds a control plane at the same time. Whole sweeps take hours.
          testTimeout: long ? LONG_MS : 30_000,
          hookTimeout: 30_000,
        },
      },
      {
        test: {
          // In the group of `cluster`, so that they fill its waits.
          ...beyondCores,
          name: 'sweeps',
          include: SWEEPS,
          testTimeout: 60_000,
        },
      },
      {
        test: {
          ...beyondCores,
          name: 'cluster',
          include: ['test/cluster/**/*.test.ts'],
          globalSetup: 'test/support/control-plane-setup.ts',
          testTimeout: long ? LONG_MS : 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          ...shared,
          name: 'nodes',
          // Nodes boot and wait most of the time.
          maxWorkers: availableParallelism() + 1,
          sequence: { ...shared.sequence, groupOrder: 2 },
          include: ['test/nodes/**/*.test.ts'],
          globalSetup: ['test/support/control-plane-setup.ts', 'test/support/node-kit/setup.ts'],
          testTimeout: 600_000,
          hookTimeout: 900_000,
        },
      },
    ],
  },
});
