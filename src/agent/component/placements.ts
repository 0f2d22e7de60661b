/** Compares what a target places on the host with what is there, and lists the operations that are left. Pure. */
import type { ComponentFile } from '../../api/generated/types.ts';
import { firstDifference } from '../files/first-difference.ts';
import { mergeFile } from '../files/merge.ts';
import type { UnitDefinition } from '../host/port.ts';
import { currentLink, dataDirectory } from '../layout.ts';
import type { Target } from '../target/target.ts';
import type { ComponentObservation, ObservedFile } from './observe.ts';
import type { ComponentAction, HostOperation } from './operation.ts';

export interface Placement {
  readonly path: string;
  readonly target: string;
}

/** Links of the host into the directory of the version, and the link to the directory itself. */
export function linksOf({ component, directory, artifact }: Target): readonly Placement[] {
  const links = (artifact?.install ?? []).map(({ from, to }) => ({
    path: to,
    target: `${directory}/${from}`,
  }));
  return artifact ? [...links, { path: currentLink(component), target: directory }] : [];
}

/** Every path outside of our own directories that the target writes. */
export function pathsOf(target: Target): readonly string[] {
  return [...target.files.map(({ path }) => path), ...linksOf(target).map(({ path }) => path)];
}

/** The operations after which the host has everything of `to` and nothing more of `from`. */
export function swapActions(
  from: Target | undefined,
  to: Target | undefined,
  observed: ComponentObservation,
): readonly ComponentAction[] {
  return [...(to ? placeActions(to, observed) : []), ...(from ? obsoleteActions(from, to, observed) : [])];
}

function placeActions(to: Target, observed: ComponentObservation): readonly ComponentAction[] {
  const data = dataDirectory(to.component);
  return [
    ...(observed.files.has(data) ? [] : [operate({ op: 'MakeDirectory', path: data }, `${data} is missing`)]),
    ...to.files.flatMap((file) => {
      const because = fileDifference(file, observed);
      return because ? [operate({ op: 'WriteFile', target: to, path: file.path }, because)] : [];
    }),
    ...linksOf(to).flatMap(({ path, target }) => {
      const found = observed.files.get(path);
      return found?.target === target
        ? []
        : [operate({ op: 'Link', path, to: target }, `${path} is not a link to ${target}`)];
    }),
    ...to.units.flatMap((unit) => unitActions(to, unit, observed)),
  ];
}

/** Why the file on the host is not as the target wants it. */
export function fileDifference(file: ComponentFile, observed: ComponentObservation): string | undefined {
  const found = observed.files.get(file.path);
  if (!found) return `${file.path} is missing`;
  if (found.type !== 'File') return `${file.path} is a ${found.type.toLowerCase()}, not a file`;
  const { content = '' } = found;
  const merged = mergeFile(file, content);
  if (content !== merged) return `${file.path} has other content: ${firstDifference(merged, content)}`;
  if (found.mode !== file.mode.padStart(4, '0')) {
    return `${file.path} has mode ${found.mode}, not ${file.mode}`;
  }
  return isOwnedBy(file.owner, found)
    ? undefined
    : `${file.path} belongs to ${found.owner}, not to ${file.owner}`;
}

/** Tells whether the file has this owner: user and group each count by their name or by their number. */
function isOwnedBy(owner: string, { owner: names, ownerIds = names }: ObservedFile): boolean {
  const [desired, byName, byId] = [owner, names, ownerIds].map((each) => each.split(':'));
  const isSame = (part: string, index: number): boolean => part === byName?.[index] || part === byId?.[index];
  return desired?.length === byName?.length && (desired?.every(isSame) ?? false);
}

function unitActions(
  target: Target,
  unit: UnitDefinition,
  observed: ComponentObservation,
): readonly ComponentAction[] {
  const status = observed.units.get(unit.name);
  const because = !status ? 'is missing' : status.defined ? undefined : 'has another definition';
  return [
    ...(because
      ? [operate({ op: 'WriteUnit', target, unit: unit.name }, `unit ${unit.name} ${because}`)]
      : []),
    ...(status && isEnabledAs(unit, status)
      ? []
      : [
          operate(
            { op: 'SetEnabled', target, unit: unit.name },
            `unit ${unit.name} is not ${unit.enabled ? 'enabled' : 'disabled'}`,
          ),
        ]),
  ];
}

export function isEnabledAs(
  unit: UnitDefinition,
  status: { readonly enabled: boolean; readonly masked: boolean },
): boolean {
  return status.enabled === unit.enabled && !status.masked;
}

function obsoleteActions(
  from: Target,
  to: Target | undefined,
  observed: ComponentObservation,
): readonly ComponentAction[] {
  const kept = new Set([...(to ? pathsOf(to) : []), ...(to?.units.map(({ name }) => unitKey(name)) ?? [])]);
  const because = to ? `is not part of version ${to.version}` : 'is removed with its component';
  // The files first: a unit that the host had starts again when it is given back.
  return [
    ...pathsOf(from)
      .filter((path) => !kept.has(path) && observed.backups.has(path))
      .map((path) => operate({ op: 'Restore', target: from, path }, `${path} ${because}`)),
    ...from.units
      .filter(({ name }) => !kept.has(unitKey(name)) && observed.units.get(name)?.defined !== undefined)
      .filter(({ name, existing }) => !existing || observed.units.get(name)?.defined)
      .map(({ name }) => operate({ op: 'RemoveUnit', target: from, unit: name }, `unit ${name} ${because}`)),
  ];
}

function unitKey(name: string): string {
  return `unit ${name}`;
}

export function operate(operation: HostOperation, because: string): ComponentAction {
  return { type: 'Operate', operation, because };
}
