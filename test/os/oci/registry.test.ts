import { describe, expect, it } from 'vitest';
import {
  NO_CREDENTIALS,
  parseCredentials,
  type RegistryCredentials,
} from '../../../src/os/oci/credentials.ts';
import { parseOciUrl } from '../../../src/os/oci/reference.ts';
import { createRegistryReader, type RegistryReader } from '../../../src/os/oci/registry.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import {
  BASIC,
  noRegistryReason,
  PASSWORD,
  pushArtifact,
  pushIndex,
  startRegistry,
  type TestRegistry,
} from '../../support/registry.ts';

const clock = createSystemClock();
const AMD64 = { os: 'linux', arch: 'amd64' };

function reader({ name }: TestRegistry, credentials: RegistryCredentials = NO_CREDENTIALS): RegistryReader {
  const reference = parseOciUrl(`oci://${name}/tools/web`);
  if (!reference) throw new Error('expected a reference');
  return createRegistryReader(reference, { clock, credentials });
}

function known({ name }: TestRegistry, auth = BASIC): RegistryCredentials {
  return parseCredentials(JSON.stringify({ auths: { [name]: { auth } } }), 'f');
}

async function textOf(registry: RegistryReader, sha256: string, headers = {}): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of (await registry.openBlob(sha256, headers)).body) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

describe.skipIf(noRegistryReason)(`a registry${noRegistryReason ? ` (${noRegistryReason})` : ''}`, () => {
  it('gives content by its digest, and the rest of it', async () => {
    const registry = await startRegistry();
    const sha256 = await registry.pushBlob('tools/web', Buffer.from('content'));
    expect(await textOf(reader(registry), sha256)).toBe('content');
    const answer = await reader(registry).openBlob(sha256, {});
    const etag = answer.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"sha256:/);
    expect(await textOf(reader(registry), sha256, { range: 'bytes=3-', 'if-range': etag })).toBe('tent');
    await expect(reader(registry).openBlob('0'.repeat(64), {})).rejects.toMatchObject({ status: 404 });
  });

  it('lists a layer in a manifest, and in an index for the platform', async () => {
    const registry = await startRegistry();
    const amd64 = await pushArtifact(registry, 'tools/web', [Buffer.from('amd64'), Buffer.from('both')]);
    const arm64 = await pushArtifact(registry, 'tools/web', [Buffer.from('arm64')]);
    const index = await pushIndex(registry, 'tools/web', [
      { ...amd64, arch: 'amd64' },
      { ...arm64, arch: 'arm64' },
    ]);
    const found = await reader(registry).findLayer(index, amd64.layers[1] ?? '', AMD64);
    expect(found).toMatchObject({ size: 4, mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip' });
    expect(await reader(registry).findLayer(arm64.digest, arm64.layers[0] ?? '', AMD64)).toMatchObject({
      size: 5,
    });
    await expect(reader(registry).findLayer(index, arm64.layers[0] ?? '', AMD64)).rejects.toThrow(
      `${registry.name}/tools/web@${index} does not list sha256:${arm64.layers[0]} for linux/amd64: it lists sha256:${amd64.layers[0]}, sha256:${amd64.layers[1]}`,
    );
  });

  it('with Basic authorization needs the right credentials, and shows none', async () => {
    const registry = await startRegistry('Basic');
    const sha256 = await registry.pushBlob('tools/web', Buffer.from('content'));
    expect(await textOf(reader(registry, known(registry)), sha256)).toBe('content');
    const wrong = Buffer.from(`reader:not-${PASSWORD}`).toString('base64');
    for (const credentials of [NO_CREDENTIALS, known(registry, wrong)]) {
      await expect(reader(registry, credentials).openBlob(sha256, {})).rejects.toMatchObject({
        message: `${registry.name} requires other credentials than this host has for it`,
        retryable: false,
      });
    }
  });

  it('with Bearer authorization gets a token for the repository, once', async () => {
    const registry = await startRegistry('Bearer');
    const artifact = await pushArtifact(registry, 'tools/web', [Buffer.from('content')]);
    const [sha256 = ''] = artifact.layers;
    const web = reader(registry, known(registry));
    await web.findLayer(artifact.digest, sha256, AMD64);
    expect(await textOf(web, sha256)).toBe('content');
    const query = `?service=${encodeURIComponent(registry.name)}&scope=repository%3Atools%2Fweb%3Apull`;
    expect(registry.tokenRequests).toEqual([{ query, authorization: `Basic ${BASIC}` }]);
    await expect(reader(registry).openBlob(sha256, {})).rejects.toThrow(
      `${registry.name} requires other credentials than this host has for it`,
    );
  });
});
