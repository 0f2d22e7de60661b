/** Refuses controllers that would fight: checked once, at the start. Pure. */
import type { Controller } from './controller.ts';

export type Declaration = Pick<Controller, 'name' | 'reads' | 'writes' | 'fieldManager' | 'keys'>;

const NAME = /^[a-z][a-z0-9-]*$/;
/** Kind, then fields; a key of a map or list in brackets may hold dots. */
const PATH = /^[A-Z][A-Za-z0-9]*(\.[A-Za-z][A-Za-z0-9]*|\[[^\][]+\])+$/;

/** Every reason not to start, each naming who and what. */
export function objectionsTo(declared: readonly Declaration[], kinds: readonly string[]): readonly string[] {
  return [
    ...declared.flatMap((one) => [...malformed(one), ...unread(one, kinds)]),
    ...pairs(declared).flatMap(([one, other]) => [...sameName(one, other), ...sharedFields(one, other)]),
  ];
}

function malformed({ name, reads, writes }: Declaration): string[] {
  const wrong = writes.filter((path) => !PATH.test(path));
  return [
    ...(NAME.test(name) ? [] : [`controller '${name}': its name is not lower-case letters, digits and -`]),
    ...(reads.length > 0 ? [] : [`controller ${name} reads nothing, so nothing would ever start a pass`]),
    ...wrong.map(
      (path) => `controller ${name} writes '${path}', which is not of the form Kind.field.field[key]`,
    ),
  ];
}

function unread({ name, reads, keys }: Declaration, kinds: readonly string[]): string[] {
  const unknown = reads.filter((kind) => !kinds.includes(kind));
  const silent = reads.slice(1).filter((kind) => keys?.[kind] === undefined);
  const idle = Object.keys(keys ?? {}).filter((kind) => !reads.includes(kind));
  return [
    ...unknown.map((kind) => `controller ${name} reads ${kind}, but there is no view of ${kind}`),
    ...silent.map(
      (kind) => `controller ${name} reads ${kind}, but does not say which keys a change of it concerns`,
    ),
    ...idle.map((kind) => `controller ${name} has keys for ${kind}, but does not read it`),
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

/** The same field, or one inside the other: who writes a whole writes its parts. */
function sharedFields(one: Declaration, other: Declaration): string[] {
  return one.writes.flatMap((mine) =>
    other.writes
      .filter((theirs) => overlap(mine, theirs))
      .map((theirs) =>
        mine === theirs
          ? `controllers ${one.name} and ${other.name} both write ${mine}`
          : `controller ${one.name} writes ${mine} and controller ${other.name} writes ${theirs}: one lies in the other`,
      ),
  );
}

export function overlap(a: string, b: string): boolean {
  const [short, long] = [steps(a), steps(b)].toSorted((one, other) => one.length - other.length);
  return short?.every((step, index) => step === long?.[index]) ?? false;
}

function steps(path: string): string[] {
  return [...path.matchAll(/\[[^\][]+\]|[^.[\]]+/g)].map(([step]) => step);
}

function pairs<T>(list: readonly T[]): (readonly [T, T])[] {
  return list.flatMap((one, index) => list.slice(index + 1).map((other) => [one, other] as const));
}
