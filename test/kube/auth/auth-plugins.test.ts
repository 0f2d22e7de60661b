import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/kube/auth/config.ts';
import { connect } from '../../../src/kube/client/connect.ts';
import { clock, failing, fileWith, identity, NO_ENV, text } from '../../support/kube/config-bed.ts';
import { clientPair } from '../../support/kube/tls-server.ts';

describe('exec plug-ins', () => {
  it('return tokens, which are cached until they expire or the server rejects them', async () => {
    const { kubeconfig, runs } = plugin(
      credential({ token: 'from-plugin', expirationTimestamp: '2999-01-01T00:00:00Z' }),
    );
    const { credentials } = (await loadConfig({ clock, env: NO_ENV, kubeconfig })).connection;
    const [one, two] = await Promise.all([credentials.current(), credentials.current()]);
    expect([one.headers, two.headers, runs()]).toEqual([
      { authorization: 'Bearer from-plugin' },
      { authorization: 'Bearer from-plugin' },
      1,
    ]);
    await credentials.current();
    expect(runs()).toBe(1);
    credentials.forget();
    await credentials.current();
    expect(runs()).toBe(2);
  });

  it('are not run again when the server is unreachable', async () => {
    const { kubeconfig, runs } = plugin(credential({ token: 'from-plugin' }), 'https://127.0.0.1:1');
    const client = await connect({ kubeconfig, env: NO_ENV });
    for (let call = 0; call < 3; call += 1) {
      await expect(client.raw('/version')).rejects.toMatchObject({ code: 'Unreachable' });
    }
    expect(runs()).toBe(1);
    await client.close();
  });

  it('are run again when their token has expired', async () => {
    const { kubeconfig, runs } = plugin(
      credential({ token: 'old', expirationTimestamp: '2020-01-01T00:00:00Z' }),
    );
    const { credentials } = (await loadConfig({ clock, env: NO_ENV, kubeconfig })).connection;
    await credentials.current();
    await credentials.current();
    expect(runs()).toBe(2);
  });

  it('return certificates, and connections are kept while those do not change', async () => {
    const { certPem, keyPem } = clientPair('from-plugin');
    const { kubeconfig } = plugin(credential({ clientCertificateData: certPem, clientKeyData: keyPem }));
    const { credentials } = (await loadConfig({ clock, env: NO_ENV, kubeconfig })).connection;
    const first = await credentials.current();
    expect(first.tls).toEqual({ cert: certPem, key: keyPem });
    credentials.forget();
    expect((await credentials.current()).tls).toBe(first.tls);
  });

  it('get KUBERNETES_EXEC_INFO', async () => {
    const { kubeconfig } = plugin(
      `printf '{"status":{"token":"%s"}}' "$(printf %s "$KUBERNETES_EXEC_INFO $1" | base64 -w0)"`,
    );
    const { authorization } = (await identity({ kubeconfig })).headers;
    const info = Buffer.from(String(authorization).replace('Bearer ', ''), 'base64').toString();
    expect(info).toBe(
      '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"interactive":false}} token',
    );
  });

  it.each<[name: string, body: string, message: string]>([
    ['fail', 'echo "please log in" >&2; exit 3', 'failed: please log in'],
    ['fail without output', 'exit 1', 'failed: no output, or timeout'],
    ['print no JSON', 'echo hello', 'failed: Unexpected token'],
    ['print nothing', 'true', 'failed: Unexpected end of JSON input'],
    ['return nothing', credential({}), 'failed: it returned neither a token nor a certificate'],
    [
      'return an invalid certificate',
      credential({ clientCertificateData: 'x', clientKeyData: 'y' }),
      'failed:',
    ],
    [
      'want to ask a person',
      'read answer && echo "$answer" || { echo "no terminal" >&2; exit 1; }',
      'failed: no terminal',
    ],
  ])('that %s are named in the error', async (_, body, message) => {
    const { kubeconfig } = plugin(body);
    const error = await failing({ kubeconfig });
    expect(error.code).toBe('Credentials');
    expect(error.message).toContain(`the exec plug-in ./plugin ${message}`);
    expect(error.message).toContain(`(context a of ${kubeconfig})`);
  });

  it('that are not installed are named in the error, with their install hint', async () => {
    const user = { token: undefined, exec: execOf({ command: 'no-such-plugin' }) };
    const error = await failing({ kubeconfig: fileWith(text({ user })) });
    expect(error.message).toContain(
      'the exec plug-in no-such-plugin is not installed: get it at example.com',
    );
  });
});

function execOf(more: object): object {
  return {
    apiVersion: 'client.authentication.k8s.io/v1',
    args: ['token'],
    interactiveMode: 'Never',
    installHint: 'get it at example.com',
    ...more,
  };
}

function credential(status: object): string {
  return `cat <<'END'\n${JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status })}\nEND`;
}

/** A plug-in that counts its runs and returns this status; `body` may be any shell script. */
function plugin(
  body: string,
  server = 'https://c.example:6443',
): { readonly kubeconfig: string; readonly runs: () => number } {
  const kubeconfig = fileWith(
    text({ cluster: { server }, user: { token: undefined, exec: execOf({ command: './plugin' }) } }),
  );
  const log = join(kubeconfig, '..', 'runs');
  writeFileSync(log, '');
  const script = join(kubeconfig, '..', 'plugin');
  writeFileSync(script, `#!/bin/sh\necho run >> ${log}\n${body}\n`);
  chmodSync(script, 0o755);
  return { kubeconfig, runs: () => readFileSync(log, 'utf8').split('\n').length - 1 };
}
