import { beforeEach, describe, expect, it } from 'vitest';
import type { MemoryHost } from '../../../../src/agent/host/memory/host.ts';
import { findFiles, isRealPath } from '../../../../src/agent/jobs/clean/walk.ts';
import { createProxyHost } from '../../../support/agent/component-driver.ts';

const ATTRIBUTES = { mode: '0644', owner: 'root:root' };
let host: MemoryHost;

beforeEach(() => {
  host = createProxyHost();
});

async function place(path: string): Promise<void> {
  await host.files.write(path, new Uint8Array(), ATTRIBUTES);
}

async function found(root: string): Promise<readonly string[]> {
  return (await findFiles(host.files, root)).map(({ path }) => path);
}

describe('findFiles', () => {
  it('finds files in directories, and links without what they lead to', async () => {
    await place('/var/log/a/b/c.log.1');
    await place('/srv/d.log.1');
    await host.files.link('/var/log/link', '/srv');
    expect(await found('/var/log')).toEqual(['/var/log/a/b/c.log.1', '/var/log/link']);
  });

  it('R38 finds nothing below a directory that is behind a link', async () => {
    await place('/srv/log/app.log.1');
    await host.files.link('/var/log', '/srv/log');
    await host.files.link('/logs', '/srv');
    expect(await found('/var/log')).toEqual([]);
    expect(await found('/logs/log')).toEqual([]);
    expect(await isRealPath(host.files, '/srv/log')).toBe(true);
    expect(await isRealPath(host.files, '/logs/log')).toBe(false);
  });

  it('goes eight directories deep', async () => {
    await place('/r/1/2/3/4/5/6/7/8/near');
    await place('/r/1/2/3/4/5/6/7/8/9/far');
    expect(await found('/r')).toEqual(['/r/1/2/3/4/5/6/7/8/near']);
  });
});
