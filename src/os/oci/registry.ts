/** Reads a registry by the distribution specification: content by digest, with the authorization that the registry asks for. */
import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { OsError } from '../errors.ts';
import { type FetchResponse, HttpFailure, openUrl, readAnswerBody } from '../net/http.ts';
import { mayAskForToken, parseChallenge, type RegistryChallenge } from './challenge.ts';
import type { RegistryCredentials } from './credentials.ts';
import {
  MANIFEST_ACCEPT,
  manifestsFor,
  type OciDescriptor,
  type OciPlatform,
  parseOciDocument,
} from './manifest.ts';
import { type OciReference, registryOrigin } from './reference.ts';

export interface RegistryOptions {
  readonly clock: Clock;
  readonly credentials: RegistryCredentials;
  readonly signal?: AbortSignal | undefined;
}

export interface RegistryReader {
  /** Opens the content with that SHA-256 in hex. The caller verifies it. */
  openBlob(sha256: string, headers: Readonly<Record<string, string>>): Promise<FetchResponse>;
  /** Requires that the manifest of the reference lists the content for the platform. Returns how it does. */
  findLayer(manifest: string, sha256: string, platform: OciPlatform): Promise<OciDescriptor>;
}

/** The limit of the distribution specification for manifests. */
const MAX_MANIFEST_BYTES = 4 * 1024 ** 2;
const MAX_TOKEN_BYTES = 1024 ** 2;
const UNAUTHORIZED = 401;

export function createRegistryReader(
  { registry, repository }: OciReference,
  options: RegistryOptions,
): RegistryReader {
  const origin = registryOrigin(registry);
  const get = createAuthorizedGet({ origin, registry, scope: `repository:${repository}:pull` }, options);

  async function readManifest(digest: string): Promise<ReturnType<typeof parseOciDocument>> {
    const url = `${origin}/v2/${repository}/manifests/${digest}`;
    const text = await readAnswerBody(await get(url, { accept: MANIFEST_ACCEPT }), MAX_MANIFEST_BYTES);
    const found = `sha256:${createHash('sha256').update(text).digest('hex')}`;
    if (found === digest) {
      return parseOciDocument(text.toString('utf8'), `${registry}/${repository}@${digest}`);
    }
    throw new OsError(
      'Checksum',
      `the registry answered a manifest with digest ${found}, expected ${digest}`,
      {
        where: url,
        hint: 'check the registry, or a proxy in between',
      },
    );
  }

  return {
    openBlob: (sha256, headers) => get(`${origin}/v2/${repository}/blobs/sha256:${sha256}`, headers),
    async findLayer(manifest, sha256, platform) {
      const document = await readManifest(manifest);
      const digests =
        document.type === 'Index'
          ? manifestsFor(document.manifests, platform).map(({ digest }) => digest)
          : [];
      const documents = [document];
      for (const digest of digests) documents.push(await readManifest(digest));
      const layers = documents.flatMap((each) => (each.type === 'Manifest' ? each.layers : []));
      const found = layers.find(({ digest }) => digest === `sha256:${sha256}`);
      if (found) return found;
      const listed = layers.map(({ digest }) => digest).join(', ') || 'no layer';
      const place = `${registry}/${repository}@${manifest}`;
      throw new OsError(
        'Download',
        `${place} does not list sha256:${sha256} for ${platform.os}/${platform.arch}: it lists ${listed}`,
        { where: place, hint: 'correct sha256 of the artifact: it is the digest of a layer' },
      );
    },
  };
}

export interface AuthorizedPlace {
  readonly origin: string;
  readonly registry: string;
  readonly scope: string;
}

/** Asks without credentials first: most registries are read by everyone. Keeps what the registry then asked for. */
export function createAuthorizedGet(
  place: AuthorizedPlace,
  options: RegistryOptions,
): (url: string, headers: Readonly<Record<string, string>>) => Promise<FetchResponse> {
  const { clock, signal } = options;
  let authorization: string | undefined;
  return async (url, headers) => {
    const open = (): Promise<FetchResponse> =>
      openUrl(url, { clock, signal, headers: { ...headers, ...(authorization && { authorization }) } });
    try {
      return await open();
    } catch (error) {
      authorization = await authorize(error, place, options);
      return await open().catch((again: unknown) => {
        throw isUnauthorized(again) ? refused(place.registry, again) : again;
      });
    }
  };
}

/** Returns the value of the header Authorization that an answer asks for. Throws any other failure again. */
export async function authorize(
  failure: unknown,
  place: AuthorizedPlace,
  { clock, credentials, signal }: RegistryOptions,
): Promise<string> {
  if (!isUnauthorized(failure)) throw failure;
  const challenge = parseChallenge(failure.headers?.get('www-authenticate') ?? '', place.scope);
  const basic = credentials.authorizationFor(place.registry);
  if (challenge?.scheme === 'Bearer') {
    return `Bearer ${await askForToken(challenge, place, { clock, signal, basic })}`;
  }
  if (challenge && basic !== undefined) return basic;
  throw refused(place.registry, failure);
}

async function askForToken(
  { realm, query }: Extract<RegistryChallenge, { scheme: 'Bearer' }>,
  { origin, registry }: AuthorizedPlace,
  { basic, ...options }: Omit<RegistryOptions, 'credentials'> & { readonly basic: string | undefined },
): Promise<string> {
  if (!mayAskForToken(origin, realm)) {
    throw new HttpFailure(`${registry} names a server of tokens without TLS`, false);
  }
  const url = `${realm}${realm.includes('?') ? '&' : '?'}${query}`;
  const headers = basic === undefined ? {} : { authorization: basic };
  const answer = await openUrl(url, { ...options, headers }).catch((error: unknown) => {
    throw isUnauthorized(error) ? refused(registry, error) : error;
  });
  const text = (await readAnswerBody(answer, MAX_TOKEN_BYTES)).toString('utf8');
  const token = tokenIn(text);
  if (token !== undefined) return token;
  throw new HttpFailure(`the server of tokens of ${registry} answered without a token`, false);
}

function tokenIn(text: string): string | undefined {
  try {
    const { token, access_token: accessToken } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const found = token ?? accessToken;
    return typeof found === 'string' && found !== '' ? found : undefined;
  } catch {
    return undefined;
  }
}

function isUnauthorized(error: unknown): error is HttpFailure {
  return error instanceof HttpFailure && error.status === UNAUTHORIZED;
}

function refused(registry: string, cause: unknown): HttpFailure {
  const message = `${registry} requires other credentials than this host has for it`;
  return new HttpFailure(message, false, { status: UNAUTHORIZED, cause });
}
