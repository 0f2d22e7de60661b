import { beforeEach, describe, expect, it } from 'vitest';
import { createMemoryHost, type MemoryHost } from '../../../src/agent/host/memory/host.ts';
import { createKeptFiles, type KeptFiles } from '../../../src/agent/identity/kept-files.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const PATH = '/var/lib/kubenode/pki/agent/current.pem';
const PRIVATE = { mode: '0600', owner: 'root:root' };
let host: MemoryHost;
let kept: KeptFiles;

beforeEach(() => {
  host = createMemoryHost({ clock: virtualClock(), artifacts: new Map() });
  kept = createKeptFiles(host.files, [{ path: PATH, attributes: PRIVATE }], memoryLog());
});

async function write(text: string): Promise<void> {
  await host.files.write(PATH, new TextEncoder().encode(text), PRIVATE);
}

async function content(): Promise<string | undefined> {
  const found = await host.files.read(PATH);
  return found && new TextDecoder().decode(found);
}

describe('createKeptFiles', () => {
  it('AGT-40 writes the newest content of a file that was removed, with its mode', async () => {
    await write('first');
    expect(await kept.keep()).toEqual([]);
    await write('renewed');
    expect(await kept.keep()).toEqual([]);
    await host.files.remove(PATH);
    expect(await kept.keep()).toEqual([PATH]);
    expect(await content()).toBe('renewed');
    expect((await host.files.stat(PATH))?.mode).toBe('0600');
    expect(await kept.keep()).toEqual([]);
  });

  it('AGT-40 writes a file again that was emptied, as by a disk that is full', async () => {
    await write('x');
    await kept.keep();
    await write('');
    expect(await kept.keep()).toEqual([PATH]);
    expect(await content()).toBe('x');
  });

  it('writes nothing that it has never read', async () => {
    expect(await kept.keep()).toEqual([]);
    expect(await content()).toBeUndefined();
  });
});
