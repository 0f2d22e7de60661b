import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { overlap } from '../src/kube/controller/validate.ts';
import {
  hasCode,
  type Import,
  packageOf,
  reachableFrom,
  readSources,
  type SourceFile,
} from './support/source.ts';

const base = ['src/kube', 'src/os', 'src/api'];

/** What each floor may import besides itself. Parts meet in the API server, never here. */
const below: Record<string, readonly string[]> = {
  'src/os': [],
  'src/kube': ['src/os'],
  'src/api': ['src/kube', 'src/os'],
  'src/rollout': base,
  'src/rules': base,
  'src/constructs': [...base, 'src/rules'],
  fleet: ['src/constructs', 'rules'],
  rules: ['src/constructs'],
  'src/local': base,
  'src/providers': [...base, 'src/local'],
  'src/agent': base,
  'src/defender': [...base, 'src/rollout'],
  'src/sync': [...base, 'src/rollout', 'src/rules'],
  'src/controllers': [...base, 'src/rollout', 'src/rules', 'src/providers', 'src/local'],
  'src/console': base,
};
// The simulator runs the real decisions, the command line puts the parts together: they may import all.
below['src/sim'] = Object.keys(below);
below['src/cli'] = Object.keys(below);

/** Packages with one home: everything else meets them through that folder's own words. */
const homes: Record<string, string> = {
  '@kubernetes/client-node': 'src/kube/',
  '@prometheus-io/client': 'src/kube/',
  ajv: 'src/api/',
  commander: 'src/cli/',
  'isomorphic-git': 'src/sync/git/',
  'json-rules-engine': 'src/rules/',
  'p-queue': 'src/sync/',
  pino: 'src/kube/',
  ssh2: 'src/providers/ssh/',
  undici: 'src/kube/',
};

const PURE = /^rules\/|\/(plan|progress|order|drift|budget|decide|evaluate|conditions|judge)\.ts$/;
// A folder of commands: what reports progress to a person there is no decision.
const IS_SHELL = /^src\/cli\//;
const IMPURE = /Date\.now|new Date\(\)|Math\.random|process\.|\bawait\b|\basync\b/;
/** Of Node, what has no effect and gives the same for the same. */
const PURE_NODE: Record<string, readonly string[]> = {
  'node:util': ['isDeepStrictEqual'],
  'node:crypto': ['createHash'],
};

/** Where the agent begins, or would: its bundle holds these and whatever they run. */
const AGENT_ROOTS = [
  'src/agent/main.ts',
  'src/kube/transport/https.ts',
  'src/kube/client/rest-client.ts',
  'src/kube/cache/reflector.ts',
];

/** Programs that tests run as processes of their own, and so without an import. */
const RUN_BY_TESTS = ['src/cli/main.ts', 'src/api/generate/generate.ts', 'src/sync/render/harness/main.ts'];
/** Files that no test reaches, each with who looks after it instead. */
const UNTESTED: Record<string, string> = {};

// Templates are files of a user's repository: they are checked there, by the test of `kubenode init`.
const isOurs = ([path]: readonly [string, SourceFile]): boolean => !path.includes('/templates/');
const sources = new Map([...readSources('src', 'fleet', 'rules')].filter(isOurs));
const files = [...sources.values()];
const byHand = files.filter(({ path }) => !path.includes('/generated/'));
const pure = files.filter(({ path }) => PURE.test(path) && !IS_SHELL.test(path));

describe('architecture', () => {
  it.each(paths(files))('%s imports only what lies below it', (path) => {
    const own = layerOf(path);
    const allowed = [own, ...(below[own] ?? [])];
    expect(Object.keys(below)).toContain(own);
    expect(filesIn(path).filter((target) => !allowed.includes(layerOf(target)))).toEqual([]);
  });

  it.each(paths(files).filter((path) => path.startsWith('src/controllers/')))(
    '%s leaves other controllers alone',
    (path) => {
      const folders = filesIn(path).map(dirname);
      expect(folders.filter((each) => /^src\/controllers\/./.test(each) && each !== dirname(path))).toEqual(
        [],
      );
    },
  );

  it.each(paths(files))('%s meets packages only where they live', (path) => {
    const strangers = importsOf(path).flatMap(({ target, isFile }) => (isFile ? [] : packageOf(target)));
    expect(strangers.filter((name) => !path.startsWith(homes[name] ?? ''))).toEqual([]);
  });

  it.each(paths(pure))('%s is pure, and so is all that it runs', (path) => {
    const impure = [...reachableFrom([path], sources)].flatMap((each) => impuritiesIn(sources.get(each)));
    expect(impure).toEqual([]);
  });

  it('knows planners to watch over', () => {
    expect(pure.length).toBeGreaterThan(5);
  });

  it('gives the agent nothing but Node', () => {
    const roots = [...AGENT_ROOTS, ...paths(files).filter((path) => path.startsWith('src/agent/'))];
    const bundle = [
      ...reachableFrom(
        roots.filter((path) => sources.has(path)),
        sources,
      ),
    ];
    expect(bundle.length).toBeGreaterThan(5);
    const packages = bundle.flatMap((path) =>
      importsOf(path)
        .filter(({ isFile, typeOnly, target }) => !isFile && !typeOnly && !target.startsWith('node:'))
        .map(({ target }) => `${path}: ${target}`),
    );
    expect(packages).toEqual([]);
  });

  it('lets no two controllers write one field', () => {
    const declared = byHand.flatMap(({ path, text }) => writesIn(text).map((field) => ({ path, field })));
    const twice = declared.filter(({ path, field }) =>
      declared.some((other) => other.path !== path && overlap(field, other.field)),
    );
    expect(twice.map(({ path, field }) => `${path}: ${field}`)).toEqual([]);
  });

  it('has a test for each file that does something', () => {
    const tests = readSources('test');
    const roots = [...[...tests.keys()].filter((path) => path.endsWith('.test.ts')), ...RUN_BY_TESTS];
    const reached = reachableFrom(roots, new Map([...sources, ...tests]), staysInside);
    const untested = byHand.filter(
      (file) => layerOf(file.path).startsWith('src/') && hasCode(file) && !reached.has(file.path),
    );
    expect(paths(untested)).toEqual(Object.keys(UNTESTED));
  });

  it('has its tests where the files are that they test', () => {
    const folders = new Set(readdirSync('src', { recursive: true, encoding: 'utf8' }));
    const tests = [...readSources('test').keys()].filter((path) => path.endsWith('.test.ts'));
    const mirrored = tests
      .map((path) => dirname(path).split('/').slice(1))
      .filter(
        ([first]) =>
          first !== undefined &&
          !['cluster', 'nodes', 'support', 'lint', 'rules', 'fleet', 'policies'].includes(first),
      );
    expect(mirrored.map((words) => words.join('/')).filter((folder) => !folders.has(folder))).toEqual([]);
  });
});

/** The command line hangs together with everything: that it starts is no test of the parts. */
function staysInside(from: string, to: string): boolean {
  return layerOf(from) !== 'src/cli' || layerOf(to) === 'src/cli';
}

// npm leaves out what the registry at hand does not carry, and `npm ci` refuses such a file everywhere.
it('names the packages of every platform in the lock file (or: node scripts/complete-lock.js)', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as LockFile;
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) => !packages[`${path}/node_modules/${name}`] && !packages[`node_modules/${name}`],
    ),
  );
  expect(missing).toEqual([]);
});

interface LockFile {
  readonly packages: Readonly<
    Record<string, { readonly optionalDependencies?: Readonly<Record<string, string>> }>
  >;
}

function paths(of: readonly SourceFile[]): readonly string[] {
  return of.map(({ path }) => path);
}

function layerOf(path: string): string {
  return Object.keys(below).find((layer) => path.startsWith(`${layer}/`)) ?? path;
}

function importsOf(path: string): readonly Import[] {
  return sources.get(path)?.imports ?? [];
}

function filesIn(path: string): readonly string[] {
  return importsOf(path).flatMap(({ isFile, target }) => (isFile ? [target] : []));
}

/** A tripwire for honest mistakes, not a proof: it matches text. */
function impuritiesIn(file: SourceFile | undefined): string[] {
  if (!file) return [];
  const code = file.text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
  const word = IMPURE.exec(code)?.[0];
  const imports = file.imports.filter(
    ({ target, typeOnly, names }) =>
      target.startsWith('node:') && !typeOnly && !names.every((name) => PURE_NODE[target]?.includes(name)),
  );
  return [
    ...(word ? [`${file.path}: ${word}`] : []),
    ...imports.map(({ target }) => `${file.path}: ${target}`),
  ];
}

/** `writes: ['Machine.spec.components', …]` of a controller. */
function writesIn(text: string): string[] {
  const lists = [...text.matchAll(/\bwrites: \[(?<fields>(?:\s*'[^']*',?)*)\s*\]/g)];
  return lists.flatMap(({ groups }) => (groups?.['fields'] ?? '').match(/(?<=')[^',\s]+(?=')/g) ?? []);
}
