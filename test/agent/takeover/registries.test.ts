import { beforeEach, describe, expect, it } from 'vitest';
import type { MemoryHost } from '../../../src/agent/host/memory/host.ts';
import { REGISTRIES_FILE } from '../../../src/agent/layout.ts';
import {
  type ImportRecord,
  readImportRecord,
  writeImportRecord,
} from '../../../src/agent/takeover/record.ts';
import { removeRegistries, storeRegistries } from '../../../src/agent/takeover/registries.ts';
import { createProxyHost } from '../../support/agent/component-driver.ts';
import { AgentKilled, crashAt } from '../../support/agent/crashing-host.ts';

const RECORD: ImportRecord = {
  machine: 'n1',
  at: '2030-01-01T00:00:00Z',
  version: '1.0',
  created: [],
  keepsProgram: false,
};
const FIRST = '{"auths": {"r.example.com": {"auth": "b25l"}}}';
const SECOND = '{"auths": {"r.example.com": {"auth": "dHdv"}}}';
let host: MemoryHost;

beforeEach(async () => {
  host = await importedHost();
});

async function importedHost(): Promise<MemoryHost> {
  const made = createProxyHost();
  await writeImportRecord(made.files, RECORD);
  return made;
}

async function text(): Promise<string | undefined> {
  const content = await host.files.read(REGISTRIES_FILE);
  return content && new TextDecoder().decode(content);
}

async function writeTheirs(content: string): Promise<void> {
  const attributes = { mode: '0600', owner: 'root:root' };
  await host.files.write(REGISTRIES_FILE, new TextEncoder().encode(content), attributes);
}

describe('storeRegistries', () => {
  it('writes the file for root only, and replaces what it wrote', async () => {
    await storeRegistries(host.files, FIRST);
    expect(await text()).toBe(FIRST);
    expect(await host.files.stat(REGISTRIES_FILE)).toMatchObject({ mode: '0600', owner: 'root:root' });
    await storeRegistries(host.files, SECOND);
    expect(await text()).toBe(SECOND);
  });

  it('removes what it wrote when there are no credentials any more', async () => {
    await storeRegistries(host.files, FIRST);
    await storeRegistries(host.files, undefined);
    expect(await text()).toBeUndefined();
  });

  it('MAC-20 changes no file of the host, and names it without a value', async () => {
    await writeTheirs('theirs');
    await storeRegistries(host.files, undefined);
    const error: unknown = await storeRegistries(host.files, FIRST).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'FileInUse' });
    expect(String(error)).not.toContain('b25l');
    expect(await text()).toBe('theirs');
  });

  it('writes nothing on a host that was not imported: no release would remove it', async () => {
    host = createProxyHost();
    await expect(storeRegistries(host.files, FIRST)).rejects.toThrow('this host has no record of an import');
    expect(await text()).toBeUndefined();
  });

  it('takes a file with the same content for right, and leaves it', async () => {
    await writeTheirs(FIRST);
    await storeRegistries(host.files, FIRST);
    expect((await readImportRecord(host.files))?.registries).toBeUndefined();
  });

  it('MAC-10 can be repeated when it was killed at any call, and is released then', async () => {
    await storeRegistries(host.files, FIRST);
    const { host: whole, calls } = crashAt(host);
    await storeRegistries(whole.files, SECOND);
    expect(calls).toHaveLength(2);
    for (const call of calls.keys()) {
      for (const when of ['before', 'after'] as const) {
        host = await importedHost();
        await storeRegistries(host.files, FIRST);
        const killed = storeRegistries(crashAt(host, { call: call + 1, when }).host.files, SECOND);
        await expect(killed).rejects.toThrow(AgentKilled);
        expect(await removeRegistries(host.files, await readImportRecord(host.files))).toEqual([]);
        expect(await text()).toBeUndefined();
        await storeRegistries(host.files, SECOND);
        expect(await text()).toBe(SECOND);
      }
    }
  });
});

describe('removeRegistries', () => {
  it('leaves and names a file that was changed after the import', async () => {
    await storeRegistries(host.files, FIRST);
    await writeTheirs('changed');
    const record = await readImportRecord(host.files);
    expect(await removeRegistries(host.files, record)).toEqual([
      `${REGISTRIES_FILE}: it was changed after the import`,
    ]);
    expect(await text()).toBe('changed');
  });

  it('leaves a file of the host', async () => {
    await writeTheirs('theirs');
    expect(await removeRegistries(host.files, RECORD)).toEqual([]);
    expect(await removeRegistries(host.files, undefined)).toEqual([]);
    expect(await text()).toBe('theirs');
  });
});
