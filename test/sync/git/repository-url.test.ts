import { describe, expect, it } from 'vitest';
import { fullRef, parseRepository } from '../../../src/sync/git/repository-url.ts';

describe('parseRepository', () => {
  it.each([
    ['https://git.example.com/platform/fleet', 'http', 'https://git.example.com/platform/fleet'],
    ['https://git.example.com/platform/fleet.git/', 'http', 'https://git.example.com/platform/fleet.git'],
    ['http://localhost:3000/fleet', 'http', 'http://localhost:3000/fleet'],
    ['http://127.0.0.1/fleet', 'http', 'http://127.0.0.1/fleet'],
    ['http://[::1]:3000/fleet', 'http', 'http://[::1]:3000/fleet'],
    ['ssh://git@git.example.com:2222/fleet', 'ssh', 'ssh://git@git.example.com:2222/fleet'],
    ['git@git.example.com:platform/fleet', 'ssh', 'git@git.example.com:platform/fleet'],
    ['git@git.example.com:/srv/fleet.git', 'ssh', 'git@git.example.com:/srv/fleet.git'],
    ['file:///srv/fleet.git', 'file', 'file:///srv/fleet.git'],
    ['/srv/fleet.git', 'file', 'file:///srv/fleet.git'],
  ])('accepts %s', (text, scheme, url) => {
    expect(parseRepository(text)).toMatchObject({ scheme, url });
  });

  it.each([
    ['http://git.example.com/fleet'],
    ['http://127.0.0.1.example.com/fleet'],
    ['git://git.example.com/fleet'],
    ['ftp://git.example.com/fleet'],
    ['https://ann:s3cret@git.example.com/fleet'],
    ['https://s3cret@git.example.com/fleet'],
    ['ssh://-oProxyCommand=touch/x'],
    ['ssh://-x@git.example.com/fleet'],
    ['-oProxyCommand=x@host:path'],
    ['ext::sh -c touch% /tmp/x'],
    ['../fleet'],
    ['fleet'],
    [''],
  ])('refuses %s with a hint and without its secret', (text) => {
    expect(() => parseRepository(text)).toThrow(
      expect.objectContaining({ code: 'BadUrl', hint: expect.any(String) as string }) as Error,
    );
    expect(() => parseRepository(text)).not.toThrow(/s3cret/);
  });

  it.each([
    ['main', 'refs/heads/main'],
    ['release/1.2', 'refs/heads/release/1.2'],
    ['refs/tags/v1.0', 'refs/tags/v1.0'],
    ['HEAD', 'HEAD'],
  ])('expands the ref %s', (ref, full) => {
    expect(fullRef(ref)).toBe(full);
  });
});
