import { describe, expect, it } from 'vitest';
import { manifestsFor, parseOciDocument } from '../../../src/os/oci/manifest.ts';

const descriptor = (digest: string, fields = {}): object => ({ mediaType: 'm', digest, size: 1, ...fields });

describe('parseOciDocument', () => {
  it('reads the layers of a manifest', () => {
    const text = JSON.stringify({ config: {}, layers: [descriptor('a'), descriptor('b')] });
    expect(parseOciDocument(text, 'x')).toEqual({
      type: 'Manifest',
      layers: [
        { mediaType: 'm', digest: 'a', size: 1 },
        { mediaType: 'm', digest: 'b', size: 1 },
      ],
    });
  });

  it.each([
    'no JSON',
    '[]',
    'null',
    '{}',
    '{"layers": [{"digest": 1}]}',
    '{"manifests": [{}]}',
    // Of the first version of Docker's manifests.
    '{"schemaVersion": 1, "fsLayers": []}',
  ])('refuses %s', (text) => {
    expect(() => parseOciDocument(text, 'registry/a')).toThrow(
      'registry/a is neither a manifest nor an index',
    );
  });
});

it('chooses the manifests of an index for a platform, then those for every platform', () => {
  const amd64 = { platform: { os: 'linux', architecture: 'amd64' } };
  const arm64 = { platform: { os: 'linux', architecture: 'arm64' } };
  const manifests = [descriptor('any'), descriptor('amd64', amd64), descriptor('arm64', arm64)];
  const index = parseOciDocument(JSON.stringify({ manifests }), 'x');
  const indexed = index.type === 'Index' ? index.manifests : [];
  const chosen = (os: string, arch: string): readonly string[] =>
    manifestsFor(indexed, { os, arch }).map(({ digest }) => digest);
  expect(chosen('linux', 'arm64')).toEqual(['arm64', 'any']);
  expect(chosen('linux', 'riscv64')).toEqual(['any']);
  expect(chosen('darwin', 'arm64')).toEqual(['any']);
});
