import { describe, expect, it } from 'vitest';
import { bootstrap, warnWithoutPipeline } from '../../../../src/cli/commands/sync/bootstrap.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import type { SyncOptions } from '../../../../src/sync/sync.ts';
import { createFleetRepository, createTestRenderer } from '../../../support/fleet-repository.ts';
import { type MemoryLog, memoryLog } from '../../../support/memory-log.ts';
import { tempFolder } from '../../../support/temp.ts';
import { testIo } from '../../../support/test-io.ts';

/** Starts with a repository whose head does not render, on a hub with these Pipelines. */
async function startBroken(pipelines: readonly string[]): Promise<MemoryLog> {
  const repository = createFleetRepository();
  repository.commit('broken', { 'clusters/test/web/objects.yaml': 'kind: [\n' });
  const log = memoryLog();
  let closed = 0;
  const client = {
    list: async () => ({ items: pipelines.map((name) => ({ metadata: { name } })), resourceVersion: '1' }),
    close: async () => void (closed += 1),
  } as unknown as Client;
  const options = {
    connectHub: async () => client,
    renderer: createTestRenderer(),
    gitFolder: tempFolder('git'),
    log,
  } as unknown as SyncOptions;
  try {
    await bootstrap(testIo(), { from: `file://${repository.bare}`, path: '.' }, options);
  } finally {
    expect(closed).toBe(1);
  }
  return log;
}

describe('bootstrap', () => {
  it('starts with the Pipelines of the hub when the head is broken, and names what is wrong', async () => {
    const { lines } = await startBroken(['fleet', 'other']);
    expect(lines).toMatchObject([
      {
        level: 'warn',
        message: 'no pipeline read from the repository: sync starts with those of the hub',
        fields: { pipelines: ['fleet', 'other'] },
      },
    ]);
    expect(String(lines[0]?.fields['error'])).toContain('clusters/test/web/objects.yaml');
  });

  it('ends with the error when the hub has no Pipeline that could be synced', async () => {
    await expect(startBroken([])).rejects.toThrow('clusters/test/web/objects.yaml');
  });
});

describe('warnWithoutPipeline', () => {
  it.each<[name: string, pipelines: number, from: string | undefined, warnings: number]>([
    ['tells how to create the Pipelines of a hub that has none', 0, undefined, 1],
    ['tells nothing when the hub has a Pipeline', 1, undefined, 0],
    ['tells nothing right after --from created one, which the watch may not show yet', 0, '../fleet', 0],
  ])('%s', (_, pipelines, from, warnings) => {
    const log = memoryLog();
    warnWithoutPipeline(log, pipelines, from);
    expect(log.lines).toHaveLength(warnings);
    for (const { fields } of log.lines) {
      expect(fields['hint']).toContain('kubenode sync --from REPOSITORY');
    }
  });
});
