/** Opens the source of a download: a file, a URL, or content of a registry. */
import { createReadStream } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../../os/clock.ts';
import { type FetchResponse, openUrl } from '../../../os/net/http.ts';
import { NO_CREDENTIALS, readCredentials } from '../../../os/oci/credentials.ts';
import type { OciPlatform } from '../../../os/oci/manifest.ts';
import { isOciUrl, OCI_URL_FORM, parseOciUrl } from '../../../os/oci/reference.ts';
import { createRegistryReader } from '../../../os/oci/registry.ts';
import { HostError } from '../errors.ts';

export interface DownloadSource {
  readonly url: string;
  readonly sha256: string | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The file with credentials of registries. Undefined: there are none. */
  readonly registriesFile: string | undefined;
  /** The platform of the content in an index; that of this machine by default. */
  readonly platform?: OciPlatform;
}

export async function openSource(
  source: DownloadSource,
  headers: Readonly<Record<string, string>>,
): Promise<FetchResponse> {
  const { url, clock, signal } = source;
  if (isOciUrl(url)) return await openInRegistry(source, headers);
  if (!url.startsWith('file:')) return await openUrl(url, { clock, signal, headers });
  const body = createReadStream(fileURLToPath(url), { signal });
  return { status: 200, length: undefined, headers: new Headers(), body };
}

async function openInRegistry(
  { url, sha256, clock, signal, registriesFile, platform = THIS_PLATFORM }: DownloadSource,
  headers: Readonly<Record<string, string>>,
): Promise<FetchResponse> {
  const reference = parseOciUrl(url);
  if (!reference || sha256 === undefined) {
    throw new HostError('Download', `expected ${OCI_URL_FORM}, got ${url}`, {
      where: url,
      hint: 'correct the URL of the artifact',
    });
  }
  const credentials = registriesFile === undefined ? NO_CREDENTIALS : await readCredentials(registriesFile);
  const registry = createRegistryReader(reference, { clock, credentials, signal });
  if (reference.manifest !== undefined) await registry.findLayer(reference.manifest, sha256, platform);
  return await registry.openBlob(sha256, headers);
}

/** Names as in an index of the OCI image specification. */
const THIS_PLATFORM = { os: process.platform, arch: process.arch === 'x64' ? 'amd64' : process.arch };
