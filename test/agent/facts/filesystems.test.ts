import { describe, expect, it } from 'vitest';
import { findFilesystem, inodesUsedPercent, usedPercent } from '../../../src/agent/facts/filesystems.ts';
import { DEFAULT_JOBS_CONFIG } from '../../../src/agent/jobs/config.ts';
import { createProxyHost } from '../../support/agent/component-driver.ts';

describe('file systems', () => {
  it.each([
    ['nothing', 0, 100, 0],
    ['half', 50, 50, 50],
    ['a fraction, which counts as a whole percent', 1, 999, 1],
    ['all', 100, 0, 100],
    ['what has no size', 0, 0, 0],
    ['a host in memory', 7, Number.POSITIVE_INFINITY, 0],
  ])('knows how full they are: %s', (_, usedBytes, freeBytes, expected) => {
    expect(usedPercent({ usedBytes, freeBytes })).toBe(expected);
  });

  it('knows no percentage of inodes on a file system without a fixed number of them', () => {
    expect(inodesUsedPercent({ usedInodes: 0, freeInodes: 0 })).toBeUndefined();
    expect(inodesUsedPercent({ usedInodes: 30, freeInodes: 70 })).toBe(30);
  });

  it('are found by the first directory that exists', async () => {
    const { files } = createProxyHost();
    const { filesystems } = DEFAULT_JOBS_CONFIG;
    expect(await findFilesystem(files, filesystems, 'imagefs')).toBeUndefined();
    await files.makeDirectory('/var/lib/containers/storage');
    expect(await findFilesystem(files, filesystems, 'imagefs')).toMatchObject({ usedBytes: 0 });
    expect(await findFilesystem(files, filesystems, 'nodefs')).toBeUndefined();
    expect(await findFilesystem(files, filesystems, '/data')).toBeUndefined();
  });
});
