import { beforeEach, describe, expect, it } from 'vitest';
import type { MemoryHost } from '../../../src/agent/host/memory/host.ts';
import { targetFile } from '../../../src/agent/layout.ts';
import { createTargetReader, storeTarget, type TargetReader } from '../../../src/agent/target/store.ts';
import { createProxyHost } from '../../support/agent/component-driver.ts';
import { target } from '../../support/agent/targets.ts';

const TARGET = target('1.0');
const FILE = targetFile(TARGET.id);

let host: MemoryHost;
let reads: number;
let read: TargetReader;

beforeEach(() => {
  host = createProxyHost();
  reads = 0;
  const original = host.files.read.bind(host.files);
  host.files.read = async (path) => {
    reads += 1;
    return await original(path);
  };
  read = createTargetReader(host.files);
});

describe('the targets on the host', () => {
  it('are read once, and again after the file changed', async () => {
    await storeTarget(host.files, TARGET);
    expect([await read(TARGET.id), await read(TARGET.id)]).toEqual([TARGET, TARGET]);
    expect(reads).toBe(1);
    await write('damaged');
    expect([await read(TARGET.id), await read(TARGET.id)]).toEqual([undefined, undefined]);
    expect(reads).toBe(2);
    await storeTarget(host.files, TARGET);
    expect(await read(TARGET.id)).toEqual(TARGET);
  });

  it('are missing until they are stored, and after they were removed', async () => {
    expect(await read(TARGET.id)).toBeUndefined();
    await storeTarget(host.files, TARGET);
    expect(await read(TARGET.id)).toEqual(TARGET);
    await host.files.remove(FILE);
    expect(await read(TARGET.id)).toBeUndefined();
  });

  it('are those of their id only', async () => {
    await write(JSON.stringify(target('1.1')));
    expect(await read(TARGET.id)).toBeUndefined();
  });

  it('are read each time behind a link, whose file may change', async () => {
    await storeTarget(host.files, TARGET);
    await host.files.rename(FILE, '/elsewhere');
    await host.files.link(FILE, '/elsewhere');
    expect([await read(TARGET.id), await read(TARGET.id)]).toEqual([TARGET, TARGET]);
    expect(reads).toBe(2);
  });
});

async function write(content: string): Promise<void> {
  await host.files.write(FILE, new TextEncoder().encode(content), { mode: '0600', owner: 'root:root' });
}
