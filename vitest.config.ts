import { randomInt } from 'node:crypto';
import { defineConfig } from 'vitest/config';
import { leakGuard } from './test/support/leak-guard/run.ts';
import { Totals } from './test/support/totals-reporter.ts';

// One seed for all: the order of the tests, fast-check and every sweep. vitest prints it when it starts.
const seed = Number((process.env['KUBENODE_SEED'] ??= String(randomInt(1, 2 ** 31))));

const shared = {
  sequence: { shuffle: true },
  globals: false,
  setupFiles: ['test/support/leak-guard/file.ts'],
};

/** Three beds: `unit` needs no server, `cluster` a real API server, `nodes` root and real systemd nodes. */
// oxlint-disable-next-line import/no-default-export -- vitest reads the default export
export default defineConfig({
  plugins: [leakGuard()],
  test: {
    sequence: { seed },
    // Test files wait more than they compute, for servers and for time: vitest would leave one core idle.
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
          // No test waits that long: a machine that builds a control plane at the same time may make it.
          testTimeout: 30_000,
          hookTimeout: 30_000,
        },
      },
      {
        test: {
          ...shared,
          name: 'cluster',
          include: ['test/cluster/**/*.test.ts'],
          globalSetup: 'test/support/control-plane-setup.ts',
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          ...shared,
          name: 'nodes',
          include: ['test/nodes/**/*.test.ts'],
          globalSetup: 'test/support/control-plane-setup.ts',
          testTimeout: 600_000,
          hookTimeout: 900_000,
        },
      },
    ],
  },
});
