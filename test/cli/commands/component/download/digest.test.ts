import { describe, expect, it } from 'vitest';
import {
  type DigestSettings,
  digestOfUrl,
} from '../../../../../src/cli/commands/component/download/digest.ts';
import { createSystemClock } from '../../../../../src/os/system-clock.ts';
import { redirectTo, sendFile, sha256Of, startPublisher, truncated } from '../../../../support/publisher.ts';

const CONTENT = 'kubelet '.repeat(1000);
const EXPECTED = { sizeBytes: 8000, sha256: sha256Of(CONTENT) };

function settings(more: Partial<DigestSettings> = {}): DigestSettings {
  const { signal } = new AbortController();
  return { clock: createSystemClock(), signal, env: {}, onBytes: () => undefined, ...more };
}

describe('digestOfUrl', () => {
  it('reports size and digest, and what arrived', async () => {
    const { url, files } = await startPublisher();
    files.set('/file', CONTENT);
    const bytes: number[] = [];
    const digest = await digestOfUrl(`${url}/file`, settings({ onBytes: (each) => bytes.push(each) }));
    expect(digest).toEqual(EXPECTED);
    expect(bytes.at(-1)).toBe(8000);
  });

  it('follows five redirects, and not six', async () => {
    const { url, files, answers } = await startPublisher();
    files.set('/0', CONTENT);
    for (const step of [1, 2, 3, 4, 5, 6]) answers.set(`/${step}`, [redirectTo(`/${step - 1}`)]);
    expect(await digestOfUrl(`${url}/5`, settings())).toEqual(EXPECTED);
    await expect(digestOfUrl(`${url}/6`, settings())).rejects.toThrow('more than 5 redirects');
  });

  it.each(['file:///etc/passwd', 'ftp://example.com/x', 'http://'])(
    'follows no redirect to %s',
    async (location) => {
      const { url, answers } = await startPublisher();
      answers.set('/file', [redirectTo(location)]);
      await expect(digestOfUrl(`${url}/file`, settings())).rejects.toThrow(
        `the redirect to ${location} is refused`,
      );
    },
  );

  it('resumes a file that was cut off where it ended', async () => {
    const { url, answers, asked } = await startPublisher();
    const conditions: unknown[] = [];
    answers.set('/file', [
      truncated(CONTENT, 3000),
      (request, response) => {
        conditions.push(request.headers['if-range']);
        sendFile(request, response, CONTENT);
      },
    ]);
    expect(await digestOfUrl(`${url}/file`, settings())).toEqual(EXPECTED);
    expect(asked).toEqual(['/file', '/file bytes=3000-']);
    expect(conditions).toEqual([`"${EXPECTED.sha256.slice(0, 8)}"`]);
  });

  it('begins again when the file was replaced in between', async () => {
    const { url, answers } = await startPublisher();
    const replaced = 'other '.repeat(2000);
    answers.set('/file', [
      truncated(CONTENT, 3000),
      (request, response) => sendFile(request, response, replaced),
    ]);
    expect(await digestOfUrl(`${url}/file`, settings())).toEqual({
      sizeBytes: 12_000,
      sha256: sha256Of(replaced),
    });
  });

  it.each([
    ['without a validator', ''],
    ['with a weak one', 'W/"12345678"'],
  ])('begins again %s', async (_, etag) => {
    const { url, answers, asked } = await startPublisher();
    answers.set('/file', [
      truncated(CONTENT, 3000, etag),
      (request, response) => sendFile(request, response, CONTENT),
    ]);
    expect(await digestOfUrl(`${url}/file`, settings())).toEqual(EXPECTED);
    expect(asked).toEqual(['/file', '/file']);
  });

  it('rejects a rest that is not that of the file', async () => {
    const { url, answers } = await startPublisher();
    answers.set('/file', [
      truncated(CONTENT, 3000),
      (_, response) => void response.writeHead(206, { 'content-range': 'bytes 0-9/10' }).end('0123456789'),
    ]);
    await expect(digestOfUrl(`${url}/file`, settings())).rejects.toThrow('the server continued another file');
  });

  it('gives up after the second interruption', async () => {
    const { url, answers, asked } = await startPublisher();
    answers.set('/file', [truncated(CONTENT, 3000)]);
    await expect(digestOfUrl(`${url}/file`, settings())).rejects.toMatchObject({ retryable: true });
    expect(asked).toHaveLength(2);
  });

  it('ends when no data arrives', async () => {
    const { url, answers } = await startPublisher();
    answers.set('/file', [(_, response) => void response.writeHead(200).write('begin')]);
    await expect(digestOfUrl(`${url}/file`, settings({ silenceMs: 20 }))).rejects.toThrow('no data for 0 s');
  });

  it('ends a file that arrives too slowly', async () => {
    const { url, answers } = await startPublisher();
    answers.set('/file', [
      (_, response) => {
        response.writeHead(200).write('begin');
        const timer = setInterval(() => response.write('.'), 5);
        response.on('close', () => clearInterval(timer));
      },
    ]);
    await expect(digestOfUrl(`${url}/file`, settings({ deadlineMs: 100 }))).rejects.toThrow(
      'not complete after 0 s',
    );
  });

  it('ends a file that is too large', async () => {
    const { url, files } = await startPublisher();
    files.set('/file', CONTENT);
    await expect(digestOfUrl(`${url}/file`, settings({ maxBytes: 7999 }))).rejects.toThrow(
      'larger than 7999 bytes',
    );
  });

  it('rejects a page of a proxy', async () => {
    const { url, answers } = await startPublisher();
    answers.set('/file', [
      (_, response) =>
        void response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('login'),
    ]);
    await expect(digestOfUrl(`${url}/file`, settings())).rejects.toThrow(
      'the answer is a web page, not a file',
    );
  });

  it.each<[what: string, content: string, isCompared: boolean, reason: string]>([
    ['a page with the type of a file', '<!doctype html>log in', true, 'the answer is a web page, not a file'],
    ['a short text', 'not found', false, 'expected a program, got a text of 9 bytes'],
    ['nothing', '', true, 'the answer is empty'],
  ])('rejects %s', async (_, content, isCompared, reason) => {
    const { url, files } = await startPublisher();
    files.set('/file', content);
    await expect(digestOfUrl(`${url}/file`, settings({ isCompared }))).rejects.toMatchObject({
      message: expect.stringContaining(reason) as string,
      retryable: false,
    });
  });

  it('takes a short text whose digest is compared', async () => {
    const { url, files } = await startPublisher();
    files.set('/file', 'a text');
    expect(await digestOfUrl(`${url}/file`, settings({ isCompared: true }))).toEqual({
      sizeBytes: 6,
      sha256: sha256Of('a text'),
    });
  });

  it('rejects an archive by its name', async () => {
    const { url, files } = await startPublisher();
    files.set('/a.tar.gz?token=1', CONTENT);
    await expect(digestOfUrl(`${url}/a.tar.gz?token=1`, settings())).rejects.toThrow(
      'expected an archive of gzip, got 8000 bytes that begin with "kubelet kubelet',
    );
  });

  const etag = `"${EXPECTED.sha256.slice(0, 8)}"`;
  it.each<[what: string, status: number, range: string | undefined, reason: string]>([
    ['an end before it', 416, 'bytes */8000', 'the file of the server ends before what arrived'],
    ['a part of the rest', 206, 'bytes 3000-3999/8000', 'the server continued another file'],
    ['a rest of unknown place', 206, undefined, 'the server continued another file'],
    ['without content', 204, undefined, 'expected status 200, got 204'],
  ])('computes no digest of what a server answers to the second request: %s', async (_, ...answer) => {
    const { url, answers } = await startPublisher();
    const [status, range, reason] = answer;
    const headers = { etag, ...(range !== undefined && { 'content-range': range }) };
    answers.set('/file', [
      truncated(CONTENT, 3000),
      (_request, response) => void response.writeHead(status, headers).end(),
    ]);
    await expect(digestOfUrl(`${url}/file`, settings())).rejects.toThrow(reason);
  });

  it('computes no digest of a part that was not asked for', async () => {
    const { url, answers } = await startPublisher();
    const headers = { 'content-range': `bytes 0-4999/8000` };
    answers.set('/file', [
      (_, response) => void response.writeHead(206, headers).end(CONTENT.slice(0, 5000)),
    ]);
    await expect(digestOfUrl(`${url}/file`, settings())).rejects.toThrow('the server continued another file');
  });

  it('rejects a missing file at once', async () => {
    const { url, asked } = await startPublisher();
    await expect(digestOfUrl(`${url}/file`, settings())).rejects.toMatchObject({ status: 404 });
    expect(asked).toHaveLength(1);
  });
});
