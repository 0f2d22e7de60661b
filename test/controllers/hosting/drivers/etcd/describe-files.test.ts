import { mkdirSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeFiles } from '../../../../../src/controllers/hosting/drivers/etcd/describe-files.ts';
import { tempFolder } from '../../../../support/temp.ts';

function data(): string {
  const folder = tempFolder('files');
  mkdirSync(join(folder, 'member', 'snap'), { recursive: true });
  writeFileSync(join(folder, 'member', 'snap', 'db'), 'x'.repeat(8192));
  return folder;
}

async function digest(folder: string): Promise<string> {
  return (await describeFiles(folder)).sha256;
}

describe('the description of a snapshot', () => {
  it('HOS-32 does not depend on where the files are, and finds every change of them', async () => {
    const [first, second] = [data(), data()];
    const before = await digest(first);
    expect(await digest(second)).toBe(before);
    const db = join(second, 'member', 'snap', 'db');
    truncateSync(db, 8191);
    expect(await digest(second)).not.toBe(before);
    writeFileSync(db, `${'x'.repeat(8191)}y`);
    expect(await digest(second)).not.toBe(before);
    writeFileSync(db, 'x'.repeat(8192));
    writeFileSync(join(second, 'more'), '');
    expect(await digest(second)).not.toBe(before);
    renameSync(join(first, 'member'), join(first, 'other'));
    expect(await digest(first)).not.toBe(before);
  });

  it('HOS-32 has the space on the disk, and not what a log only reserves', async () => {
    const folder = data();
    writeFileSync(join(folder, 'wal'), '');
    truncateSync(join(folder, 'wal'), 64e6);
    const { bytes } = await describeFiles(folder);
    expect(bytes).toBeGreaterThanOrEqual(8192);
    expect(bytes).toBeLessThan(1e6);
  });
});
