import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { downloadTo } from '../../../../src/agent/host/download/download.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { eventually } from '../../../support/eventually.ts';
import { BASIC, noRegistryReason, pushArtifact, startRegistry } from '../../../support/registry.ts';
import { tempFolder } from '../../../support/temp.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const MACHINE = { clock: virtualClock(), registriesFile: '/none' };
const LIMITS = { maxBytes: 1000, timeoutMs: 60_000 };
const CONTENT = 'the whole content';

it('blames the disk and not the URL when the disk is full', async () => {
  const source = join(tempFolder('download'), 'program');
  writeFileSync(source, 'program');
  const url = pathToFileURL(source).href;
  await expect(downloadTo(url, '/dev/full', LIMITS, MACHINE)).rejects.toMatchObject({
    code: 'DiskFull',
    message: 'the disk is full: /dev/full could not be written',
  });
  const missing = downloadTo(`${url}-2`, join(tempFolder('download'), 'to'), LIMITS, MACHINE);
  await expect(missing).rejects.toMatchObject({
    code: 'Download',
    message: expect.stringContaining('ENOENT') as string,
  });
});

describe('the time limit of a download', () => {
  // A share of the bandwidth gives such times: 4 GiB at 112,500 bytes per second, and at 1,800.
  it.each([38_177_487.644, 2_386_092_942.222])('of %d ms does not end it early', async (timeoutMs) => {
    const to = join(tempFolder('download'), 'to');
    const url = await serve((_, response) => {
      response.write('the whole ');
      void eventually(async () => sizeOf(to) === 10 || undefined, 'nothing arrived').then(() =>
        response.end('content'),
      );
    });
    await downloadTo(url, to, { ...LIMITS, timeoutMs }, MACHINE);
    expect(readFileSync(to, 'utf8')).toBe(CONTENT);
  });
});

describe('an interrupted download', () => {
  let to: string;
  let ranges: (string | undefined)[];
  let content: string;
  let cutAt: number | undefined;
  let url: string;

  /** A server of files with ETags and ranges. It breaks the connection after `cutAt` bytes. */
  function answer({ headers }: IncomingMessage, response: ServerResponse): void {
    ranges.push(headers.range);
    const etag = `"${createHash('sha256').update(content).digest('hex')}"`;
    const from = headers['if-range'] === etag ? Number(/\d+/.exec(headers.range ?? '')?.[0] ?? 0) : 0;
    const body = Buffer.from(content).subarray(from);
    const range = `bytes ${from}-${content.length - 1}/${content.length}`;
    response.writeHead(from > 0 ? 206 : 200, {
      etag,
      'content-length': body.length,
      ...(from > 0 && { 'content-range': range }),
    });
    if (cutAt === undefined) return void response.end(body);
    const bytes = cutAt;
    response.write(body.subarray(0, bytes));
    // What the client has not read when the connection breaks is lost.
    const arrived = async (): Promise<true | undefined> => (sizeOf(to) === bytes ? true : undefined);
    void eventually(arrived, 'nothing arrived').then(() => response.destroy());
  }

  beforeEach(async () => {
    to = join(tempFolder('download'), 'to');
    [ranges, content, cutAt] = [[], CONTENT, 4];
    url = await serve(answer);
    await downloadTo(url, to, LIMITS, MACHINE).catch(() => undefined);
    cutAt = undefined;
  });

  it('is continued by the next one, and leaves nothing but the file', async () => {
    expect([sizeOf(to), existsSync(`${to}.source`)]).toEqual([4, true]);
    await downloadTo(url, to, LIMITS, MACHINE);
    expect(readFileSync(to, 'utf8')).toBe(CONTENT);
    expect(ranges).toEqual([undefined, 'bytes=4-']);
    expect(existsSync(`${to}.source`)).toBe(false);
  });

  it('begins again when the content changed', async () => {
    content = 'other content';
    await downloadTo(url, to, LIMITS, MACHINE);
    expect(readFileSync(to, 'utf8')).toBe('other content');
  });

  it('begins again at another URL', async () => {
    await downloadTo(`${url}mirror`, to, LIMITS, MACHINE);
    expect(readFileSync(to, 'utf8')).toBe(CONTENT);
    expect(ranges).toEqual([undefined, undefined]);
  });

  it('begins again when nothing of it is missing', async () => {
    writeFileSync(to, CONTENT);
    const full = await serve((request, response) => {
      if (request.headers.range === undefined) response.end(CONTENT);
      else response.writeHead(416).end();
    });
    writeFileSync(`${to}.source`, JSON.stringify({ url: full, etag: '"a"' }));
    await downloadTo(full, to, LIMITS, MACHINE);
    expect(readFileSync(to, 'utf8')).toBe(CONTENT);
  });

  it('begins again when the server sends the rest of another file', async () => {
    const mixed = await serve((request, response) => {
      if (request.headers.range === undefined) response.end(CONTENT);
      else response.writeHead(206, { etag: '"b"', 'content-range': 'bytes 4-9/10' }).end('badbad');
    });
    writeFileSync(`${to}.source`, JSON.stringify({ url: mixed, etag: '"a"' }));
    await downloadTo(mixed, to, LIMITS, MACHINE);
    expect(readFileSync(to, 'utf8')).toBe(CONTENT);
  });

  it('is not kept when it is larger than the limit', async () => {
    await expect(downloadTo(url, to, { ...LIMITS, maxBytes: 10 }, MACHINE)).rejects.toMatchObject({
      code: 'TooLarge',
    });
    expect([existsSync(to), existsSync(`${to}.source`)]).toEqual([false, false]);
  });
});

describe('AGT-02 a server that is busy', () => {
  it.each([
    [429, '7', 7000],
    [503, '120', 120_000],
    [503, undefined, undefined],
  ])(
    'answers %i with Retry-After %s: the download may be tried later',
    async (status, header, retryAfterMs) => {
      const url = await serve((_, response) => {
        response.writeHead(status, header === undefined ? {} : { 'retry-after': header }).end();
      });
      await expect(downloadTo(url, join(tempFolder(), 'to'), LIMITS, MACHINE)).rejects.toMatchObject({
        code: 'Download',
        retryAfterMs,
      });
    },
  );

  it('is not asked again for what it does not have', async () => {
    const url = await serve((_, response) => void response.writeHead(404, { 'retry-after': '7' }).end());
    const downloading = downloadTo(url, join(tempFolder(), 'to'), LIMITS, MACHINE);
    await expect(downloading).rejects.not.toHaveProperty('retryAfterMs');
  });
});

it('AGT-03 takes no more than its rate from a server', async () => {
  const bytesPerSecond = 1_000_000;
  const clock = createSystemClock();
  const body = Buffer.alloc(600_000);
  const url = await serve((_, response) => void response.end(body));
  const startedMs = clock.monotonicMs();
  const limits = { ...LIMITS, maxBytes: body.length, bytesPerSecond };
  await downloadTo(url, join(tempFolder(), 'to'), limits, { ...MACHINE, clock });
  expect(clock.monotonicMs() - startedMs).toBeGreaterThanOrEqual(599);
});

describe.skipIf(noRegistryReason)(`a registry${noRegistryReason ? ` (${noRegistryReason})` : ''}`, () => {
  it('gives a layer by its digest, with credentials of the host', async () => {
    const registry = await startRegistry('Bearer');
    const pushed = await pushArtifact(registry, 'tools/web', [Buffer.from(CONTENT)]);
    const [sha256 = ''] = pushed.layers;
    const folder = tempFolder('registry-host');
    const registriesFile = join(folder, 'registries.json');
    const auths = { [registry.name]: { auth: BASIC } };
    writeFileSync(registriesFile, JSON.stringify({ auths }), { mode: 0o600 });
    const machine = { clock: createSystemClock(), registriesFile };
    const to = join(folder, 'to');
    for (const url of ['', ':1.0', `@${pushed.digest}`].map(
      (end) => `oci://${registry.name}/tools/web${end}`,
    )) {
      await downloadTo(url, to, { ...LIMITS, sha256 }, machine);
      expect(readFileSync(to, 'utf8')).toBe(CONTENT);
    }
    // The registry has a strong validator: the digest.
    writeFileSync(to, CONTENT.slice(0, 4));
    const url = `oci://${registry.name}/tools/web`;
    writeFileSync(`${to}.source`, JSON.stringify({ url, etag: `"sha256:${sha256}"` }));
    await downloadTo(url, to, { ...LIMITS, sha256 }, machine);
    expect(readFileSync(to, 'utf8')).toBe(CONTENT);
    const other = `oci://${registry.name}/tools/web@${pushed.digest}`;
    await expect(downloadTo(other, to, { ...LIMITS, sha256: 'f'.repeat(64) }, machine)).rejects.toThrow(
      `does not list sha256:${'f'.repeat(64)}`,
    );
    const missing = downloadTo(url, to, { ...LIMITS, sha256 }, { ...machine, registriesFile: '/none' });
    await expect(missing).rejects.toThrow(`${registry.name} requires other credentials than this host has`);
  });

  it('is named in full', async () => {
    const downloading = downloadTo('oci://registry', '/tmp/none', { ...LIMITS, sha256: '' }, MACHINE);
    await expect(downloading).rejects.toThrow(
      'expected oci://REGISTRY/REPOSITORY[:TAG][@sha256:MANIFEST], got oci://registry',
    );
  });
});

function sizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size;
}

async function serve(
  listener: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(listener);
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
