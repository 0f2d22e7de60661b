import { createSecretKey, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { openBytes, sealBytes } from '../../../../src/sync/hub/revisions/sealed-file.ts';

const KEY = createSecretKey(Buffer.alloc(32, 1));
const CONTENT = Buffer.from('canary '.repeat(100));

async function sealed(): Promise<Buffer> {
  return sealBytes(KEY, 'hub/prod/index', CONTENT, randomBytes);
}

describe('sealBytes', () => {
  it('S24 opens what was sealed with the same key and name', async () => {
    expect(await openBytes(KEY, 'hub/prod/index', await sealed())).toEqual(CONTENT);
  });

  it('S24 hides the content, and never gives the same bytes twice', async () => {
    const [one, two] = [await sealed(), await sealed()];
    expect(one.includes('canary')).toBe(false);
    expect(one.equals(two)).toBe(false);
  });

  it('S24 does not open under another name or with another key', async () => {
    const file = await sealed();
    expect(await openBytes(KEY, 'hub/test/index', file)).toBeUndefined();
    const other = createSecretKey(Buffer.alloc(32, 2));
    expect(await openBytes(other, 'hub/prod/index', file)).toBeUndefined();
  });

  it('S24 does not open when any byte was changed, or the end is missing', async () => {
    const file = await sealed();
    for (let at = 0; at < file.length; at += 1) {
      const changed = Buffer.from(file);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(await openBytes(KEY, 'hub/prod/index', changed)).toBeUndefined();
      expect(await openBytes(KEY, 'hub/prod/index', file.subarray(0, at))).toBeUndefined();
    }
  });
});
