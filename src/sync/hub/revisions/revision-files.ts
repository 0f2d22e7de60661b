/**
 * The kept revisions of one cluster as files: what it ran last, by content. A unit that several revisions share is one file. Each file
 * is sealed; one that cannot be opened counts as missing, and is filled from git again.
 */
import type { KeyObject } from 'node:crypto';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { KeptRevision } from '../../../api/generated/types.ts';
import { digestOf } from '../../../kube/objects/digest.ts';
import { isRecord } from '../../../kube/objects/json.ts';
import { ensurePrivateFolder, PRIVATE_MODE, writeFileAtomic } from '../../../os/files.ts';
import type { RenderedObject, RenderedTarget, RenderedUnit } from '../../rendered.ts';
import { type IndexedRevision, revisionsToKeep } from './plan.ts';
import { openBytes, sealBytes } from './sealed-file.ts';

export interface RevisionFilesOptions {
  readonly folder: string;
  /** Names hub and cluster: a file of another one is not opened. */
  readonly scope: string;
  readonly key: () => KeyObject;
  readonly random: (bytes: number) => Uint8Array;
}

export interface RevisionFiles {
  /** Returns the revisions, newest first. */
  list(): Promise<readonly IndexedRevision[]>;
  /** Returns the content. Undefined when a part of it is missing or damaged. */
  read(revision: IndexedRevision, target: string): Promise<RenderedTarget | undefined>;
  /** Writes the units first and then the index: killed in between, the revision is not listed. */
  put(revision: KeptRevision, content: RenderedTarget): Promise<readonly IndexedRevision[]>;
}

const INDEX = 'index';

export function createRevisionFiles({ folder, scope, key, random }: RevisionFilesOptions): RevisionFiles {
  return { list, read, put };

  async function list(): Promise<readonly IndexedRevision[]> {
    const value = await readSealed(INDEX);
    return Array.isArray(value) ? value.filter(isRevision) : [];
  }

  async function read(
    { digest, units }: IndexedRevision,
    target: string,
  ): Promise<RenderedTarget | undefined> {
    const found: RenderedUnit[] = [];
    for (const unit of units) {
      const objects = await readUnit(unit.digest);
      if (!objects) return undefined;
      found.push({ ...unit, objects });
    }
    return targetDigest(found) === digest ? { target, units: found, digest } : undefined;
  }

  /** The name of the file is the digest of its content. */
  async function readUnit(digest: string): Promise<readonly RenderedObject[] | undefined> {
    const value = await readSealed(fileName(digest));
    const objects = Array.isArray(value) && value.every(isRenderedObject) ? value : undefined;
    return objects && digestOf(objects.map(({ object }) => object)) === digest ? objects : undefined;
  }

  async function put(revision: KeptRevision, { units }: RenderedTarget): Promise<readonly IndexedRevision[]> {
    await ensurePrivateFolder(folder);
    for (const { digest, objects } of units) {
      if ((await readUnit(digest)) === undefined) await writeSealed(fileName(digest), objects);
    }
    const added = { ...revision, units: units.map(({ unit, digest }) => ({ unit, digest })) };
    const kept = revisionsToKeep([added, ...(await list())], await sizes());
    await writeSealed(INDEX, kept);
    await removeUnused(kept);
    return kept;
  }

  async function sizes(): Promise<ReadonlyMap<string, number>> {
    const names = await readdir(folder);
    const found = await Promise.all(
      names.map(async (name) => [`sha256:${name}`, (await stat(join(folder, name))).size] as const),
    );
    return new Map(found);
  }

  /** Removes also what a process that was killed left. */
  async function removeUnused(kept: readonly IndexedRevision[]): Promise<void> {
    const used = new Set([
      INDEX,
      ...kept.flatMap(({ units }) => units.map(({ digest }) => fileName(digest))),
    ]);
    const unused = (await readdir(folder)).filter((name) => !used.has(name));
    await Promise.all(unused.map((name) => rm(join(folder, name), { force: true })));
  }

  async function readSealed(name: string): Promise<unknown> {
    const file = await readFile(join(folder, name)).catch(() => undefined);
    const content = file && (await openBytes(key(), `${scope}/${name}`, file));
    return content && (JSON.parse(content.toString('utf8')) as unknown);
  }

  async function writeSealed(name: string, value: unknown): Promise<void> {
    const content = Buffer.from(JSON.stringify(value));
    const sealed = await sealBytes(key(), `${scope}/${name}`, content, random);
    await writeFileAtomic(join(folder, name), sealed, PRIVATE_MODE);
  }
}

function fileName(digest: string): string {
  return digest.replace('sha256:', '');
}

function targetDigest(units: readonly RenderedUnit[]): string {
  return digestOf(units.map(({ unit, digest }) => [unit, digest]));
}

/** The content was sealed by us, so that only its form of an earlier version can differ. */
function isRevision(value: unknown): value is IndexedRevision {
  if (!isRecord(value)) return false;
  const { commit, digest, keptAt, units } = value;
  return [commit, digest, keptAt].every((each) => typeof each === 'string') && Array.isArray(units);
}

function isRenderedObject(value: unknown): value is RenderedObject {
  return isRecord(value) && isRecord(value['object']) && isRecord(value['source']);
}
