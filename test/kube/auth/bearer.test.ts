import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/kube/auth/config.ts';
import { base64, clock, failing, fileWith, identity, NO_ENV, text } from '../../support/kube/config-bed.ts';
import { authority, clientPair } from '../../support/kube/tls-server.ts';
import { tempFolder } from '../../support/temp.ts';

const bearer = (): Promise<string> => Promise.resolve('of-a-person');
const ca = base64(authority.certPem);

describe('createBearerCredentials', () => {
  it('CON-21 sends the token of the person, and none of the credentials of the kubeconfig', async () => {
    const { certPem, keyPem } = clientPair('admin');
    const user = {
      token: 'of-the-console',
      username: 'admin',
      password: 'secret',
      as: 'root',
      'client-certificate-data': base64(certPem),
      'client-key-data': base64(keyPem),
      exec: { apiVersion: 'client.authentication.k8s.io/v1', command: '/nowhere/plugin' },
    };
    const kubeconfig = fileWith(text({ cluster: { 'certificate-authority-data': ca }, user }));
    expect(await identity({ kubeconfig, bearer })).toEqual({
      tls: { ca: authority.certPem },
      headers: { authorization: 'Bearer of-a-person' },
    });
  });

  it('CON-21 needs no token in a pod, only the authority of the cluster', async () => {
    const serviceAccountFolder = tempFolder();
    writeFileSync(join(serviceAccountFolder, 'ca.crt'), authority.certPem);
    const env = { ...NO_ENV, KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };
    const { connection } = await loadConfig({ clock, env, serviceAccountFolder, bearer });
    expect(connection.server).toBe('https://10.0.0.1:443');
    expect(await connection.credentials.current()).toEqual({
      tls: { ca: authority.certPem },
      headers: { authorization: 'Bearer of-a-person' },
    });
    await expect(loadConfig({ clock, env, serviceAccountFolder })).rejects.toMatchObject({ code: 'Config' });
  });

  it('reads the token again for each call, because it is renewed', async () => {
    const tokens = ['first', 'second'];
    const kubeconfig = fileWith(text({ cluster: { 'certificate-authority-data': ca } }));
    const { connection } = await loadConfig({
      clock,
      env: NO_ENV,
      kubeconfig,
      bearer: () => Promise.resolve(tokens.shift() ?? ''),
    });
    const headers = [await connection.credentials.current(), await connection.credentials.current()];
    expect(headers.map((each) => each.headers['authorization'])).toEqual(['Bearer first', 'Bearer second']);
  });

  it.each([
    ['a server without TLS', { server: 'http://127.0.0.1:8001' }, /over https only, got http/],
    ['a server that is not verified', { 'insecure-skip-tls-verify': true }, /to a verified server only/],
  ])('CON-21 refuses to send a token to %s', async (_, cluster, message) => {
    const error = await failing({ kubeconfig: fileWith(text({ cluster })), bearer });
    expect([error.code, error.message]).toEqual(['Config', expect.stringMatching(message)]);
    expect(error.message).not.toContain('of-a-person');
  });
});
