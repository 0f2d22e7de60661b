import { describe, expect, it } from 'vitest';
import { parseBootstrapFile } from '../../../src/agent/identity/bootstrap-file.ts';

const FILE = '/etc/kubenode/bootstrap.json';

function errorOf(read: () => unknown): Error {
  try {
    read();
  } catch (error) {
    return error as Error;
  }
  throw new Error('expected an error');
}

function config(server: unknown, token: unknown, ca?: string): string {
  const cluster = { server, ...(ca === undefined ? {} : { 'certificate-authority-data': ca }) };
  return JSON.stringify({ clusters: [{ name: 'b', cluster }], users: [{ name: 'b', user: { token } }] });
}

function configOf(user: object): string {
  return JSON.stringify({ clusters: [{ cluster: { server: 'https://h' } }], users: [{ user }] });
}

describe('parseBootstrapFile', () => {
  it('reads server, CA and token', () => {
    const ca = Buffer.from('PEM').toString('base64');
    expect(parseBootstrapFile(config('https://10.0.0.1:6443', 'a.b', ca), FILE)).toEqual({
      server: 'https://10.0.0.1:6443',
      token: 'a.b',
      ca: 'PEM',
    });
    expect(parseBootstrapFile(config('https://h', 'a.b'), FILE)).toEqual({
      server: 'https://h',
      token: 'a.b',
    });
  });

  it('reads the files of the certificate of a kubelet, and a token before them', () => {
    const files = { 'client-certificate': '/pki/kubelet.pem', 'client-key': '/pki/kubelet.key' };
    expect(parseBootstrapFile(configOf(files), FILE)).toEqual({
      server: 'https://h',
      certFile: '/pki/kubelet.pem',
      keyFile: '/pki/kubelet.key',
    });
    expect(parseBootstrapFile(configOf({ ...files, token: 'a.b' }), FILE)).toEqual({
      server: 'https://h',
      token: 'a.b',
    });
  });

  it.each([
    ['a certificate without a key', configOf({ 'client-certificate': '/pki/kubelet.pem' })],
    ['YAML', 'apiVersion: v1\nkind: Config\ntoken: secret'],
    ['no server', config(undefined, 'secret')],
    ['a server without TLS', config('http://10.0.0.1', 'secret')],
    ['no token', config('https://10.0.0.1', undefined)],
    ['an empty object', '{}'],
  ])('refuses %s without a word of its content', (_, text) => {
    const error = errorOf(() => parseBootstrapFile(text, FILE));
    expect(error).toMatchObject({ code: 'BadInput', where: FILE });
    expect(error.message).toMatch(/^bootstrap file: expected a kubeconfig(?!.*secret)/);
  });
});
