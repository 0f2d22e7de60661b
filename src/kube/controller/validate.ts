/** Refuses controllers that would conflict: checked once, at the start. Pure. */
import type { Controller } from './controller.ts';
import { isFieldPath, overlap } from './writes/field-path.ts';

export type Declaration = Pick<
  Controller,
  'name' | 'reads' | 'writes' | 'shares' | 'creates' | 'fieldManager' | 'serviceAccount'
>;

const NAME = /^[a-z][a-z0-9-]*$/;

/** Every reason not to start, each naming the controller and what is wrong with it. */
export function declarationErrors(
  declared: readonly Declaration[],
  kinds: readonly string[],
): readonly string[] {
  return [
    ...declared.flatMap((one) => [...malformed(one), ...unreadable(one, kinds)]),
    ...pairsOf(declared).flatMap(([one, other]) => [...sameName(one, other), ...sharedFields(one, other)]),
  ];
}

function malformed({
  name,
  reads,
  writes,
  shares = [],
  creates = [],
  serviceAccount,
}: Declaration): string[] {
  const wrong = [...writes, ...shares].filter((path) => !isFieldPath(path));
  const empty = creates.filter((kind) => ![...writes, ...shares].some((path) => path.startsWith(`${kind}.`)));
  return [
    ...(NAME.test(name) ? [] : [`controller '${name}': expected a name of lower-case letters, digits and -`]),
    ...(reads.length > 0 ? [] : [`controller ${name} reads no kind, so nothing would start a reconcile`]),
    ...wrong.map(
      (path) => `controller ${name} writes '${path}': expected a path of the form Kind.field.field[key]`,
    ),
    ...empty.map(
      (kind) => `controller ${name} creates ${kind}, but declares no field of it in its writes or shares`,
    ),
    ...(serviceAccount && serviceAccount.namespace === undefined
      ? [`controller ${name}: the namespace of its ServiceAccount ${serviceAccount.name} is missing`]
      : []),
  ];
}

function unreadable({ name, reads }: Declaration, kinds: readonly string[]): string[] {
  const read = reads.map(({ resource }) => resource.kind);
  const unknown = read.filter((kind) => !kinds.includes(kind));
  const twice = read.filter((kind, index) => read.indexOf(kind) !== index);
  const silent = reads.slice(1).filter(({ keys }) => keys === undefined);
  return [
    ...unknown.map((kind) => `controller ${name} reads ${kind}, but there is no view of ${kind}`),
    ...twice.map((kind) => `controller ${name} reads ${kind} twice`),
    ...silent.map(
      ({ resource }) =>
        `controller ${name} reads ${resource.kind} without keys. Declare the keys that it concerns`,
    ),
  ];
}

function sameName(one: Declaration, other: Declaration): string[] {
  return [
    ...(one.name === other.name ? [`two controllers are called ${one.name}`] : []),
    ...(one.fieldManager === other.fieldManager
      ? [`controllers ${one.name} and ${other.name} share the field manager ${one.fieldManager}`]
      : []),
  ];
}

/** The same field, or one inside the other: who writes a whole writes its parts. What both share does not conflict. */
function sharedFields(one: Declaration, other: Declaration): string[] {
  return [
    ...conflicts(one, one.writes, [other, [...other.writes, ...(other.shares ?? [])]]),
    ...conflicts(one, one.shares ?? [], [other, other.writes]),
  ];
}

function conflicts(
  one: Declaration,
  ours: readonly string[],
  [other, paths]: readonly [Declaration, readonly string[]],
): string[] {
  return ours.flatMap((mine) =>
    paths
      .filter((theirs) => overlap(mine, theirs))
      .map((theirs) =>
        mine === theirs
          ? `controllers ${one.name} and ${other.name} both write ${mine}`
          : `controller ${one.name} writes ${mine} and controller ${other.name} writes ${theirs}: one contains the other`,
      ),
  );
}

function pairsOf<T>(list: readonly T[]): (readonly [T, T])[] {
  return list.flatMap((one, index) => list.slice(index + 1).map((other) => [one, other] as const));
}
