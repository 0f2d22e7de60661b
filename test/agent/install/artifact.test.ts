import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { RetryLater } from '../../../src/agent/host/errors.ts';
import { createMemoryHost, type MemoryHost } from '../../../src/agent/host/memory/host.ts';
import {
  downloadArtifact,
  findArtifact,
  unpackArtifact,
  verifyArtifact,
} from '../../../src/agent/install/artifact.ts';
import type { Target } from '../../../src/agent/target/target.ts';
import { OsError } from '../../../src/os/errors.ts';
import { target } from '../../support/agent/targets.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const CONTENT = new TextEncoder().encode('program');
const SHA = createHash('sha256').update(CONTENT).digest('hex');
const URL = 'https://x/program';

type Artifact = NonNullable<Target['artifact']>;

function artifact(fields: Partial<Artifact> = {}): Artifact {
  return { url: URL, mirrors: [], sha256: SHA, format: 'Raw', install: [], ...fields };
}

function host(
  urls: Readonly<Record<string, Uint8Array>> = { [URL]: CONTENT },
  capacityBytes?: number,
): MemoryHost {
  return createMemoryHost({
    clock: virtualClock(),
    artifacts: new Map(Object.entries(urls)),
    ...(capacityBytes !== undefined && { capacityBytes }),
  });
}

async function outsideCache({ files }: MemoryHost): Promise<readonly string[]> {
  return [...files.tree().keys()].filter((path) => !path.startsWith('/var'));
}

describe('AGT-10 verifies an artifact before anything uses it', () => {
  it('is verified before it gets its name in the cache', async () => {
    const { files, network } = host();
    await downloadArtifact(files, network, artifact());
    expect(await findArtifact(files, SHA)).toBe('Downloaded');
    await verifyArtifact(files, artifact());
    expect(await findArtifact(files, SHA)).toBe('Complete');
  });

  it('is not taken for downloaded when the agent ended in the middle of it', async () => {
    const { files, network } = host();
    const killed = {
      ...network,
      async download(_url: string, to: string) {
        await files.write(to, CONTENT.slice(0, 3), { mode: '0600', owner: 'root:root' });
        throw new Error('killed');
      },
    };
    await expect(downloadArtifact(files, killed, artifact())).rejects.toThrow('killed');
    expect(await findArtifact(files, SHA)).toBeUndefined();
    await downloadArtifact(files, network, artifact());
    await verifyArtifact(files, artifact());
    expect(await files.list('/var/lib/kubenode/cache')).toEqual([SHA]);
  });

  it('comes from a mirror when the first URL fails', async () => {
    const { files, network } = host({ 'https://mirror/program': CONTENT });
    await downloadArtifact(files, network, artifact({ mirrors: ['https://mirror/program'] }));
    expect(await findArtifact(files, SHA)).toBe('Downloaded');
  });

  it('AGT-10 comes from the next URL when a mirror serves something else', async () => {
    const page = new TextEncoder().encode('<html>log in</html>');
    const other = createHash('sha256').update(page).digest('hex');
    const mirror = `https://mirror/${SHA}`;
    const settings = { mirrors: ['https://mirror'] };
    const { files, network } = host({ [URL]: CONTENT, [mirror]: page });
    await downloadArtifact(files, network, artifact(), { settings });
    await verifyArtifact(files, artifact());
    expect(await files.list('/var/lib/kubenode/cache')).toEqual([SHA]);

    const without = host({ [mirror]: page });
    const failing = downloadArtifact(without.files, without.network, artifact(), { settings });
    await expect(failing).rejects.toMatchObject({
      code: 'Download',
      message: `the artifact could not be downloaded: ${mirror} serves sha256 ${other}, expected ${SHA}; ${URL} answered 404`,
    });
    expect(await without.files.list('/var/lib/kubenode/cache')).toEqual([]);
  });

  it('names every URL that failed', async () => {
    const { files, network } = host({});
    await expect(
      downloadArtifact(files, network, artifact({ mirrors: ['https://mirror/program'] })),
    ).rejects.toThrow(
      'the artifact could not be downloaded: https://x/program answered 404; https://mirror/program answered 404',
    );
  });

  it('keeps no part of an artifact when the disk is full, and does not blame the URL', async () => {
    const { files, network } = host();
    const full: MemoryHost['network'] = {
      ...network,
      async download(_url, part) {
        await files.write(part, CONTENT.slice(0, 3), { mode: '0600', owner: 'root:root' });
        throw new OsError('DiskFull', 'the disk is full');
      },
    };
    await expect(downloadArtifact(files, full, artifact())).rejects.toMatchObject({ code: 'DiskFull' });
    expect(await findArtifact(files, SHA)).toBeUndefined();
  });

  it('comes from the mirrors of the host first, by its digest', async () => {
    const { files, network } = host({});
    const asked: [string, number | undefined][] = [];
    const denied: MemoryHost['network'] = {
      ...network,
      async download(url, _to, { bytesPerSecond }) {
        asked.push([url, bytesPerSecond]);
        throw new OsError('Download', '404');
      },
    };
    const settings = { mirrors: ['http://a/b', 'oci://registry.lan/b'] };
    const loading = downloadArtifact(files, denied, artifact(), { settings, bytesPerSecond: 5 });
    await expect(loading).rejects.toThrow('404; 404; 404');
    expect(asked).toEqual([
      [`http://a/b/${SHA}`, 5],
      ['oci://registry.lan/b', 5],
      [URL, 5],
    ]);
  });

  it('may be loaded later when each server that asked to wait has had its time', async () => {
    const { files, network } = host({});
    const waits = [5000, undefined, 7000];
    const busy: MemoryHost['network'] = {
      ...network,
      async download() {
        throw new RetryLater('busy', { retryAfterMs: waits.shift() });
      },
    };
    const urls = artifact({ mirrors: ['https://a/b', 'https://a/c'] });
    await expect(downloadArtifact(files, busy, urls)).rejects.toMatchObject({
      name: 'HostError',
      retryAfterMs: 7000,
    });
  });

  it.each([
    [
      'other content',
      { [URL]: new TextEncoder().encode('pr0gram') },
      {},
      /the artifact has sha256 [0-9a-f]{64}, expected/,
    ],
    ['truncated content', { [URL]: CONTENT.slice(0, 3) }, { sizeBytes: 7 }, /and 3 bytes instead of 7/],
  ])('with %s is removed, and nothing outside of the cache changes', async (_name, urls, fields, message) => {
    const machine = host(urls);
    const before = await outsideCache(machine);
    await downloadArtifact(machine.files, machine.network, artifact(fields));
    await expect(verifyArtifact(machine.files, artifact(fields))).rejects.toThrow(message);
    expect(await findArtifact(machine.files, SHA)).toBeUndefined();
    expect(await outsideCache(machine)).toEqual(before);
  });

  it('larger than declared is refused while it is downloaded', async () => {
    const { files, network } = host();
    await expect(downloadArtifact(files, network, artifact({ sizeBytes: 3 }))).rejects.toThrow(
      'is larger than 3 bytes',
    );
  });

  it('needs space before it is downloaded', async () => {
    const { files, network } = host({ [URL]: CONTENT }, 10);
    await expect(downloadArtifact(files, network, artifact({ sizeBytes: 7 }))).rejects.toThrow(
      'the disk is full: 14 bytes are needed, 10 are free',
    );
  });

  it('AGT-13 that changed in the cache is found when it is used', async () => {
    const { files, network } = host();
    await downloadArtifact(files, network, artifact());
    await verifyArtifact(files, artifact());
    await files.write(`/var/lib/kubenode/cache/${SHA}`, new TextEncoder().encode('bitflip'), {
      mode: '0600',
      owner: 'root:root',
    });
    await expect(verifyArtifact(files, artifact())).rejects.toThrow('the artifact has sha256');
    expect(await findArtifact(files, SHA)).toBeUndefined();
  });

  it('without a file that a link needs is refused, and leaves no version directory', async () => {
    const machine = host();
    const { files, network } = machine;
    const incomplete = target('1.0', {
      artifact: artifact({ install: [{ from: 'bin/missing', to: '/usr/bin/x', mode: '755' }] }),
    });
    await downloadArtifact(files, network, artifact());
    await verifyArtifact(files, artifact());
    await expect(unpackArtifact(machine, incomplete)).rejects.toThrow(
      'the artifact of proxy-1.0 does not contain bin/missing',
    );
    expect(await files.stat(incomplete.directory)).toBeUndefined();
  });
});
