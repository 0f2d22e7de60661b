import { defineConfig } from 'vitest/config';

const shared = { sequence: { shuffle: true }, globals: false } as const;

/** Three beds: `unit` needs no server, `cluster` a real API server, `nodes` root and real systemd nodes. */
// oxlint-disable-next-line import/no-default-export -- vitest reads the default export
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/cluster/**', 'test/nodes/**'],
        },
      },
      {
        test: {
          ...shared,
          name: 'cluster',
          include: ['test/cluster/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          ...shared,
          name: 'nodes',
          include: ['test/nodes/**/*.test.ts'],
          testTimeout: 600_000,
          hookTimeout: 900_000,
        },
      },
    ],
  },
});
