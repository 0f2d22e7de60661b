import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { downloadFile } from '../../../src/os/net/download.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { tempFolder } from '../../support/temp.ts';

const CONTENT = 'x'.repeat(1000);
const SHA256 = createHash('sha256').update(CONTENT).digest('hex');

describe('downloadFile', () => {
  let folder: string;
  let steps: string[];

  beforeEach(() => {
    folder = tempFolder('download');
    steps = [];
  });

  it('renames the file once its checksum is correct, and reports progress', async () => {
    await download((_, response) => void response.end(CONTENT));
    expect(readFileSync(join(folder, 'file'), 'utf8')).toBe(CONTENT);
    expect(existsSync(join(folder, 'part'))).toBe(false);
    expect(steps.at(-1)).toBe('downloading file: 0.0 of 0.0 MB (100 %)');
  });

  it('resumes a partial file with a range', async () => {
    writeFileSync(join(folder, 'part'), CONTENT.slice(0, 400));
    const ranges: unknown[] = [];
    await download((request, response) => {
      ranges.push(request.headers.range);
      response.writeHead(206).end(CONTENT.slice(400));
    });
    expect(ranges).toEqual(['bytes=400-']);
    expect(readFileSync(join(folder, 'file'), 'utf8')).toBe(CONTENT);
  });

  it('starts over when the server ignores the range', async () => {
    writeFileSync(join(folder, 'part'), CONTENT.slice(0, 400));
    await download((_, response) => void response.end(CONTENT));
    expect(readFileSync(join(folder, 'file'), 'utf8')).toBe(CONTENT);
  });

  it('retries a temporary error', async () => {
    let requests = 0;
    await download((_, response) => {
      requests += 1;
      if (requests < 3) response.writeHead(503).end();
      else response.end(CONTENT);
    });
    expect(requests).toBe(3);
    expect(steps[0]).toBe('downloading file: the server answered 503 Service Unavailable, trying again');
  });

  it('fails at once for a final error, with a hint', async () => {
    let requests = 0;
    const promise = download((_, response) => {
      requests += 1;
      response.writeHead(404).end();
    });
    await expect(promise).rejects.toMatchObject({
      code: 'Download',
      message: expect.stringContaining('the server answered 404 Not Found') as string,
      hint: 'check the connection and try again: the partial download is kept',
    });
    expect(requests).toBe(1);
  });

  it('downloads a file with a wrong checksum once more, and then removes it', async () => {
    let requests = 0;
    const promise = download((_, response) => {
      requests += 1;
      response.end('something else');
    });
    await expect(promise).rejects.toMatchObject({ code: 'Checksum' });
    expect(requests).toBe(2);
    expect(['part', 'file'].filter((name) => existsSync(join(folder, name)))).toEqual([]);
  });

  async function download(listener: RequestListener): Promise<void> {
    const server = createServer(listener);
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/file`;
    const file = { url, sha256: SHA256, to: join(folder, 'file'), part: join(folder, 'part') };
    await downloadFile(file, { clock: createSystemClock(), onStep: (step) => steps.push(step), pauseMs: 1 });
  }
});
