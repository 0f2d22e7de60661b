import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLoopDelay } from '../../../../src/kube/process/loop-delay.ts';
import { createRenderCache, type RenderInputs } from '../../../../src/sync/render/cache.ts';
import { readResult } from '../../../../src/sync/render/result.ts';
import { runRenderTask } from '../../../../src/sync/render/worker/client.ts';
import { createFleetFolder, createTestRenderer, program } from '../../../support/fleet-repository.ts';
import { tempFolder } from '../../../support/temp.ts';
import { failureOf } from '../results.ts';

const INPUTS: RenderInputs = { tree: 'a'.repeat(40), path: '.', toolchain: 'sha256:0', facts: {} };

function tinyObjects(count: number): Buffer {
  const lines = Array.from({ length: count }, (_, index) =>
    JSON.stringify({
      object: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: `c${index}` },
        data: { a: 'b', c: 'd' },
      },
      target: `cluster-${index % 20}`,
      unit: 'web',
    }),
  );
  return Buffer.from([...lines, JSON.stringify({ end: count })].join('\n'));
}

describe('the render worker', () => {
  it('SAF-5 gives the same result as parsing it here, and holds up the event loop for a small part of that time', async () => {
    const bytes = tinyObjects(60_000);
    const cache = createRenderCache(tempFolder('cache'));
    await cache.put(INPUTS, bytes);
    const startMs = performance.now();
    const expected = readResult(bytes);
    const blockedSeconds = (performance.now() - startMs) / 1000;

    const delay = createLoopDelay(5);
    const result = await runRenderTask({ cache: { folder: cache.folder, inputs: INPUTS } });
    const { max } = delay.read();
    delay.stop();
    expect(result).toEqual(expected);
    expect(max).toBeLessThan(blockedSeconds / 2);
  });

  it('reports that the cache has no entry', async () => {
    expect(await runRenderTask({ cache: { folder: tempFolder('cache'), inputs: INPUTS } })).toBeUndefined();
  });

  it('reports an error of the machine as it is, and not as one of the commit', async () => {
    const folder = createFleetFolder({ 'main.ts': program() });
    const missing = await failureOf(createTestRenderer().folder({ folder: join(folder, 'none') }));
    expect(missing).toMatchObject({ name: 'Error', code: 'ENOENT' });
  });

  it('SAF-5 renders for a repository while two others loop until their limit', async () => {
    const renderer = createTestRenderer();
    const stop = new AbortController();
    const ended: string[] = [];
    const loops = ['one', 'two'].map((name) =>
      renderer
        .folder({ folder: createFleetFolder({ 'main.ts': program('for (;;);') }), signal: stop.signal })
        .finally(() => ended.push(name)),
    );
    const outcomes = Promise.allSettled(loops);
    await renderer
      .folder({ folder: createFleetFolder({ 'main.ts': program() }) })
      .finally(() => ended.push('good'));
    expect(ended).toEqual(['good']);
    stop.abort(new Error('enough'));
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});
