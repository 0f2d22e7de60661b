import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { credentialLoader } from '../../../../src/providers/alibaba/credentials/load.ts';
import type { AlibabaCredentials } from '../../../../src/providers/alibaba/credentials/temporary.ts';
import { createFastClock } from '../../../support/fast-clock.ts';
import { tempFolder } from '../../../support/temp.ts';
import { AGENT } from '../harness.ts';
import { startTokenServer, type TokenServer } from './token-server.ts';

const TEMPORARY = {
  accessKeyId: 'STS.NUgYrLnoC37mZZCNnAbez',
  accessKeySecret: 'CVwjCkNzTMupZ8NbTCxCBRq3K16jtcWFTJAyBEv2',
  securityToken: 'CAIShwJ1q6Ft',
  expiresAt: new Date('2030-10-20T04:27:09Z'),
};

function load(env: Readonly<Record<string, string>>): Promise<AlibabaCredentials> {
  return credentialLoader(
    { env, clock: createFastClock(), agent: AGENT, timeoutMs: 200_000 },
    'cn-hangzhou',
  )();
}

function tokenFile(content: string): string {
  const file = join(tempFolder('oidc'), 'token');
  writeFileSync(file, content);
  return file;
}

function rrsa(server: TokenServer, file: string): Readonly<Record<string, string>> {
  return {
    ALIBABA_CLOUD_ROLE_ARN: 'acs:ram::113511544585:role/testoidc',
    ALIBABA_CLOUD_OIDC_PROVIDER_ARN: 'acs:ram::113511544585:oidc-provider/TestOidcIdp',
    ALIBABA_CLOUD_OIDC_TOKEN_FILE: file,
    ALIBABA_CLOUD_STS_ENDPOINT: server.url,
  };
}

async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return await call.then(
    () => 'no error',
    (error: unknown) => error,
  );
}

describe('credentialLoader', () => {
  it('takes an access key from the environment, with its token', async () => {
    const key = { ALIBABA_CLOUD_ACCESS_KEY_ID: 'id', ALIBABA_CLOUD_ACCESS_KEY_SECRET: 'secret' };
    expect(await load(key)).toEqual({ accessKeyId: 'id', accessKeySecret: 'secret' });
    expect(await load({ ...key, ALIBABA_CLOUD_SECURITY_TOKEN: 'token' })).toEqual({
      accessKeyId: 'id',
      accessKeySecret: 'secret',
      securityToken: 'token',
    });
  });

  it('exchanges the token that the cluster gives to the pod, and reads it each time', async () => {
    const server = await startTokenServer();
    const file = tokenFile('eyJraWQi\n');
    const loader = credentialLoader(
      { env: rrsa(server, file), clock: createFastClock(), agent: AGENT, timeoutMs: 200_000 },
      'x',
    );
    expect(await loader()).toEqual(TEMPORARY);
    server.oidcToken = 'newer';
    writeFileSync(file, 'newer');
    expect(await loader()).toEqual(TEMPORARY);
  });

  it('calls a token that is refused an error of the credentials, and quotes nothing of it', async () => {
    const server = await startTokenServer();
    const error = await failureOf(load(rrsa(server, tokenFile('stolen-token'))));
    expect(error).toMatchObject({ code: 'Auth', reason: 'AuthenticationFailNoPermission' });
    expect(inspect(error, { depth: 9 })).not.toContain('stolen-token');
  });

  it('calls a missing token file an error of the credentials', async () => {
    const server = await startTokenServer();
    const error = await failureOf(load(rrsa(server, '/does/not/exist')));
    expect(error).toMatchObject({
      code: 'Auth',
      message: expect.stringMatching(/^ALIBABA_CLOUD_OIDC_TOKEN_FILE cannot be read: ENOENT\. /) as string,
    });
  });

  it.each([500, 503, 429])('may be repeated when the token service answers %i', async (status) => {
    const server = await startTokenServer();
    server.status = status;
    expect(await failureOf(load(rrsa(server, tokenFile('eyJraWQi'))))).toMatchObject({ code: 'Retryable' });
  });

  it('reads the role of its instance in the safer mode of the metadata service', async () => {
    const server = await startTokenServer();
    expect(await load({ ALIBABA_CLOUD_ECS_METADATA_SERVICE_URL: server.url })).toEqual(TEMPORARY);
    expect(server.requests).toEqual([
      'PUT /latest/api/token',
      'GET /latest/meta-data/ram/security-credentials/',
      'GET /latest/meta-data/ram/security-credentials/node-role',
    ]);
  });

  it('takes the role that the environment names, and only that', async () => {
    const server = await startTokenServer();
    const env = { ALIBABA_CLOUD_ECS_METADATA_SERVICE_URL: server.url, ALIBABA_CLOUD_ECS_METADATA: 'other' };
    expect(await failureOf(load(env))).toMatchObject({ code: 'Auth' });
    expect(await load({ ...env, ALIBABA_CLOUD_ECS_METADATA: 'node-role' })).toEqual(TEMPORARY);
  });

  it.each([
    ['has no role', ''],
    ['has a page instead of the name of a role', '<html>login</html>'],
  ])('tells what to do when the instance %s, and asks for nothing more', async (_, role) => {
    const server = await startTokenServer();
    server.role = role;
    const error = await failureOf(load({ ALIBABA_CLOUD_ECS_METADATA_SERVICE_URL: server.url }));
    expect(error).toMatchObject({ code: 'Auth', reason: 'NoCredentials' });
    expect(String(error)).toContain('attach a RAM role to this instance');
    expect(server.requests).toHaveLength(2);
  });

  it('asks no metadata service where that is switched off', async () => {
    expect(await failureOf(load({ ALIBABA_CLOUD_ECS_METADATA_DISABLED: 'true' }))).toMatchObject({
      code: 'Auth',
      reason: 'NoCredentials',
    });
  });

  it('never falls back to another identity when one fails', async () => {
    const server = await startTokenServer();
    const env = { ...rrsa(server, tokenFile('wrong')), ALIBABA_CLOUD_ECS_METADATA_SERVICE_URL: server.url };
    expect(await failureOf(load(env))).toMatchObject({ code: 'Auth' });
    expect(server.requests).toEqual(['POST /']);
  });
});
