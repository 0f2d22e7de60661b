import { describe, expect, it, onTestFinished } from 'vitest';
import type { Pipeline } from '../../../../src/api/generated/types.ts';
import {
  type ContentReader,
  createContentReader,
} from '../../../../src/sync/hub/split-leases/content-reader.ts';
import type { Renderer } from '../../../../src/sync/render/renderer.ts';
import { createFleetRepository, type FleetRepository } from '../../../support/fleet-repository.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { secretStore } from '../../../support/secret-store.ts';
import { tempFolder } from '../../../support/temp.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const UNKNOWN_COMMIT = 'f'.repeat(40);

describe('createContentReader', () => {
  it('renders an assigned commit without polling the repository', async () => {
    const { reader, pipeline, commits } = bed();
    const [first = ''] = commits;
    const content = await reader.read(pipeline, { cluster: 'test', commit: first, present: [] });
    expect(content).toMatchObject({ target: 'test', digest: `content of ${first}` });
  });

  it('S39 does not take a cluster back when the hub was restored from before its commit', async () => {
    const { reader, pipeline, commits } = bed();
    const [first = '', second = ''] = commits;
    const assigned = { cluster: 'test', commit: first, present: [first, second] };
    await expect(reader.read(pipeline, assigned)).rejects.toThrow(
      `runs commit ${second}, which is newer than the assigned commit ${first}`,
    );
    // Promotion has adopted the newer one.
    await expect(reader.read(pipeline, { ...assigned, commit: second })).resolves.toBeDefined();
  });

  it('takes a cluster back to a commit that a person has accepted', async () => {
    const { reader, pipeline, commits } = bed();
    const [first = '', second = ''] = commits;
    const source = { ...pipeline.spec.source, acceptHead: first };
    const accepting = { ...pipeline, spec: { ...pipeline.spec, source } };
    const assigned = { cluster: 'test', commit: first, present: [second] };
    await expect(reader.read(accepting, assigned)).resolves.toBeDefined();
  });

  it('is not stopped by commits that the repository no longer has', async () => {
    const { reader, pipeline, commits } = bed();
    const [, second = ''] = commits;
    const assigned = { cluster: 'test', commit: second, present: [UNKNOWN_COMMIT] };
    await expect(reader.read(pipeline, assigned)).resolves.toBeDefined();
  });

  it('opens the repository again when the Pipeline names another one', async () => {
    const { reader, pipeline, commits } = bed();
    const [first = ''] = commits;
    await reader.read(pipeline, { cluster: 'test', commit: first, present: [] });
    const other = bed();
    const [theirs = ''] = other.commits;
    await expect(
      reader.read(other.pipeline, { cluster: 'test', commit: theirs, present: [] }),
    ).resolves.toMatchObject({ digest: `content of ${theirs}` });
  });
});

interface Bed {
  readonly reader: ContentReader;
  readonly pipeline: Pipeline;
  /** Two commits, oldest first. */
  readonly commits: readonly string[];
}

let repositories = 0;

function bed(): Bed {
  const repository: FleetRepository = createFleetRepository();
  repositories += 1;
  const version = `repository ${repositories}`;
  const commits = ['1', '2'].map((number) =>
    repository.commit(number, { 'file.txt': `${version} ${number}` }),
  );
  const renderer = {
    commit: async ({ commit }: { commit: string }) => ({
      rendered: { commit, targets: [{ target: 'test', units: [], digest: `content of ${commit}` }] },
      warnings: [],
    }),
  } as unknown as Renderer;
  const reader = createContentReader({
    secrets: secretStore(),
    renderer,
    gitFolder: tempFolder('git'),
    clock: virtualClock(),
    log: memoryLog(),
  });
  onTestFinished(() => reader.close());
  const source = {
    repository: `file://${repository.bare}`,
    ref: 'refs/heads/main',
    path: '.',
    pollSeconds: 5,
  };
  const pipeline = { metadata: { name: 'fleet' }, spec: { source } } as unknown as Pipeline;
  return { reader, pipeline, commits };
}
