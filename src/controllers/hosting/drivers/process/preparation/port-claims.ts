/**
 * Claims ports, so that two control planes never choose the same one: a file for each port, with the name of the cluster. A file is linked
 * into place with its content, so that of two at once one is refused, and a crash leaves no claim without an owner.
 */
import { randomBytes } from 'node:crypto';
import { link, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../../../../../os/errors.ts';
import { ensurePrivateFolder, PRIVATE_MODE, toDiskError } from '../../../../../os/files.ts';
import { findFreePort } from '../../../../../os/net/ports.ts';

const ATTEMPTS = 20;

/** Claims a free port on loopback. What a killed writer leaves is in `scratch`, a folder of the cluster on the same disk. */
export async function claimPort(folder: string, cluster: string, scratch: string): Promise<number> {
  await ensurePrivateFolder(folder);
  for (let attempt = 1; ; attempt += 1) {
    const taken = new Set((await listClaims(folder)).map(({ port }) => port));
    const port = await findFreePort(undefined, taken);
    if (await writeClaim(join(folder, String(port)), cluster, scratch)) return port;
    if (attempt === ATTEMPTS) throw new Error(`no port could be claimed in ${folder}`);
  }
}

/** Claims a port that a person has chosen. Resolves to the cluster that has it. */
export async function claimThisPort(
  port: number,
  {
    folder,
    cluster,
    scratch,
  }: { readonly folder: string; readonly cluster: string; readonly scratch: string },
): Promise<string> {
  await ensurePrivateFolder(folder);
  const path = join(folder, String(port));
  return (await writeClaim(path, cluster, scratch)) ? cluster : await readClaim(path);
}

/** Returns false when another one claimed it. */
async function writeClaim(path: string, cluster: string, scratch: string): Promise<boolean> {
  const temporary = join(scratch, `.${randomBytes(6).toString('hex')}.tmp`);
  try {
    await writeFile(temporary, `${cluster}\n`, { mode: PRIVATE_MODE });
    await link(temporary, path);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw toDiskError(error, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Releases the claims of a cluster but those that it keeps. */
export async function releaseClaims(
  folder: string,
  cluster: string,
  keep: readonly number[] = [],
): Promise<void> {
  const claims = await listClaims(folder);
  for (const claim of claims) {
    if (claim.cluster !== cluster || keep.includes(claim.port)) continue;
    await rm(join(folder, String(claim.port)), { force: true });
  }
}

export interface PortClaim {
  readonly port: number;
  readonly cluster: string;
}

export async function listClaims(folder: string): Promise<readonly PortClaim[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return [];
    throw toDiskError(error, folder);
  });
  const claims = await Promise.all(
    names
      .filter((name) => /^\d+$/.test(name))
      .map(async (name) => ({ port: Number(name), cluster: await readClaim(join(folder, name)) })),
  );
  return claims.filter(({ cluster }) => cluster !== '');
}

async function readClaim(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    // Released meanwhile.
    if (systemCode(error) === 'ENOENT') return '';
    throw toDiskError(error, path);
  }
}
