import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import type { AccessToken } from '../../../../src/providers/azure/credentials/access-token.ts';
import { tokenLoader } from '../../../../src/providers/azure/credentials/load.ts';
import { createFastClock } from '../../../support/fast-clock.ts';
import { tempFolder } from '../../../support/temp.ts';
import { type CloudProxy, startCloudProxy } from '../../cloud/cloud-proxy.ts';
import {
  CLIENT,
  CLIENT_SECRET,
  CLUSTER_TOKEN,
  createTokenService,
  TENANT,
  type TokenService,
} from '../server/tokens.ts';

type Env = Readonly<Record<string, string>>;

interface Bed {
  readonly service: TokenService;
  readonly proxy: CloudProxy;
  readonly secret: Env;
  readonly workload: (file: string) => Env;
  readonly managed: Env;
  readonly load: (env: Env) => Promise<AccessToken>;
}

const AUDIENCE = 'https://management.azure.com';

async function open(): Promise<Bed> {
  const service = createTokenService(() => AUDIENCE);
  const missing = { status: 404, headers: {}, body: '' };
  const proxy = await startCloudProxy((request) => Promise.resolve(service.answer(request) ?? missing));
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  const client = { AZURE_TENANT_ID: TENANT, AZURE_CLIENT_ID: CLIENT, AZURE_AUTHORITY_HOST: `${proxy.url}/` };
  return {
    service,
    proxy,
    secret: { ...client, AZURE_CLIENT_SECRET: CLIENT_SECRET },
    workload: (file) => ({ ...client, AZURE_FEDERATED_TOKEN_FILE: file }),
    managed: { AZURE_POD_IDENTITY_AUTHORITY_HOST: proxy.url },
    load: (env) => tokenLoader({ env, clock: createFastClock(), timeoutMs: 200_000 }, AUDIENCE)(),
  };
}

function tokenFile(content: string): string {
  const file = join(tempFolder('federated'), 'token');
  writeFileSync(file, content);
  return file;
}

async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return await call.then(
    () => 'no error',
    (error: unknown) => error,
  );
}

describe('tokenLoader', () => {
  it('gets a token for a client secret, with the time at which it ends', async () => {
    const { load, secret, service } = await open();
    const before = createSystemClock().now().getTime();
    const { token, expiresAt } = await load(secret);
    expect(token).toBe(service.issued[0]);
    expect(Math.abs(expiresAt.getTime() - before - 3_599_000)).toBeLessThan(60_000);
  });

  it('exchanges the token that the cluster gives to the pod, and reads it each time', async () => {
    const { service, workload } = await open();
    const file = tokenFile(`${CLUSTER_TOKEN}\n`);
    const loader = tokenLoader(
      { env: workload(file), clock: createFastClock(), timeoutMs: 200_000 },
      AUDIENCE,
    );
    expect((await loader()).token).toBe(service.issued[0]);
    service.clusterToken = 'newer';
    writeFileSync(file, 'newer');
    expect((await loader()).token).toBe(service.issued[1]);
  });

  it('gets a token of the managed identity of its machine', async () => {
    const { load, managed, proxy } = await open();
    const { expiresAt } = await load(managed);
    expect(expiresAt.getTime()).toBeGreaterThan(createSystemClock().now().getTime() + 80_000_000);
    expect(proxy.requests).toMatchObject([{ method: 'GET', headers: { metadata: 'true' } }]);
  });

  it('takes the managed identity that the environment names, and only that', async () => {
    const { load, managed, service } = await open();
    service.identities = [CLIENT, 'other'];
    await load({ ...managed, AZURE_CLIENT_ID: 'other' });
    expect(await failureOf(load({ ...managed, AZURE_CLIENT_ID: 'third' }))).toMatchObject({
      code: 'Auth',
      reason: 'NoCredentials',
    });
  });

  it('tells what to do on a machine without an identity', async () => {
    const { load, managed, service } = await open();
    service.identities = [];
    expect(String(await failureOf(load(managed)))).toContain(
      'this machine has no such managed identity. Set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET',
    );
  });

  it('tells what to do where no metadata service answers', async () => {
    const { load } = await open();
    const env = { AZURE_POD_IDENTITY_AUTHORITY_HOST: 'http://127.0.0.1:1' };
    expect(String(await failureOf(load(env)))).toContain(
      'the metadata service does not answer at http://127.0.0.1:1',
    );
  });

  it('calls credentials that are refused an error of them, and quotes neither secret nor client', async () => {
    const { load, secret, workload } = await open();
    for (const env of [
      { ...secret, AZURE_CLIENT_SECRET: 'wrong-secret' },
      workload(tokenFile('stolen-token')),
    ]) {
      const error = await failureOf(load(env));
      expect(error).toMatchObject({ code: 'Auth', reason: expect.stringMatching(/^AADSTS\d+$/) as string });
      expect(inspect(error, { depth: 9 })).not.toMatch(new RegExp(`wrong-secret|stolen-token|${CLIENT}`));
    }
  });

  it('calls a missing token file an error of the credentials', async () => {
    const { load, workload, proxy } = await open();
    expect(await failureOf(load(workload('/does/not/exist')))).toMatchObject({
      code: 'Auth',
      message: expect.stringMatching(/^AZURE_FEDERATED_TOKEN_FILE cannot be read: ENOENT\. /) as string,
    });
    expect(proxy.requests).toEqual([]);
  });

  it.each([500, 503, 429, 410])('may be repeated when a service answers %i', async (status) => {
    const { load, secret, managed, service } = await open();
    service.status = status;
    expect(await failureOf(load(managed))).toMatchObject({ code: 'Retryable' });
    const means = status === 410 ? 'Auth' : 'Retryable';
    expect(await failureOf(load(secret))).toMatchObject({ code: means });
  });

  it.each([400, 403])('calls %i of the metadata service an error of the identity', async (status) => {
    const { load, managed, service } = await open();
    service.status = status;
    expect(await failureOf(load(managed))).toMatchObject({ code: 'Auth', reason: 'NoCredentials' });
  });

  it('may be repeated when the answer has no token', async () => {
    const { load, secret, service } = await open();
    service.status = 200;
    expect(await failureOf(load(secret))).toMatchObject({ code: 'Retryable', reason: 'BadAnswer' });
  });

  it('uses no managed identity where the environment names a certificate', async () => {
    const { load, managed, proxy } = await open();
    const error = await failureOf(load({ ...managed, AZURE_CLIENT_CERTIFICATE_PATH: '/cert.pem' }));
    expect(String(error)).toContain('AZURE_CLIENT_CERTIFICATE_PATH is not supported. Set AZURE_TENANT_ID');
    expect(proxy.requests).toEqual([]);
  });

  it.each(['AZURE_AUTHORITY_HOST', 'AZURE_POD_IDENTITY_AUTHORITY_HOST'])(
    'refuses %s without a scheme when the provider is opened',
    async (name) => {
      const { secret } = await open();
      const env = name === 'AZURE_AUTHORITY_HOST' ? secret : {};
      const opened = (): unknown =>
        tokenLoader({ env: { ...env, [name]: 'login.example.com' }, clock: createFastClock() }, AUDIENCE);
      expect(opened).toThrow(`expected a URL in ${name}, such as http`);
    },
  );

  it('never falls back to another identity when one fails', async () => {
    const { load, secret, managed, proxy } = await open();
    const env = { ...managed, ...secret, AZURE_CLIENT_SECRET: 'wrong' };
    expect(await failureOf(load(env))).toMatchObject({ code: 'Auth' });
    expect(proxy.requests.map(({ method }) => method)).toEqual(['POST']);
  });

  it.each(['AZURE_TENANT_ID', 'AZURE_CLIENT_ID'])(
    'names what is missing beside the secret: %s',
    async (name) => {
      const { load, secret, managed, proxy } = await open();
      expect(String(await failureOf(load({ ...managed, ...secret, [name]: '' })))).toContain(
        'AZURE_CLIENT_SECRET is set without AZURE_TENANT_ID and AZURE_CLIENT_ID',
      );
      expect(proxy.requests).toEqual([]);
    },
  );

  it('keeps the name of a tenant out of the path of the service', async () => {
    const { load, secret, proxy } = await open();
    await failureOf(load({ ...secret, AZURE_TENANT_ID: '../x?y' }));
    expect(proxy.requests[0]?.path).toBe('/..%2Fx%3Fy/oauth2/v2.0/token');
  });
});
