import { describe, expect, it } from 'vitest';
import { refuseWatchOf, showCluster } from '../../../../src/cli/commands/status/cluster.ts';
import { exitCodeOf } from '../../../../src/cli/exit.ts';
import { summarizeHub } from '../../../../src/views/status/hub-status.ts';
import { type TestIo, testIo } from '../../../support/test-io.ts';
import { cluster, NOW, pipeline } from '../builders.ts';

const UNSYNCED = 'nothing syncs pipeline fleet: why. Start it: kubenode sync';

function show(state: string, unsynced: readonly string[] = [], name = 'prod'): TestIo {
  const io = testIo({ env: { npm_command: 'exec' } });
  const hub = { pipelines: [pipeline({})], clusters: [cluster({ state, message: 'why' })], releases: [] };
  showCluster(io, { name, hub, status: summarizeHub(hub, { now: NOW, unsynced }), output: 'table' });
  return io;
}

describe('showCluster', () => {
  it.each([
    ['Proven', [], 0],
    ['Failed', [], 1],
    ['Held', [], 1],
    ['Proven', [UNSYNCED], 1],
  ] as const)('exits with 1 whenever a person is needed: %s, %j', (state, unsynced, code) => {
    expect(exitCodeOf(show(state, unsynced))).toBe(code);
  });

  it('begins with a pipeline that nothing syncs, with the command that starts one', () => {
    expect(show('Proven', [UNSYNCED]).stdout).toMatch(
      /^nothing syncs pipeline fleet: .*: kubenode sync\nThe status below is the last that was recorded\.\n\nprod: Proven/,
    );
  });

  it('names the clusters that exist for one that does not', () => {
    expect(() => show('Proven', [], 'other')).toThrow(
      expect.objectContaining({ message: 'Cluster other not found in the hub', hint: 'use one of: prod' }),
    );
  });
});

describe('refuseWatchOf', () => {
  it('names the commands that work', () => {
    expect(() => refuseWatchOf('prod')).toThrow(
      expect.objectContaining({
        exitCode: 64,
        hint: expect.stringContaining('kubenode status prod') as string,
      }),
    );
  });
});
