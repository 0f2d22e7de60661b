/** Reads from the host what the planner of a component compares. */
import { optional } from '../../kube/objects/optional.ts';
import type { ComponentObservation, ObservedFile } from '../component/observe.ts';
import { pathsOf } from '../component/placements.ts';
import { decodeText } from '../files/text.ts';
import type { Host, UnitStatus } from '../host/port.ts';
import { dataDirectory } from '../layout.ts';
import type { Target } from '../target/target.ts';
import { findArtifact } from './artifact.ts';
import { hasBackup, MAX_FILE_BYTES } from './backup.ts';
import { type DigestReader, observePrograms } from './programs.ts';

/** A failed read throws: what could not be read is neither missing nor different. */
export async function observeComponent(
  host: Host,
  component: string,
  { targets, digest }: { readonly targets: readonly Target[]; readonly digest: DigestReader },
): Promise<ComponentObservation> {
  const paths = [...new Set([...targets.flatMap(pathsOf), dataDirectory(component)])];
  return {
    bootId: await host.node.bootId(),
    artifacts: await readMap(
      targets.flatMap(({ artifact }) => (artifact ? [artifact.sha256] : [])),
      (sha256) => findArtifact(host.files, sha256),
    ),
    directories: new Set(
      (
        await readMap(
          targets.map(({ directory }) => directory),
          (path) => host.files.stat(path),
        )
      ).keys(),
    ),
    files: await readMap(paths, (path) => observeFile(host, path)),
    units: await observeUnits(host, targets),
    programs: await observePrograms(host, targets, digest),
    backups: new Set(
      (
        await readMap(paths, async (path) => (await hasBackup(host.files, component, path)) || undefined)
      ).keys(),
    ),
  };
}

async function readMap<T>(
  keys: readonly string[],
  read: (key: string) => Promise<T | undefined>,
): Promise<ReadonlyMap<string, T>> {
  const found = new Map<string, T>();
  for (const key of new Set(keys)) {
    const value = await read(key);
    if (value !== undefined) found.set(key, value);
  }
  return found;
}

async function observeFile({ files }: Host, path: string): Promise<ObservedFile | undefined> {
  const stat = await files.stat(path);
  if (!stat) return undefined;
  const { type, mode, owner, ownerIds, target } = stat;
  const isReadable = type === 'File' && stat.sizeBytes <= MAX_FILE_BYTES;
  const content = isReadable ? await files.read(path) : undefined;
  return {
    type,
    mode,
    owner,
    ...optional('ownerIds', ownerIds),
    ...(target !== undefined && { target }),
    ...(content && { content: decodeText(content) }),
  };
}

/** Definitions are compared with the first target that has the unit. */
async function observeUnits(
  host: Host,
  targets: readonly Target[],
): Promise<ReadonlyMap<string, UnitStatus>> {
  const found = new Map<string, UnitStatus>();
  for (const unit of targets.flatMap(({ units }) => units)) {
    if (found.has(unit.name)) continue;
    const status = await host.units.status(unit);
    if (status) found.set(unit.name, status);
  }
  return found;
}
