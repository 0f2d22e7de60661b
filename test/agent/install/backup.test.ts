import { beforeEach, describe, expect, it } from 'vitest';
import type { MemoryHost } from '../../../src/agent/host/memory/host.ts';
import { backUp, invalidFile, restore, writeTargetFile } from '../../../src/agent/install/backup.ts';
import { createProxyHost } from '../../support/agent/component-driver.ts';
import { agentFile, target } from '../../support/agent/targets.ts';

const ATTRIBUTES = { mode: '0600', owner: 'joe:joe' };
let host: MemoryHost;

beforeEach(() => {
  host = createProxyHost();
});

function bytes(content: string): Uint8Array {
  return new TextEncoder().encode(content);
}

async function text(path: string): Promise<string | undefined> {
  const content = await host.files.read(path);
  return content && new TextDecoder().decode(content);
}

function writing(content: string, merge: 'Replace' | 'Ini' | 'Json' = 'Replace'): ReturnType<typeof target> {
  return target('1.0', { files: [agentFile('/etc/new/deep/a', content, { merge })] });
}

describe('AGT-15 a path that a component writes', () => {
  it('is removed again with the directories that were missing', async () => {
    const before = host.files.tree();
    const ours = writing('x');
    await backUp(host.files, 'proxy', '/etc/new/deep/a');
    await writeTargetFile(host.files, ours, '/etc/new/deep/a');
    expect(await text('/etc/new/deep/a')).toBe('x');
    await restore(host.files, ours, '/etc/new/deep/a');
    expect([...host.files.tree().keys()].filter((path) => !path.startsWith('/var'))).toEqual([
      ...before.keys(),
    ]);
  });

  it('leaves a directory in which others placed something', async () => {
    const ours = writing('x');
    await backUp(host.files, 'proxy', '/etc/new/deep/a');
    await writeTargetFile(host.files, ours, '/etc/new/deep/a');
    await host.files.write('/etc/new/b', bytes('theirs'), ATTRIBUTES);
    await restore(host.files, ours, '/etc/new/deep/a');
    expect(await host.files.list('/etc/new')).toEqual(['b']);
  });

  it('gets its content, mode and owner back', async () => {
    await host.files.write('/etc/new/deep/a', bytes('theirs'), ATTRIBUTES);
    const before = host.files.tree().get('/etc/new/deep/a');
    await backUp(host.files, 'proxy', '/etc/new/deep/a');
    await writeTargetFile(host.files, writing('ours'), '/etc/new/deep/a');
    await restore(host.files, writing('ours'), '/etc/new/deep/a');
    expect(host.files.tree().get('/etc/new/deep/a')).toBe(before);
  });

  it('is a link again when it was one', async () => {
    await host.files.link('/etc/new/deep/a', '/etc/other');
    await backUp(host.files, 'proxy', '/etc/new/deep/a');
    await writeTargetFile(host.files, writing('ours'), '/etc/new/deep/a');
    expect(await text('/etc/new/deep/a')).toBe('ours');
    await restore(host.files, writing('ours'), '/etc/new/deep/a');
    expect((await host.files.stat('/etc/new/deep/a'))?.target).toBe('/etc/other');
  });

  it('is refused when it cannot be put back, before anything is changed', async () => {
    await host.files.makeDirectory('/etc/new/deep/a');
    await expect(backUp(host.files, 'proxy', '/etc/new/deep/a')).rejects.toMatchObject({
      code: 'NotSupported',
      message: '/etc/new/deep/a is a directory: only a file can be replaced',
    });
    expect(await host.files.list('/var/lib/kubenode/backup/proxy')).toEqual([]);
  });

  it('keeps what others changed in a merged file since', async () => {
    await host.files.write('/etc/new/deep/a', bytes('a=0\n'), ATTRIBUTES);
    const ours = writing('a=1\n', 'Ini');
    await backUp(host.files, 'proxy', '/etc/new/deep/a');
    await writeTargetFile(host.files, ours, '/etc/new/deep/a');
    await host.files.write('/etc/new/deep/a', bytes('a=1\nb=2\n'), ATTRIBUTES);
    await restore(host.files, ours, '/etc/new/deep/a');
    expect(await text('/etc/new/deep/a')).toBe('a=0\nb=2\n');
  });

  it('AGT-30 keeps what a person wrote when it is not valid JSON', async () => {
    const ours = writing('{"a":1}', 'Json');
    await host.files.write('/etc/new/deep/a', bytes('{"theirs": 2,}'), ATTRIBUTES);
    await writeTargetFile(host.files, ours, '/etc/new/deep/a');
    expect(await text('/etc/new/deep/a')).toBe('{\n  "a": 1\n}\n');
    expect(await text(invalidFile('proxy', '/etc/new/deep/a'))).toBe('{"theirs": 2,}');
    await writeTargetFile(host.files, ours, '/etc/new/deep/a');
    expect(await text(invalidFile('proxy', '/etc/new/deep/a'))).toBe('{"theirs": 2,}');
  });

  it('AGT-30 keeps what others wrote behind a link, and refuses to merge into a file of any size', async () => {
    await host.files.write('/etc/other', bytes('b=2\n'), ATTRIBUTES);
    await host.files.link('/etc/new/deep/a', '/etc/other');
    const ours = writing('a=1\n', 'Ini');
    await backUp(host.files, 'proxy', '/etc/new/deep/a');
    await writeTargetFile(host.files, ours, '/etc/new/deep/a');
    expect(await text('/etc/new/deep/a')).toBe('b=2\na=1\n');
    await restore(host.files, ours, '/etc/new/deep/a');
    expect((await host.files.stat('/etc/new/deep/a'))?.target).toBe('/etc/other');
    await host.files.write('/etc/new/deep/a', new Uint8Array(5 * 1024 ** 2), ATTRIBUTES);
    await expect(writeTargetFile(host.files, ours, '/etc/new/deep/a')).rejects.toMatchObject({
      code: 'TooLarge',
    });
    await writeTargetFile(host.files, writing('x'), '/etc/new/deep/a');
    expect(await text('/etc/new/deep/a')).toBe('x');
  });

  it('stays, empty, when a merged file has nothing left and was there before', async () => {
    await host.files.write('/etc/new/deep/a', bytes(''), ATTRIBUTES);
    const ours = writing('a=1\n', 'Ini');
    await backUp(host.files, 'proxy', '/etc/new/deep/a');
    await writeTargetFile(host.files, ours, '/etc/new/deep/a');
    await restore(host.files, ours, '/etc/new/deep/a');
    expect((await host.files.stat('/etc/new/deep/a'))?.type).toBe('File');
    expect(await text('/etc/new/deep/a')).toBe('');
  });

  it('stays empty when others removed what was there before', async () => {
    await host.files.write('/etc/new/deep/a', bytes('b=2\n'), ATTRIBUTES);
    const ours = writing('a=1\n', 'Ini');
    await backUp(host.files, 'proxy', '/etc/new/deep/a');
    await writeTargetFile(host.files, ours, '/etc/new/deep/a');
    await host.files.write('/etc/new/deep/a', bytes('a=1\n'), ATTRIBUTES);
    await restore(host.files, ours, '/etc/new/deep/a');
    expect(await text('/etc/new/deep/a')).toBe('');
  });

  it('stays with what others wrote since into a merged file that did not exist', async () => {
    const ours = writing('a=1\n', 'Ini');
    await backUp(host.files, 'proxy', '/etc/new/deep/a');
    await writeTargetFile(host.files, ours, '/etc/new/deep/a');
    await host.files.write('/etc/new/deep/a', bytes('a=1\nb=2\n'), ATTRIBUTES);
    await restore(host.files, ours, '/etc/new/deep/a');
    expect(await text('/etc/new/deep/a')).toBe('b=2\n');
  });

  it('disappears when a merged file has nothing left and did not exist', async () => {
    const ours = writing('a=1\n', 'Ini');
    await backUp(host.files, 'proxy', '/etc/new/deep/a');
    await writeTargetFile(host.files, ours, '/etc/new/deep/a');
    await restore(host.files, ours, '/etc/new/deep/a');
    expect(await host.files.stat('/etc/new')).toBeUndefined();
  });

  it('is restored once: a second restore changes nothing', async () => {
    const ours = writing('x');
    await backUp(host.files, 'proxy', '/etc/new/deep/a');
    await restore(host.files, ours, '/etc/new/deep/a');
    await host.files.write('/etc/new/deep/a', bytes('later'), ATTRIBUTES);
    await restore(host.files, ours, '/etc/new/deep/a');
    expect(await text('/etc/new/deep/a')).toBe('later');
  });
});
