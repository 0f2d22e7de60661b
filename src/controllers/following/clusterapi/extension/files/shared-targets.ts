/**
 * Finds the target entries of many machines for one question of Cluster API: machines that have the same components and get the same order share
 * what was found, because the comparison of all versions of a component takes too long to be made for each of hundreds of machines. Pure.
 */
import type { Machine } from '../../../../../api/generated/types.ts';
import type { EntryContent } from '../../../../../api/machine/entry-content.ts';
import type { BootstrapFiles } from './kubeadm-files.ts';
import type { UpdateOrder } from './order.ts';
import { type FileRules, targetEntries } from './target-entries.ts';

/** Returns what `targetEntries` returns for the machine. */
export type FindTargets = (machine: Machine, order: UpdateOrder) => readonly EntryContent[] | string;

/** The files and the rules are those of one question. */
export function createFindTargets(files: BootstrapFiles, rules: FileRules): FindTargets {
  const found = new Map<string, readonly EntryContent[]>();
  return (machine, order) => {
    const key = sharedText(machine, order);
    const shared = found.get(key);
    if (shared) return shared;
    const entries = targetEntries(machine, order, files, rules);
    // A reason names its machine.
    if (typeof entries !== 'string' && !writesMachineName(machine, order, rules)) found.set(key, entries);
    return entries;
  };
}

/** Has all that the entries depend on, apart from the name of the machine. */
function sharedText({ spec }: Machine, { version, paths }: UpdateOrder): string {
  const components = spec.components.map(({ name, componentRef, digest, state, parameters }) => [
    name,
    componentRef,
    digest,
    state,
    parameters,
  ]);
  return JSON.stringify([version, paths, components]);
}

const MACHINE_NAME = '${machine.name}';

/** Tells whether a version of one of its components has the name of the machine in one of the files. */
function writesMachineName(
  { spec }: Machine,
  { paths }: UpdateOrder,
  { specOf, versionsOf }: Pick<FileRules, 'specOf' | 'versionsOf'>,
): boolean {
  const refs = spec.components.flatMap(({ name, componentRef }) => [componentRef, ...versionsOf(name)]);
  return refs.some((ref) =>
    specOf(ref)?.files.some(({ path, content }) => paths.includes(path) && content.includes(MACHINE_NAME)),
  );
}
