/** Downloads official releases: Kubernetes programs as single files with a checksum each, etcd in an archive. */
import { chmod, link, mkdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { extractFile } from '../../os/extract.ts';
import { toDiskError } from '../../os/files.ts';
import { type DownloadContext, downloadFile, type FileDownload } from '../../os/net/download.ts';
import { fetchText, HttpFailure, withProxy } from '../../os/net/http.ts';
import { LocalError } from '../errors.ts';
import type { LocalEnvironment } from '../folders.ts';
import type { Program } from '../processes/commands.ts';
import { type Binaries, releaseCacheFolder } from './binaries.ts';
import { readCacheEntry, writeCacheEntry } from './cache.ts';
import type { Platform } from './platform.ts';
import { CONTROL_PLANE_VERSION, ETCD_VERSION } from './versions.ts';

const KUBE_SITE = 'https://dl.k8s.io/release';
const ETCD_SITE = 'https://github.com/etcd-io/etcd/releases/download';

/** Mirrors with the same paths, for networks without access to these sites. */
export const KUBE_SITE_VARIABLE = 'KUBENODE_KUBE_DOWNLOADS';
export const ETCD_SITE_VARIABLE = 'KUBENODE_ETCD_DOWNLOADS';

export interface ReleaseRequest extends DownloadContext {
  readonly env: LocalEnvironment;
  readonly cache: string;
  readonly platform: Platform;
  readonly programs: readonly Program[];
}

export async function downloadRelease(request: ReleaseRequest): Promise<Binaries> {
  const { cache, platform, programs, env } = request;
  const folder = releaseCacheFolder(cache, platform);
  const cached = (await readCacheEntry(folder)) ?? new Set<string>();
  const downloads = join(cache, 'downloads');
  await mkdir(downloads, { recursive: true }).catch((error: unknown) => {
    throw toDiskError(error, downloads);
  });
  await withProxy(env, () =>
    writeCacheEntry(folder, 'official release', async (temporary) => {
      for (const name of cached) await link(join(folder, name), join(temporary, name));
      for (const name of programs.filter((program) => !cached.has(program))) {
        await fetchProgram(name, join(temporary, name), { ...request, downloads });
      }
    }),
  );
  return { folder, origin: `official release (${folder})` };
}

interface DownloadRequest extends ReleaseRequest {
  readonly downloads: string;
}

async function fetchProgram(name: Program, to: string, request: DownloadRequest): Promise<void> {
  if (name === 'etcd') await fetchEtcd(to, request);
  else await fetchFile(await findKubeFile(name, request), to, request);
  await chmod(to, 0o755);
}

async function findKubeFile(
  name: Program,
  request: DownloadRequest,
): Promise<Pick<FileDownload, 'url' | 'sha256'>> {
  const site = request.env[KUBE_SITE_VARIABLE] ?? KUBE_SITE;
  const url = `${site}/${CONTROL_PLANE_VERSION}/bin/linux/${request.platform.goArch}/${name}`;
  return { url, sha256: parseChecksum(await readText(`${url}.sha256`, request), `${url}.sha256`) };
}

async function fetchEtcd(to: string, request: DownloadRequest): Promise<void> {
  const site = request.env[ETCD_SITE_VARIABLE] ?? ETCD_SITE;
  const archive = `etcd-${ETCD_VERSION}-linux-${request.platform.goArch}.tar.gz`;
  const sums = `${site}/${ETCD_VERSION}/SHA256SUMS`;
  const line = (await readText(sums, request))
    .split('\n')
    .find((text) => text.trim().endsWith(` ${archive}`));
  const archiveFile = `${to}.tar.gz`;
  const url = `${site}/${ETCD_VERSION}/${archive}`;
  await fetchFile({ url, sha256: parseChecksum(line ?? '', sums) }, archiveFile, request);
  await extractFile(archiveFile, 'etcd', to);
  await rm(archiveFile);
}

async function fetchFile(
  file: Pick<FileDownload, 'url' | 'sha256'>,
  to: string,
  request: DownloadRequest,
): Promise<void> {
  const part = join(request.downloads, `${basename(file.url)}-${file.sha256}.part`);
  await downloadFile({ ...file, to, part }, request);
}

async function readText(url: string, request: DownloadRequest): Promise<string> {
  try {
    return await fetchText(url, request);
  } catch (error) {
    if (!(error instanceof HttpFailure)) throw error;
    throw new LocalError('Download', `download of ${url} failed: ${error.message}`, {
      where: url,
      hint: `check the network, or set mirrors in ${KUBE_SITE_VARIABLE} and ${ETCD_SITE_VARIABLE}`,
      cause: error,
    });
  }
}

function parseChecksum(text: string, url: string): string {
  const found = /^[0-9a-f]{64}\b/.exec(text.trim())?.[0];
  if (found) return found;
  throw new LocalError('Download', `no checksum found in ${url}`, {
    where: url,
    hint: 'check the response of that URL: it may be the login page of a proxy',
  });
}
