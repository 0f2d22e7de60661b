import { describe, expect, it } from 'vitest';
import { isOciUrl, parseOciUrl, registryOrigin } from '../../../src/os/oci/reference.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;

describe('parseOciUrl', () => {
  it.each<[url: string, registry: string, repository: string, manifest?: string]>([
    ['oci://registry.example.com/containerd', 'registry.example.com', 'containerd'],
    ['oci://127.0.0.1:5000/a/b_c/d-e', '127.0.0.1:5000', 'a/b_c/d-e'],
    ['oci://[::1]:5000/a', '[::1]:5000', 'a'],
    ['oci://registry.example.com/node-exporter:1.8.2', 'registry.example.com', 'node-exporter'],
    [`oci://registry.example.com/a:1.8.2@${DIGEST}`, 'registry.example.com', 'a', DIGEST],
    [`oci://registry.example.com/a@${DIGEST}`, 'registry.example.com', 'a', DIGEST],
  ])('reads %s', (url, registry, repository, manifest) => {
    expect(parseOciUrl(url)).toEqual({ registry, repository, ...(manifest && { manifest }) });
  });

  it.each([
    'oci://registry.example.com',
    'oci://registry.example.com/',
    'oci://registry.example.com/Upper',
    'oci://registry.example.com/a/../b',
    'oci://user:password@registry.example.com/a',
    'oci://registry.example.com/a@sha256:abc',
    'oci://registry.example.com/a@sha512:abc',
    'oci://registry.example.com/a?x=1',
    'https://registry.example.com/a',
  ])('refuses %s', (url) => {
    expect(parseOciUrl(url)).toBeUndefined();
  });

  it('tells a URL of a registry from others, also one that is wrong', () => {
    expect(['oci://x', 'https://x', 'ocix://x'].map(isOciUrl)).toEqual([true, false, false]);
  });
});

describe('registryOrigin', () => {
  it.each([
    ['registry.example.com', 'https://registry.example.com'],
    ['10.0.0.5:5000', 'https://10.0.0.5:5000'],
    ['127.0.0.1:5000', 'http://127.0.0.1:5000'],
    ['[::1]:5000', 'http://[::1]:5000'],
    ['localhost', 'http://localhost'],
    ['localhost.example.com', 'https://localhost.example.com'],
    ['127.0.0.1.example.com', 'https://127.0.0.1.example.com'],
    ['docker.io', 'https://registry-1.docker.io'],
  ])('asks %s at %s: without TLS only on this machine', (registry, origin) => {
    expect(registryOrigin(registry)).toBe(origin);
  });
});
