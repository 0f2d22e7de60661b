/** The official releases: kube programs as single files with a checksum beside each, etcd in an archive. */
import { chmod, link, mkdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { extractFile } from '../../os/archive.ts';
import { type DownloadContext, downloadFile, type FileDownload } from '../../os/download.ts';
import { toDiskError } from '../../os/files.ts';
import { fetchText, HttpFailure, withProxy } from '../../os/http.ts';
import { LocalError } from '../errors.ts';
import type { Environment } from '../folders.ts';
import type { Program } from '../processes/commands.ts';
import { type Binaries, releaseFolder } from './binaries.ts';
import { readEntry, writeEntry } from './cache.ts';
import type { Platform } from './platform.ts';
import { ETCD_VERSION, KUBERNETES_VERSION } from './versions.ts';

const KUBE_SITE = 'https://dl.k8s.io/release';
const ETCD_SITE = 'https://github.com/etcd-io/etcd/releases/download';

/** Mirrors with the same paths below; for networks that do not reach the sites themselves. */
export const KUBE_SITE_VARIABLE = 'KUBENODE_KUBE_DOWNLOADS';
export const ETCD_SITE_VARIABLE = 'KUBENODE_ETCD_DOWNLOADS';

export interface ReleaseRequest extends DownloadContext {
  readonly env: Environment;
  readonly cache: string;
  readonly platform: Platform;
  readonly wanted: readonly Program[];
}

export async function downloadRelease(request: ReleaseRequest): Promise<Binaries> {
  const { cache, platform, wanted, env } = request;
  const folder = releaseFolder(cache, platform);
  const present = (await readEntry(folder)) ?? new Set<string>();
  const downloads = join(cache, 'downloads');
  await mkdir(downloads, { recursive: true }).catch((error: unknown) => {
    throw toDiskError(error, downloads);
  });
  await withProxy(env, () =>
    writeEntry(folder, 'official release', async (temporary) => {
      for (const name of present) await link(join(folder, name), join(temporary, name));
      for (const name of wanted.filter((program) => !present.has(program))) {
        await fetchProgram(name, join(temporary, name), { ...request, downloads });
      }
    }),
  );
  return { folder, origin: `official release (${folder})` };
}

interface Place extends ReleaseRequest {
  readonly downloads: string;
}

async function fetchProgram(name: Program, to: string, place: Place): Promise<void> {
  if (name === 'etcd') await fetchEtcd(to, place);
  else await fetchFile(await kubeFile(name, place), to, place);
  await chmod(to, 0o755);
}

async function kubeFile(name: Program, place: Place): Promise<Pick<FileDownload, 'url' | 'sha256'>> {
  const site = place.env[KUBE_SITE_VARIABLE] ?? KUBE_SITE;
  const url = `${site}/${KUBERNETES_VERSION}/bin/linux/${place.platform.goArch}/${name}`;
  return { url, sha256: checksumIn(await read(`${url}.sha256`, place), `${url}.sha256`) };
}

async function fetchEtcd(to: string, place: Place): Promise<void> {
  const site = place.env[ETCD_SITE_VARIABLE] ?? ETCD_SITE;
  const archive = `etcd-${ETCD_VERSION}-linux-${place.platform.goArch}.tar.gz`;
  const sums = `${site}/${ETCD_VERSION}/SHA256SUMS`;
  const line = (await read(sums, place)).split('\n').find((text) => text.trim().endsWith(` ${archive}`));
  const packed = `${to}.tar.gz`;
  const url = `${site}/${ETCD_VERSION}/${archive}`;
  await fetchFile({ url, sha256: checksumIn(line ?? '', sums) }, packed, place);
  await extractFile(packed, 'etcd', to);
  await rm(packed);
}

async function fetchFile(
  file: Pick<FileDownload, 'url' | 'sha256'>,
  to: string,
  place: Place,
): Promise<void> {
  const part = join(place.downloads, `${basename(file.url)}-${file.sha256}.part`);
  await downloadFile({ ...file, to, part }, place);
}

async function read(url: string, place: Place): Promise<string> {
  try {
    return await fetchText(url, place);
  } catch (error) {
    if (!(error instanceof HttpFailure)) throw error;
    throw new LocalError('Download', `${url} could not be read: ${error.message}`, {
      where: url,
      hint: `check the connection, or name mirrors in ${KUBE_SITE_VARIABLE} and ${ETCD_SITE_VARIABLE}`,
      cause: error,
    });
  }
}

function checksumIn(text: string, url: string): string {
  const found = /^[0-9a-f]{64}\b/.exec(text.trim())?.[0];
  if (found) return found;
  throw new LocalError('Download', `${url} holds no checksum`, {
    where: url,
    hint: 'check what answers there; a login page of a proxy looks like this too',
  });
}
