/**
 * A mirror in a repository of a registry. Each artifact has a manifest with a tag, so that the registry does not collect it as garbage; hosts
 * ask for the content by its digest.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { OsError } from '../../../os/errors.ts';
import { openUrl } from '../../../os/net/http.ts';
import { OCI_MANIFEST } from '../../../os/oci/manifest.ts';
import { type OciReference, registryOrigin } from '../../../os/oci/reference.ts';
import { type AuthorizedPlace, authorize, type RegistryOptions } from '../../../os/oci/registry.ts';
import type { MirrorTarget } from './target.ts';

const ARTIFACT_TYPE = 'application/vnd.kubenode.artifact.v1';
const CONTENT_TYPE = 'application/octet-stream';
const EMPTY = Buffer.from('{}');
const EMPTY_TYPE = 'application/vnd.oci.empty.v1+json';

type SentHeaders = Readonly<Record<string, string>>;

interface PushedContent {
  readonly sha256: string;
  readonly size: number;
  readonly open: () => RequestInit['body'];
}

/** `cache` is the folder for files on their way. */
export async function openMirrorRegistry(
  { registry, repository }: OciReference,
  cache: string,
  options: RegistryOptions,
): Promise<MirrorTarget> {
  await mkdir(cache, { recursive: true });
  const origin = registryOrigin(registry);
  const base = `${origin}/v2/${repository}`;
  const place = { origin, registry, scope: `repository:${repository}:pull,push` };

  /** A token may end while a large file is pushed: each artifact begins with a new one. */
  const authorization = (): Promise<SentHeaders> => authorizationFor(place, options);

  async function send(url: string | URL, init: RequestInit): Promise<Response> {
    const { signal } = options;
    return await fetch(url, { ...init, redirect: 'error', ...(signal && { signal }) }).catch(
      (error: unknown) => {
        signal?.throwIfAborted();
        throw pushError(registry, 'does not answer', error);
      },
    );
  }

  async function exists(path: string, headers: SentHeaders): Promise<boolean> {
    const { status } = await send(`${base}/${path}`, { method: 'HEAD', headers });
    if (status === 200 || status === 404) return status === 200;
    throw pushError(registry, `answered ${status}`);
  }

  async function pushContent({ sha256, size, open }: PushedContent, headers: SentHeaders): Promise<void> {
    if (await exists(`blobs/sha256:${sha256}`, headers)) return;
    const begun = await send(`${base}/blobs/uploads/`, { method: 'POST', headers });
    await requireStatus(registry, begun, 202);
    const upload = new URL(begun.headers.get('location') ?? '', `${base}/blobs/uploads/`);
    upload.searchParams.set('digest', `sha256:${sha256}`);
    const own = upload.origin === origin ? headers : {};
    const sent = { ...own, 'content-type': CONTENT_TYPE, 'content-length': String(size) };
    const request = { method: 'PUT', headers: sent, body: open(), duplex: 'half' };
    await requireStatus(registry, await send(upload, request as RequestInit), 201);
  }

  async function pushManifest(sha256: string, size: number, headers: SentHeaders): Promise<void> {
    const config = { mediaType: EMPTY_TYPE, digest: `sha256:${digestOf(EMPTY)}`, size: EMPTY.length };
    const layers = [{ mediaType: CONTENT_TYPE, digest: `sha256:${sha256}`, size }];
    const manifest = {
      schemaVersion: 2,
      mediaType: OCI_MANIFEST,
      artifactType: ARTIFACT_TYPE,
      config,
      layers,
    };
    const sent = { ...headers, 'content-type': OCI_MANIFEST };
    const request = { method: 'PUT', headers: sent, body: JSON.stringify(manifest) };
    await requireStatus(registry, await send(`${base}/manifests/${tagOf(sha256)}`, request), 201);
  }

  return {
    url: `oci://${registry}/${repository}`,
    partialFile: (sha256) => join(cache, sha256),
    async has(sha256) {
      // The manifest is pushed last, and a registry accepts none whose content is missing.
      return await exists(`manifests/${tagOf(sha256)}`, { ...(await authorization()), accept: OCI_MANIFEST });
    },
    async put(sha256, file) {
      const headers = await authorization();
      const { size } = await stat(file);
      const content = (): RequestInit['body'] => Readable.toWeb(createReadStream(file));
      await pushContent({ sha256, size, open: content }, headers);
      const empty = { sha256: digestOf(EMPTY), size: EMPTY.length, open: () => EMPTY };
      await pushContent(empty, headers);
      await pushManifest(sha256, size, headers);
      await rm(file);
    },
  };
}

async function authorizationFor(place: AuthorizedPlace, options: RegistryOptions): Promise<SentHeaders> {
  const { clock, signal } = options;
  try {
    const { body } = await openUrl(`${place.origin}/v2/`, { clock, signal });
    for await (const _ of body);
    return {};
  } catch (error) {
    return { authorization: await authorize(error, place, options) };
  }
}

/** Returns the tag of an artifact, which is for the registry and for people. */
function tagOf(sha256: string): string {
  return `sha256-${sha256}`;
}

function digestOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

async function requireStatus(registry: string, response: Response, expected: number): Promise<void> {
  await response.body?.cancel();
  if (response.status !== expected) throw pushError(registry, `answered ${response.status}`);
}

function pushError(registry: string, what: string, cause?: unknown): OsError {
  return new OsError('Download', `the registry ${registry} ${what}`, {
    where: registry,
    hint: 'check the registry, and that the credentials permit a push to the repository',
    cause,
  });
}
