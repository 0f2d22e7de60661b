import { describe, expect, it, onTestFinished } from 'vitest';
import type { Pipeline } from '../../../../src/api/generated/types.ts';
import {
  type ContentReader,
  createContentReader,
} from '../../../../src/sync/hub/split-leases/content-reader.ts';
import type { Renderer } from '../../../../src/sync/render/renderer.ts';
import { createFleetRepository, type FleetRepository } from '../../../support/fleet-repository.ts';
import { testHostTokens } from '../../../support/git-host/host-tokens.ts';
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

  it('is not stopped by commits that the repository no longer has, where the hub has accepted them', async () => {
    const { reader, pipeline, commits } = bed({ released: [UNKNOWN_COMMIT] });
    const [, second = ''] = commits;
    const assigned = { cluster: 'test', commit: second, present: [UNKNOWN_COMMIT] };
    await expect(reader.read(pipeline, assigned)).resolves.toBeDefined();
  });

  it('S39 does not overwrite a commit that neither the hub nor the repository has: both were restored', async () => {
    const { reader, pipeline, commits } = bed();
    const [first = '', second = ''] = commits;
    const assigned = { cluster: 'test', commit: second, present: [UNKNOWN_COMMIT] };
    await expect(reader.read(pipeline, assigned)).rejects.toThrow(
      `runs commit ${UNKNOWN_COMMIT}, which is not in the history of the assigned commit ${second}`,
    );
    // A person has accepted a head in its place, from which the assigned commit descends.
    const source = { ...pipeline.spec.source, acceptHead: first };
    const accepting = { ...pipeline, spec: { ...pipeline.spec, source } };
    await expect(reader.read(accepting, assigned)).resolves.toBeDefined();
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

function bed({ released = [] }: { readonly released?: readonly string[] } = {}): Bed {
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
    tokens: testHostTokens(),
    renderer,
    gitFolder: tempFolder('git'),
    isReleased: (commit) => released.includes(commit),
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
