import { beforeEach, describe, expect, it } from 'vitest';
import { type ConfigDigest, createConfigDigest } from '../../../src/agent/detector/config-digest.ts';
import { createMemoryHost, type MemoryHost } from '../../../src/agent/host/memory/host.ts';
import { DETECTOR_DIRECTORY } from '../../../src/agent/layout.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const PROBE = '/opt/probes/gpu';
let host: MemoryHost;
let digested: string[];
let digest: ConfigDigest;

beforeEach(async () => {
  host = createMemoryHost({ clock: virtualClock(), artifacts: new Map() });
  digested = [];
  digest = createConfigDigest(counting(host));
  await write(PROBE, '#!/bin/sh\nexit 0\n');
  await configure('gpu.json', config(PROBE));
});

describe('the digest of what the detector runs', () => {
  it('R6 is another one after a change of a file, of a program, and of which files there are', async () => {
    const before = await digest.read();
    expect(before).toMatch(/^sha256:[0-9a-f]{64}$/);
    await write(PROBE, '#!/bin/sh\nexit 1\n');
    const broken = await digest.read();
    await configure('gpu.json', { ...config(PROBE), source: 'other' });
    const renamed = await digest.read();
    await configure('x.json', config('/opt/probes/x'));
    const more = await digest.read();
    await host.files.remove('/opt/probes/gpu');
    const missing = await digest.read();
    expect(new Set([before, broken, renamed, more, missing]).size).toBe(5);
  });

  it('R6 is the same after a roll back, and on another host with the same files', async () => {
    const before = await digest.read();
    await write(PROBE, 'broken');
    await digest.read();
    await write(PROBE, '#!/bin/sh\nexit 0\n');
    expect(await digest.read()).toBe(before);
    expect(await createConfigDigest(host).read()).toBe(before);
  });

  it('reads a program again only after it changed', async () => {
    await digest.read();
    await digest.read();
    expect(digested).toEqual([PROBE]);
    await write(PROBE, 'other');
    await digest.read();
    expect(digested).toEqual([PROBE, PROBE]);
  });

  it('is missing without files, and ignores what is in the folder beside them', async () => {
    const before = await digest.read();
    await write(`${DETECTOR_DIRECTORY}/README`, 'text');
    expect(await digest.read()).toBe(before);
    await host.files.remove(DETECTOR_DIRECTORY);
    expect(await digest.read()).toBeUndefined();
  });

  it('is that of a file which the detector refuses, and of sandboxes in different directories', async () => {
    const sandbox = (directory: string): ConfigDigest => createConfigDigest({ ...counting(host), directory });
    await configure('bad.json', 'no configuration');
    const bad = await digest.read();
    await host.files.remove(`${DETECTOR_DIRECTORY}/bad.json`);
    expect(await digest.read()).not.toBe(bad);
    await configure('gpu.json', config(`/tmp/a${PROBE}`));
    const a = await sandbox('/tmp/a').read();
    await configure('gpu.json', config(`/tmp/b${PROBE}`));
    expect(await sandbox('/tmp/b').read()).toBe(a);
  });
});

function config(path: string): object {
  return {
    plugin: 'custom',
    source: 'gpu',
    conditions: [{ type: 'GPUHealthy', reason: 'GPUIsHealthy', message: 'the GPU is healthy' }],
    rules: [{ type: 'permanent', condition: 'GPUHealthy', reason: 'GPUBroken', path }],
  };
}

async function configure(name: string, content: unknown): Promise<void> {
  await write(`${DETECTOR_DIRECTORY}/${name}`, JSON.stringify(content));
}

async function write(path: string, text: string): Promise<void> {
  await host.files.write(path, new TextEncoder().encode(text), { mode: '0755', owner: 'root:root' });
}

function counting({ files, directory }: MemoryHost): Parameters<typeof createConfigDigest>[0] {
  return {
    directory,
    files: {
      list: (path) => files.list(path),
      read: (path) => files.read(path),
      stat: (path) => files.stat(path),
      digest: async (path) => {
        digested.push(path);
        return await files.digest(path);
      },
    },
  };
}
