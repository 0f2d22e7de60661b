import { mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copyFiles } from '../../../../../src/controllers/hosting/drivers/etcd/copy-files.ts';
import { tempFolder } from '../../../../support/temp.ts';

const RESERVED_BYTES = 8e6;

describe('the copy of the files of an etcd', () => {
  it('has the same content, without the space that is only reserved', async () => {
    const root = tempFolder('copy');
    const [from, to] = [join(root, 'from'), join(root, 'to')];
    mkdirSync(from);
    writeFileSync(join(from, '0.wal'), Buffer.concat([Buffer.from('entries'), Buffer.alloc(RESERVED_BYTES)]));
    writeFileSync(join(from, '0.tmp'), 'not complete');
    await copyFiles(from, to, (name) => name.endsWith('.wal'));
    expect(readFileSync(join(to, '0.wal')).equals(readFileSync(join(from, '0.wal')))).toBe(true);
    expect(statSync(join(to, '0.wal')).blocks * 512).toBeLessThan(RESERVED_BYTES / 2);
    expect(statSync(join(to, '0.wal')).mode & 0o777).toBe(0o600);
    expect(() => statSync(join(to, '0.tmp'))).toThrow('ENOENT');
  });

  it('of an empty file, and of a hole at the end, has the same size', async () => {
    const root = tempFolder('copy');
    writeFileSync(join(root, 'a.wal'), '');
    writeFileSync(join(root, 'b.wal'), 'x');
    truncateSync(join(root, 'b.wal'), RESERVED_BYTES);
    await copyFiles(root, join(root, 'to'), (name) => name.endsWith('.wal'));
    expect(statSync(join(root, 'to', 'a.wal')).size).toBe(0);
    expect(statSync(join(root, 'to', 'b.wal')).size).toBe(RESERVED_BYTES);
  });
});
