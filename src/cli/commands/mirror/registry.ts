/**
 * A mirror in a repository of a registry. Each artifact has a manifest with a tag, so that the registry does not collect it as garbage; hosts
 * ask for the content by its digest.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, realpath, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { OsError } from '../../../os/errors.ts';
import { HttpFailure } from '../../../os/net/http.ts';
import { OCI_MANIFEST } from '../../../os/oci/manifest.ts';
import { type OciReference, registryOrigin } from '../../../os/oci/reference.ts';
import { authorize, type RegistryOptions } from '../../../os/oci/registry.ts';
import type { MirrorTarget } from './target.ts';

const ARTIFACT_TYPE = 'application/vnd.kubenode.artifact.v1';
const CONTENT_TYPE = 'application/octet-stream';
const EMPTY = Buffer.from('{}');
const EMPTY_TYPE = 'application/vnd.oci.empty.v1+json';

const UNAUTHORIZED = 401;

type SentHeaders = Readonly<Record<string, string>>;

/** The requests that push one artifact. */
interface PushSession {
  /** The authorization that the registry asked for. */
  headers: SentHeaders;
}

/** A request that can be sent twice. */
interface PushRequest {
  readonly method: string;
  readonly headers?: SentHeaders;
  readonly body?: string;
}

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

  async function send(url: string | URL, init: RequestInit): Promise<Response> {
    const { signal } = options;
    return await fetch(url, { ...init, redirect: 'manual', ...(signal && { signal }) }).catch(
      (error: unknown) => {
        signal?.throwIfAborted();
        throw pushError(registry, 'does not answer', error);
      },
    );
  }

  /** Asks without credentials first. What the registry then asks for is kept for the next requests of the session. */
  async function ask(session: PushSession, path: string, init: PushRequest): Promise<Response> {
    const request = (): Promise<Response> =>
      send(`${base}/${path}`, { ...init, headers: { ...init.headers, ...session.headers } });
    const response = await request();
    if (response.status !== UNAUTHORIZED) return response;
    await response.body?.cancel();
    const { status, headers } = response;
    const failure = new HttpFailure(`the registry answered ${status}`, false, { status, headers });
    session.headers = { authorization: await authorize(failure, place, options) };
    return await request();
  }

  async function exists(session: PushSession, path: string, headers: SentHeaders = {}): Promise<boolean> {
    const { status } = await ask(session, path, { method: 'HEAD', headers });
    // A registry whose content is at a store of files redirects to it.
    if (status === 200 || isRedirect(status)) return true;
    if (status === 404) return false;
    throw pushError(registry, `answered ${status}`);
  }

  async function pushContent(session: PushSession, { sha256, size, open }: PushedContent): Promise<void> {
    if (await exists(session, `blobs/sha256:${sha256}`)) return;
    const begun = await ask(session, 'blobs/uploads/', { method: 'POST' });
    await requireStatus(registry, begun, 202);
    const upload = new URL(begun.headers.get('location') ?? '', `${base}/blobs/uploads/`);
    upload.searchParams.set('digest', `sha256:${sha256}`);
    const own = upload.origin === origin ? session.headers : {};
    const sent = { ...own, 'content-type': CONTENT_TYPE, 'content-length': String(size) };
    const request = { method: 'PUT', headers: sent, body: open(), duplex: 'half' };
    await requireStatus(registry, await send(upload, request as RequestInit), 201);
  }

  async function pushManifest(session: PushSession, sha256: string, size: number): Promise<void> {
    const config = { mediaType: EMPTY_TYPE, digest: `sha256:${digestOf(EMPTY)}`, size: EMPTY.length };
    const layers = [{ mediaType: CONTENT_TYPE, digest: `sha256:${sha256}`, size }];
    const manifest = {
      schemaVersion: 2,
      mediaType: OCI_MANIFEST,
      artifactType: ARTIFACT_TYPE,
      config,
      layers,
    };
    const headers = { 'content-type': OCI_MANIFEST };
    const request = { method: 'PUT', headers, body: JSON.stringify(manifest) };
    await requireStatus(registry, await ask(session, `manifests/${tagOf(sha256)}`, request), 201);
  }

  return {
    url: `oci://${registry}/${repository}`,
    partialFolder: await realpath(cache),
    async has(sha256) {
      // The manifest is pushed last, and a registry accepts none whose content is missing.
      return await exists({ headers: {} }, `manifests/${tagOf(sha256)}`, { accept: OCI_MANIFEST });
    },
    async put(sha256, file) {
      // A token may end while a large file is downloaded: each artifact begins without one.
      const session: PushSession = { headers: {} };
      const { size } = await stat(file);
      const content = (): RequestInit['body'] => Readable.toWeb(createReadStream(file));
      await pushContent(session, { sha256, size, open: content });
      const empty = { sha256: digestOf(EMPTY), size: EMPTY.length, open: () => EMPTY };
      await pushContent(session, empty);
      await pushManifest(session, sha256, size);
      await rm(file);
    },
  };
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
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
