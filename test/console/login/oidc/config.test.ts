import { describe, expect, it } from 'vitest';
import { parseOidcFile } from '../../../../src/console/login/oidc/config.ts';

const least = 'issuer: https://login.example.com/realms/ops\nclientId: kubenode-console\n';

describe('parseOidcFile', () => {
  it('needs an issuer and a client, and has no more scopes by default', () => {
    expect(parseOidcFile(least, 'oidc.yaml')).toEqual({
      issuer: 'https://login.example.com/realms/ops',
      clientId: 'kubenode-console',
      scopes: [],
    });
  });

  it('names the files of the secret and of the authority beside it', () => {
    const text = `${least}clientSecretFile: client-secret\ncaFile: ca.crt\nscopes: [groups, offline_access]`;
    expect(parseOidcFile(text, 'oidc.yaml')).toMatchObject({
      clientSecretFile: 'client-secret',
      caFile: 'ca.crt',
      scopes: ['groups', 'offline_access'],
    });
  });

  it.each([
    ['an issuer without TLS', least.replace('https', 'http'), 'issuer: expected an https URL'],
    ['an issuer with a query', least.replace('ops', 'ops?a=b'), 'issuer: expected a URL without query'],
    ['no client', 'issuer: https://login.example.com\n', 'clientId'],
    ['a secret in the file itself', `${least}clientSecret: hidden`, 'clientSecret'],
    [
      'a file elsewhere',
      `${least}clientSecretFile: /etc/passwd`,
      'clientSecretFile: expected the name of a file',
    ],
    ['a file above', `${least}caFile: ../ca.crt`, 'caFile: expected the name of a file'],
    ['two scopes in one', `${least}scopes: [groups email]`, 'scopes.0: expected the name of a scope'],
    ['a list', '- a', 'expected object'],
    ['broken YAML', '{', 'not valid'],
  ])('refuses %s, with the field', (_, text, message) => {
    expect(() => parseOidcFile(text, 'oidc.yaml')).toThrow(message);
    expect(() => parseOidcFile(text, 'oidc.yaml')).toThrow(
      expect.objectContaining({ where: 'oidc.yaml' }) as Error,
    );
  });
});
