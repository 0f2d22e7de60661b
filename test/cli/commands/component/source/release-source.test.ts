import { describe, expect, it } from 'vitest';
import { declarationsIn } from '../../../../../src/cli/commands/component/source/declarations.ts';
import {
  releaseSourceOf,
  type SourceInput,
} from '../../../../../src/cli/commands/component/source/release-source.ts';

const MIRROR = 'https://mirror.example.com/{version}/{arch}';
const PUBLISHER = 'https://publisher.example.com/{version}/{arch}';
const CATALOG: SourceInput['catalog'] = {
  url: PUBLISHER,
  checksums: '{url}.sha256',
  format: 'Raw',
  index: { kind: 'Kubernetes' },
};

function declared(url: string, versions = '{}', more = ''): SourceInput['declaration'] {
  const text = `componentReleases({ component: 'web', url: '${url}', ${more} versions: ${versions} })`;
  return declarationsIn([{ path: 'a.ts', text }]).releases[0];
}

function sourceOf(input: Partial<SourceInput>): unknown {
  const { source, problem } = releaseSourceOf({
    component: 'web',
    version: '1.2.0',
    declaration: undefined,
    catalog: undefined,
    url: undefined,
    checksums: undefined,
    architectures: undefined,
    ...input,
  });
  return problem ?? source;
}

describe('releaseSourceOf', () => {
  const both = ['amd64', 'arm64'];
  const none = { checksums: undefined, architectures: both, ownUrl: undefined };

  it.each([
    ['that of the catalog', { catalog: CATALOG }, { ...none, url: PUBLISHER, checksums: '{url}.sha256' }],
    [
      'that of the declaration, before the catalog',
      { catalog: CATALOG, declaration: declared(MIRROR) },
      { ...none, url: MIRROR },
    ],
    [
      'that of the declaration, with its checksums',
      { declaration: declared(MIRROR, '{}', "checksums: '{url}.sum',") },
      { ...none, url: MIRROR, checksums: '{url}.sum' },
    ],
    [
      'that of the catalog, which is declared',
      { catalog: CATALOG, declaration: declared(PUBLISHER) },
      { ...none, url: PUBLISHER, checksums: '{url}.sha256' },
    ],
    [
      'that of the person, for this version only and without other checksums',
      {
        url: 'https://new.example.com/{arch}',
        declaration: declared(MIRROR, '{}', "checksums: '{url}.sum',"),
      },
      { ...none, url: 'https://new.example.com/{arch}', ownUrl: 'https://new.example.com/{arch}' },
    ],
    [
      'that of the entry',
      { declaration: declared(MIRROR, `{ '1.2.0': { url: '${PUBLISHER}', amd64: 'a' } }`) },
      { ...none, url: PUBLISHER, ownUrl: PUBLISHER, architectures: ['amd64'] },
    ],
  ])('takes the URL: %s', (_, input, expected) => {
    expect(sourceOf(input)).toEqual(expected);
  });

  it.each([
    ['those of the other versions', {}, `{ '1.1.0': { arm64: 'a' }, '1.0.0': { arm64: 'a' } }`, ['arm64']],
    ['those of the same version', {}, `{ '1.2.0': { amd64: 'a' }, '1.0.0': { arm64: 'a' } }`, ['amd64']],
    ['those of the person', { architectures: ['arm64'] as const }, `{ '1.1.0': { amd64: 'a' } }`, ['arm64']],
    ['all', {}, '{}', both],
  ])('takes the architectures: %s', (_, input, versions, architectures) => {
    expect(sourceOf({ declaration: declared(MIRROR, versions), ...input })).toMatchObject({ architectures });
  });

  it('takes a URL without a version for a version that is declared with it', () => {
    const url = 'https://example.com/web-1.2.0-{arch}';
    expect(sourceOf({ declaration: declared(url, `{ '1.2.0': { amd64: 'a', arm64: 'b' } }`) })).toEqual({
      ...none,
      url,
    });
  });

  it.each([
    [{}, 'no URL of web is known: name it with --url, such as'],
    [
      { url: 'ftp://example.com/{arch}' },
      'expected a URL that begins with https:// or http://, got "ftp://example.com/amd64"',
    ],
    [{ url: 'https://example.com/{os}/{arch}' }, 'expected {version} and {arch} as placeholders, found {os}'],
    [{ url: 'https://me:secret@example.com/{arch}' }, 'a URL in git must not contain a user or a password'],
    [{ url: "https://example.com/{arch}', x: '" }, 'a URL in TypeScript must not contain "\'"'],
    [
      { url: 'https://example.com/web' },
      'expected {arch} in the URL, because the release has files for amd64 and arm64',
    ],
    [
      { url: 'https://example.com/web-1.2.0-{arch}' },
      'expected {version} in the URL, because each version has its own files: https://example.com/web-1.2.0-{arch}',
    ],
    [
      { declaration: declared('https://example.com/{arch}', `{ '1.1.0': { amd64: 'a', arm64: 'b' } }`) },
      'expected {version} in the URL, because each version has its own files: https://example.com/{arch}',
    ],
    [{ url: '{url}/{arch}' }, 'expected {version} and {arch} as placeholders, found {url}'],
    [{ url: 'https://example.com/{version}/{arch' }, 'as placeholders, found {arch'],
    [{ url: 'https://example.com/version}/{arch}' }, 'as placeholders, found }'],
    [
      { url: 'https://example.com/{version}/%zz/{arch}' },
      'expected two hexadecimal digits after "%", found %zz',
    ],
    [
      { url: PUBLISHER, checksums: '{ulr}.sha256' },
      'the URL of the checksum file: expected {version}, {arch} and {url} as placeholders, found {ulr}',
    ],
    [
      { url: PUBLISHER, checksums: 'sums/{version}' },
      'the URL of the checksum file: expected a URL that begins with https:// or http://, got "sums/1.0.0"',
    ],
  ])('reports a problem of %j', (input, problem) => {
    expect(sourceOf(input)).toContain(problem);
  });
});
