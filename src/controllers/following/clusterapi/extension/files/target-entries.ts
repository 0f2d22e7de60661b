/**
 * Finds the entries with which a machine gets the files and the version that an update asks for: a version of each component concerned that
 * writes exactly these files, and differs in nothing else. Pure.
 */
import type {
  Machine,
  MachineComponentEntry,
  MachineComponentSpec,
} from '../../../../../api/generated/types.ts';
import { type EntryContent, entryContent } from '../../../../../api/machine/entry-content.ts';
import { byCode, canonicalJson } from '../../../../../kube/objects/digest.ts';
import {
  type AskedEntry,
  type EntryRules,
  kubeletEntry,
  ownParameters,
  presentKubelet,
} from '../kubelet-version.ts';
import { componentFile, isSameFile, writesPath } from './component-file.ts';
import type { BootstrapFiles, HostFile } from './kubeadm-files.ts';
import type { UpdateOrder } from './order.ts';

/** Reads and resolves the versions of components. */
export type FileRules = Pick<EntryRules, 'specOf' | 'resolve' | 'versionsOf'>;

/** A component, and the files that it has to write. */
interface FileOwner {
  readonly entry: MachineComponentEntry;
  readonly files: ReadonlyMap<string, HostFile>;
}

/** Returns the entries in the order in which they take effect, the kubelet last; a text: why an entry cannot be found. */
export function targetEntries(
  machine: Machine,
  { version, paths }: UpdateOrder,
  files: BootstrapFiles,
  rules: FileRules,
): readonly EntryContent[] | string {
  const owners = fileOwners(machine, paths, files, rules);
  if (typeof owners === 'string') return owners;
  const kubelet = version === undefined ? undefined : kubeletEntry(machine, version, rules);
  if (typeof kubelet === 'string') return kubelet;
  const found = owners.map((owner) =>
    owner.entry.name === kubelet?.name
      ? (unwrittenReason(owner, kubelet, machine, rules) ?? kubelet)
      : ownerEntry(owner, machine, rules),
  );
  const reason = found.find((each) => typeof each === 'string');
  if (reason !== undefined) return reason;
  const entries = found.flatMap((each) =>
    typeof each === 'string' || each.name === kubelet?.name ? [] : [each],
  );
  return inOrder(kubelet ? [...entries, kubelet] : entries, presentKubelet(machine, rules)?.name);
}

function inOrder(entries: readonly EntryContent[], last: string | undefined): readonly EntryContent[] {
  return entries.toSorted(
    (a, b) => Number(a.name === last) - Number(b.name === last) || byCode(a.name, b.name),
  );
}

/** Tells whether a component writes a file otherwise than the config has it. */
export function hasOtherFiles(
  { metadata: { name: machine }, spec: { components } }: Machine,
  files: BootstrapFiles,
  { specOf }: Pick<FileRules, 'specOf'>,
): boolean {
  return components.some((entry) => {
    const spec = specOf(entry.componentRef);
    const paths = [...files.keys()].filter((path) => spec && writesPath(spec, path));
    return paths.some((path) => {
      const host = files.get(path)?.host;
      const file = spec && componentFile(spec, entry, { path, machine });
      return typeof host !== 'object' || typeof file !== 'object' || !isSameFile(file, host);
    });
  });
}

/** Finds the component of each file. Two of them would write it in turn. */
function fileOwners(
  machine: Machine,
  paths: readonly string[],
  files: BootstrapFiles,
  rules: FileRules,
): readonly FileOwner[] | string {
  const byName = new Map<string, { entry: MachineComponentEntry; files: Map<string, HostFile> }>();
  for (const path of paths) {
    const host = files.get(path)?.host;
    if (host === undefined) {
      return `file ${path} was removed from the KubeadmConfig, and a component would restore what it has replaced`;
    }
    if (typeof host === 'string') return `file ${path} of the KubeadmConfig: ${host}`;
    const entry = fileOwner(machine, path, rules);
    if (typeof entry === 'string') return entry;
    const owner = byName.get(entry.name) ?? { entry, files: new Map<string, HostFile>() };
    owner.files.set(path, host);
    byName.set(entry.name, owner);
  }
  return [...byName.values()];
}

/** Returns the component that writes the path now; for a path that none writes, the one of which a version does. */
function fileOwner(
  { metadata, spec }: Machine,
  path: string,
  { specOf, versionsOf }: FileRules,
): MachineComponentEntry | string {
  const present = spec.components.filter(({ state }) => state !== 'Absent');
  const writes = (ref: string): boolean => {
    const found = specOf(ref);
    return found !== undefined && writesPath(found, path);
  };
  const now = present.filter(({ componentRef }) => writes(componentRef));
  const found = now.length > 0 ? now : present.filter(({ name }) => versionsOf(name).some(writes));
  const [only, second] = found;
  if (!only) return `no component of ${metadata.name} has file ${path}`;
  if (!second) return only;
  return `file ${path} of ${metadata.name} is that of ${found
    .map(({ name }) => name)
    .toSorted()
    .join(' and ')}`;
}

/** Returns the version that writes all files: the present one, or the newest that differs in nothing else. */
function ownerEntry(owner: FileOwner, machine: Machine, rules: FileRules): EntryContent | string {
  const { entry } = owner;
  const reason = unwrittenReason(owner, entry, machine, rules);
  if (reason === undefined) return entryContent(entry);
  const resolved = otherVersions(owner, machine, rules).map((ref) => rules.resolve(ref));
  const usable = resolved.find((each) => typeof each !== 'string');
  const instead = `no other version of ${entry.name} has it without a further change`;
  return usable ?? resolved[0] ?? `${reason}, and ${instead}`;
}

/** Returns the other versions that write all files and differ in nothing else, the newest first. */
function otherVersions(
  owner: FileOwner,
  machine: Machine,
  rules: Pick<FileRules, 'specOf' | 'versionsOf'>,
): readonly AskedEntry[] {
  const { entry, files } = owner;
  const before = rules.specOf(entry.componentRef);
  if (!before) return [];
  const parameters = ownParameters(entry, before);
  return rules
    .versionsOf(entry.name)
    .filter((ref) => ref !== entry.componentRef)
    .map((componentRef) => ({ name: entry.name, componentRef, parameters }))
    .filter((asked) => unwrittenReason(owner, asked, machine, rules) === undefined)
    .filter(({ componentRef }) => differsOnlyIn(before, rules.specOf(componentRef), files));
}

/** Returns the first file that the version does not write as it is desired. */
function unwrittenReason(
  { files }: FileOwner,
  entry: Pick<EntryContent, 'componentRef' | 'parameters'>,
  { metadata: { name: machine } }: Machine,
  { specOf }: Pick<FileRules, 'specOf'>,
): string | undefined {
  const { componentRef } = entry;
  const spec = specOf(componentRef);
  if (!spec) return `MachineComponent ${componentRef} was not found`;
  for (const [path, host] of files) {
    const file = componentFile(spec, entry, { path, machine });
    if (typeof file === 'string') return file;
    if (!isSameFile(file, host)) return `${componentRef} has another ${path} than the KubeadmConfig`;
  }
  return undefined;
}

/** Tells whether two versions put the same on a host, but for these files. `compat` is judged for each machine, and puts nothing there. */
function differsOnlyIn(
  a: MachineComponentSpec,
  b: MachineComponentSpec | undefined,
  files: ReadonlyMap<string, HostFile>,
): boolean {
  return b !== undefined && restText(a, files) === restText(b, files);
}

function restText(spec: MachineComponentSpec, files: ReadonlyMap<string, HostFile>): string {
  const { version: _version, description: _description, compat: _compat, ...rest } = spec;
  return canonicalJson({ ...rest, files: rest.files.filter(({ path }) => !files.has(path)) });
}
