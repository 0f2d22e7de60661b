import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGitHttpClient } from '../../../../src/sync/git/http/client.ts';
import type { GitOptions } from '../../../../src/sync/git/options.ts';
import {
  type Fault,
  type GitHttpServer,
  type Step,
  startGitHttpServer,
} from '../../../support/git-server/http-server.ts';
import { createTestRepository } from '../../../support/git-server/repository.ts';
import { tempFolder } from '../../../support/temp.ts';
import { describeTransport, openLocalGit, type TransportBed, type TransportFault } from '../conformance.ts';

const TOKEN = 's3cret-token';

describe('isomorphic-git over http', () => {
  const root = tempFolder('http-root');
  let server: GitHttpServer;
  beforeAll(async () => {
    server = await startGitHttpServer({ root, token: TOKEN });
  });
  afterAll(() => server.close());

  const optionsFor: TransportBed['optionsFor'] = (path) => ({
    repository: `${server.url}/${path}`,
    credential: TOKEN,
  });
  const heal = (): void => server.heal();
  const fault = (
    name: string,
    code: TransportFault['code'],
    what: Fault,
    step: Step = 'refs',
  ): TransportFault => ({
    name,
    code,
    heal,
    arrange: () => {
      server.fail(step, what);
      return what.do === 'hang' || what.do === 'drip' ? { limits: { timeoutMs: 600, idleMs: 300 } } : {};
    },
    ...(step === 'pack' ? { onlyFetch: true } : {}),
  });
  const other = (
    name: string,
    code: TransportFault['code'],
    changed: Partial<GitOptions>,
  ): TransportFault => ({
    name,
    code,
    heal,
    arrange: () => changed,
  });

  describeTransport((): TransportBed => {
    return {
      name: 'http',
      open: openLocalGit,
      root,
      optionsFor,
      faults: [
        other('no token', 'Unauthorized', { credential: '' }),
        other('a wrong token', 'Unauthorized', { credential: 's3cret-but-wrong' }),
        fault('403', 'Unauthorized', { do: 'status', status: 403 }),
        fault('404', 'NotFoundRepository', { do: 'status', status: 404 }),
        fault('429', 'ServerError', { do: 'status', status: 429, headers: { 'retry-after': '7' } }),
        fault('500', 'ServerError', { do: 'status', status: 500 }),
        fault('503 on the pack', 'ServerError', { do: 'status', status: 503 }, 'pack'),
        fault('a redirect', 'NotFoundRepository', { do: 'status', status: 301, headers: { location: '/x' } }),
        fault('a web page', 'NotFoundRepository', { do: 'garbage' }),
        fault('a web page for a pack', 'NotFoundRepository', { do: 'garbage' }, 'pack'),
        fault('a reset connection', 'Unreachable', { do: 'reset' }),
        fault('a connection reset during the pack', 'Unreachable', { do: 'reset' }, 'pack'),
        fault('a truncated listing', 'Corrupt', { do: 'truncate', bytes: 90 }),
        ...[0, 30, 100, 4000, 8000].map((bytes) =>
          fault(`a pack truncated after ${bytes} bytes`, 'Corrupt', { do: 'truncate', bytes }, 'pack'),
        ),
        fault('no response', 'Timeout', { do: 'hang' }),
        fault('a response that is too slow', 'Timeout', { do: 'drip', everyMs: 20 }, 'pack'),
        other('connection refused', 'Unreachable', { repository: 'http://127.0.0.1:1/fleet.git' }),
      ],
    };
  });

  it('never sends the token to another host, and never follows a redirect', async () => {
    const elsewhere = await startGitHttpServer({ root });
    const location = `${elsewhere.url}/elsewhere.git/info/refs`;
    server.fail('refs', { do: 'status', status: 302, headers: { location } });
    const git = openLocalGit({ repository: `${server.url}/x.git`, credential: TOKEN, folder: tempFolder() });
    await expect(git.listRefs()).rejects.toThrow(elsewhere.url);
    server.heal();
    expect(elsewhere.requests).toEqual([]);
    await elsewhere.close();
  });

  it('sends the token to no other origin, even if the library requests one', async () => {
    const elsewhere = await startGitHttpServer({ root, token: TOKEN });
    const limits = { timeoutMs: 5_000, idleMs: 5_000, maxBytes: 1_000_000 };
    const client = createGitHttpClient(
      { display: `${server.url}/x.git`, credential: TOKEN, limits },
      undefined,
    );
    const url = `${elsewhere.url}/news/fleet.git/info/refs?service=git-upload-pack`;
    await expect(client.request({ url })).rejects.toMatchObject({ code: 'Unauthorized' });
    await elsewhere.close();
  });

  it('transfers only new objects with the second fetch', async () => {
    const repository = createTestRepository(join(root, 'news'));
    repository.commit('first', { large: randomBytes(100_000).toString('base64') });
    const options = {
      repository: `${server.url}/news/fleet.git`,
      credential: TOKEN,
      folder: join(tempFolder(), 'c'),
    };
    await openLocalGit(options).fetch('main');
    const second = repository.commit('second', { small: 'x' });
    expect(await openLocalGit({ ...options, limits: { maxBytes: 5_000 } }).fetch('main')).toBe(second);
  });
});

describe('isomorphic-git over https', () => {
  it('trusts the declared certificate authorities, and no others', async () => {
    const folder = tempFolder('tls');
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const subject = '-subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1';
    const kind = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2';
    execFileSync('openssl', [...`${kind} ${subject}`.split(' '), '-keyout', key, '-out', cert], {
      stdio: 'ignore',
    });
    const tls = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
    const repository = createTestRepository(join(folder, 'r'));
    const commit = repository.commit('first', { a: '1' });
    const server = await startGitHttpServer({ root: folder, tls });
    const open = (ca?: string): ReturnType<typeof openLocalGit> =>
      openLocalGit({
        repository: `${server.url}/r/fleet.git`,
        folder: join(tempFolder(), 'c'),
        ...(ca ? { ca } : {}),
      });
    try {
      await expect(open().fetch('main')).rejects.toMatchObject({ code: 'Certificate' });
      expect(await open(tls.cert).fetch('main')).toBe(commit);
    } finally {
      await server.close();
    }
  });
});
