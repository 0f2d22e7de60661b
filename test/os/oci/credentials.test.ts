import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseCredentials, readCredentials } from '../../../src/os/oci/credentials.ts';
import { tempFolder } from '../../support/temp.ts';

const AUTH = Buffer.from('user:pass').toString('base64');

describe('parseCredentials', () => {
  it.each<[name: string, auths: object, registry: string, found: string | undefined]>([
    ['host and port', { 'registry.lan:5000': { auth: AUTH } }, 'registry.lan:5000', `Basic ${AUTH}`],
    ['another port', { 'registry.lan:5000': { auth: AUTH } }, 'registry.lan:5001', undefined],
    ['a URL', { 'https://registry.lan/v2/': { auth: AUTH } }, 'registry.lan', `Basic ${AUTH}`],
    ['name and password', { a: { username: 'user', password: 'pass' } }, 'a', `Basic ${AUTH}`],
    ['Docker Hub', { 'https://index.docker.io/v1/': { auth: AUTH } }, 'docker.io', `Basic ${AUTH}`],
    ['nothing', {}, 'a', undefined],
  ])('finds those of %s', (_name, auths, registry, found) => {
    expect(parseCredentials(JSON.stringify({ auths }), 'f').authorizationFor(registry)).toBe(found);
  });

  it.each([
    'no JSON',
    '{}',
    '{"auths": []',
    '{"auths": {"a": {"auth": "top secret\\n"}}}',
    '{"auths": {"a": {}}}',
    '{"auths": {"a": "top-secret"}}',
  ])('refuses %s, and shows nothing of it', (text) => {
    const error = (() => {
      try {
        return parseCredentials(text, '/etc/f') && '';
      } catch (caught) {
        return String(caught);
      }
    })();
    expect(error).toContain('expected {"auths": {"REGISTRY": {"auth": "BASE64"}}} in /etc/f');
    expect(error).not.toMatch(/top.secret/);
  });
});

describe('readCredentials', () => {
  it('takes a missing file for one without credentials', async () => {
    const none = await readCredentials(join(tempFolder(), 'none'));
    expect(none.authorizationFor('a')).toBeUndefined();
  });

  it('refuses a file that other users can read', async () => {
    const file = join(tempFolder(), 'registries.json');
    writeFileSync(file, JSON.stringify({ auths: { a: { auth: AUTH } } }), { mode: 0o600 });
    expect((await readCredentials(file)).authorizationFor('a')).toBe(`Basic ${AUTH}`);
    chmodSync(file, 0o640);
    await expect(readCredentials(file)).rejects.toMatchObject({
      code: 'NoAccess',
      message: `other users can read the credentials: ${file}`,
    });
  });
});
