/** The project's source as a graph of imports, for tests that guard its architecture. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

export interface Import {
  /** A path from the root of the project, or the name of a package as it is written. */
  readonly target: string;
  readonly isFile: boolean;
  /** Types are erased when the program runs. */
  readonly typeOnly: boolean;
  /** Of values: the names in braces, as they are called where they come from. */
  readonly names: readonly string[];
}

export function readSources(...folders: readonly string[]): ReadonlyMap<string, SourceFile> {
  const paths = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  );
  const sources = paths.filter((path) => /(?<!\.d)\.tsx?$/.test(path)).toSorted();
  return new Map(sources.map((path) => [path, readSource(path)]));
}

function readSource(path: string): SourceFile {
  const text = readFileSync(path, 'utf8');
  return { path, text, imports: importsIn(path, text) };
}

const STATIC = /^(?:import|export) (?<type>type )?(?<what>[^'";]*?from )?'(?<specifier>[^']+)'/gm;
/** What our own files are called where users write. */
const OWN_NAMES: Readonly<Record<string, string>> = { 'kubenode/constructs': 'src/constructs/index.ts' };

const DYNAMIC = /\bimport\(\s*'(?<specifier>[^']+)'/g;

const NO_GROUPS: Readonly<Record<string, string | undefined>> = {};

export function importsIn(path: string, text: string): readonly Import[] {
  const found = [...headOf(text).matchAll(STATIC), ...text.matchAll(DYNAMIC)];
  return found.map(({ groups: { type, what = '', specifier = '' } = NO_GROUPS }) => {
    const file = fileBehind(path, specifier);
    const words = namesIn(what);
    const values = words.filter((word) => !word.startsWith('type '));
    // `import { type A, type B } from …` leaves nothing behind either.
    const typeOnly = type !== undefined || (words.length > 0 && values.length === 0);
    const names = typeOnly ? [] : values.map((word) => word.split(' as ')[0] ?? word);
    return { target: file ?? specifier, isFile: file !== undefined, typeOnly, names };
  });
}

function fileBehind(path: string, specifier: string): string | undefined {
  return specifier.startsWith('.') ? normalize(join(dirname(path), specifier)) : OWN_NAMES[specifier];
}

/** The text before the first declaration: an import further down is in the output of a generator. */
function headOf(text: string): string {
  const declaration = /^(?:export )?(?:(?:const|let|async|function|class|interface|enum) |type [^{*])/m.exec(
    text,
  );
  return text.slice(0, declaration?.index);
}

/** Of `{ a, type B, c as d } from `, with a namespace or default import as one name. */
function namesIn(what: string): string[] {
  const words = what
    .replace(/from $/, '')
    .replaceAll(/[{}]/g, ' ')
    .split(',');
  return words.map((word) => word.trim().replaceAll(/\s+/g, ' ')).filter(Boolean);
}

/** All files that run when these do, themselves included, along the imports that `follow` accepts. */
export function reachableFrom(
  roots: Iterable<string>,
  sources: ReadonlyMap<string, SourceFile>,
  follow: (from: string, to: string) => boolean = () => true,
): ReadonlySet<string> {
  const reached = new Set(roots);
  // A Set is iterated in the order of insertion, entries added during the iteration included.
  for (const from of reached) {
    const targets = (sources.get(from)?.imports ?? []).filter(({ isFile, typeOnly }) => isFile && !typeOnly);
    for (const { target } of targets) if (follow(from, target)) reached.add(target);
  }
  return reached;
}

/** Files that import each other round a circle, types included: each circle by its files in order. */
export function importCircles(sources: ReadonlyMap<string, SourceFile>): readonly (readonly string[])[] {
  const reached = new Map([...sources.keys()].map((path) => [path, importedFrom(path, sources)]));
  const circles = [...sources.keys()].flatMap((path) => {
    const circle = [...(reached.get(path) ?? [])].filter((other) => reached.get(other)?.has(path));
    return circle.length > 0 ? [circle.toSorted()] : [];
  });
  return [...new Map(circles.map((circle) => [circle.join(), circle])).values()];
}

/** All files that `path` imports over any number of steps, types included; itself only if it is in a circle. */
function importedFrom(path: string, sources: ReadonlyMap<string, SourceFile>): ReadonlySet<string> {
  const found = new Set<string>();
  const add = (from: string): void => {
    for (const { isFile, target } of sources.get(from)?.imports ?? []) {
      if (isFile && sources.has(target)) found.add(target);
    }
  };
  add(path);
  // A Set is iterated in the order of insertion, entries added during the iteration included.
  for (const each of found) add(each);
  return found;
}

/** The package's name, without the path inside it. */
export function packageOf(specifier: string): string {
  return /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
}

/** Whether anything remains when its types are erased. */
export function hasCode({ text }: SourceFile): boolean {
  return /^(?:export )?(?:default |async |abstract )*(?:const|let|function\*?|class)\b|^(?!import|export|\/|\s|\})[\w(]/m.test(
    text,
  );
}
