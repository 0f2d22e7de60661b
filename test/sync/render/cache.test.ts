import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRenderCache, type RenderInputs } from '../../../src/sync/render/cache.ts';
import { tempFolder } from '../../support/temp.ts';

const INPUTS: RenderInputs = { tree: 'a'.repeat(40), path: '.', toolchain: 'sha256:1', facts: {} };

describe('the render cache', () => {
  it('returns an entry for the same inputs only', async () => {
    const cache = createRenderCache(tempFolder('cache'));
    await cache.put(INPUTS, Buffer.from('bytes\n\n'));
    expect((await cache.get({ ...INPUTS, facts: {} }))?.toString()).toBe('bytes\n\n');
    for (const other of [{ tree: 'b' }, { path: 'x' }, { toolchain: 'y' }, { facts: { a: 1 } }]) {
      expect(await cache.get({ ...INPUTS, ...other })).toBeUndefined();
    }
  });

  it('ignores an entry of which one byte was changed, added or removed', async () => {
    const folder = tempFolder('cache');
    const cache = createRenderCache(folder);
    await cache.put(INPUTS, Buffer.from('{"object":1}\n{"end":1}\n'));
    const [name = ''] = readdirSync(folder);
    const good = readFileSync(join(folder, name));
    const change = fc.record({
      at: fc.nat(good.length - 1),
      how: fc.constantFrom('flip', 'cut', 'insert', 'drop'),
      byte: fc.integer({ min: 1, max: 255 }),
    });
    await fc.assert(
      fc.asyncProperty(change, async ({ at, how, byte }) => {
        const [before, after] = [good.subarray(0, at), good.subarray(at + 1)];
        const middle = { flip: [(good[at] ?? 0) ^ byte], cut: [], insert: [byte, good[at] ?? 0], drop: [] }[
          how
        ];
        const bad = Buffer.concat([before, Buffer.from(middle), how === 'cut' ? Buffer.alloc(0) : after]);
        writeFileSync(join(folder, name), bad);
        expect(await cache.get(INPUTS)).toBeUndefined();
      }),
      { numRuns: 200 },
    );
  });

  it('deletes the oldest entries beyond its size', async () => {
    const folder = tempFolder('cache');
    const cache = createRenderCache(folder, 3);
    for (let n = 0; n < 10; n += 1) await cache.put({ ...INPUTS, path: `${n}` }, Buffer.from(`${n}`));
    expect(readdirSync(folder)).toHaveLength(3);
    expect((await cache.get({ ...INPUTS, path: '9' }))?.toString()).toBe('9');
  });

  it('treats an unreadable folder as empty', async () => {
    const folder = tempFolder('cache');
    const cache = createRenderCache(folder);
    await cache.put(INPUTS, Buffer.from('x'));
    const [name = ''] = readdirSync(folder);
    const other = createRenderCache(join(folder, 'none'));
    expect(await other.get(INPUTS)).toBeUndefined();
    mkdirSync(join(folder, 'dir'));
    expect(name).toMatch(/^[0-9a-f]{64}$/);
  });
});
