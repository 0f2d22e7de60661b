import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const base = ['src/kube', 'src/api'];

/** What each layer may import besides itself. Parts meet in the API server, never here. */
const below: Record<string, readonly string[]> = {
  'src/kube': [],
  'src/api': ['src/kube'],
  'src/constructs': ['src/api', 'src/rules'],
  fleet: ['src/constructs'],
  rules: ['src/constructs'],
  'src/rules': base,
  'src/local': base,
  'src/providers': [...base, 'src/local'],
  'src/agent': base,
  'src/defender': base,
  'src/sync': [...base, 'src/rules'],
  'src/controllers': [...base, 'src/rules', 'src/providers', 'src/local'],
  'src/console': base,
};
// The simulator runs the real decisions, the command line puts the parts together: they may import all.
below['src/sim'] = Object.keys(below);
below['src/cli'] = Object.keys(below);

/** Packages with one home: everything else meets them through that folder's own words. */
const homes: Record<string, string> = {
  '@kubernetes/client-node': 'src/kube/',
  'isomorphic-git': 'src/sync/git/',
  'json-rules-engine': 'src/rules/',
  commander: 'src/cli/',
  ssh2: 'src/providers/ssh/',
  undici: 'src/kube/',
};

const PURE = /^rules\/|\/(plan|progress|order|drift|budget|decide|evaluate|conditions|judge)\.ts$/;
const IMPURE = /from 'node:|Date\.now|new Date\(\)|Math\.random|process\.|\bawait\b|\basync\b/;

const files = ['src', 'fleet', 'rules'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => join(folder, file))
    .filter((file) => /\.tsx?$/.test(file)),
);

describe('architecture', () => {
  it.each(files)('%s imports only what lies below it', (file) => {
    const own = layerOf(file);
    const allowed = [own, ...(below[own] ?? [])];
    expect(Object.keys(below)).toContain(own);
    expect(importsOf(file).filter((path) => !allowed.includes(layerOf(path)))).toEqual([]);
  });

  it.each(inFolder('src/controllers'))('%s leaves other controllers alone', (file) => {
    const folders = importsOf(file).map(dirname);
    const others = folders.filter((path) => /^src\/controllers\/./.test(path) && path !== dirname(file));
    expect(others).toEqual([]);
  });

  it.each(files)('%s meets packages only where they live', (file) => {
    const strangers = packagesOf(file).filter((name) => !file.startsWith(homes[name] ?? ''));
    expect(strangers).toEqual([]);
  });

  // Direct imports only; a second guard reads the module list of the built bundle.
  it.each(inFolder('src/agent'))('%s needs nothing but Node', (file) => {
    expect(packagesOf(file).filter((name) => !name.startsWith('node:'))).toEqual([]);
  });

  it.each(files.filter((file) => PURE.test(file)))('%s is pure', (file) => {
    expect(readFileSync(file, 'utf8')).not.toMatch(IMPURE);
  });
});

function inFolder(folder: string): string[] {
  return files.filter((file) => file.startsWith(`${folder}/`));
}

function layerOf(file: string): string {
  return Object.keys(below).find((layer) => file.startsWith(`${layer}/`)) ?? file;
}

function importsOf(file: string): string[] {
  return specifiersOf(file)
    .filter((path) => path.startsWith('.'))
    .map((path) => normalize(join(dirname(file), path)));
}

/** The package's name, without the path inside it. */
function packagesOf(file: string): string[] {
  return specifiersOf(file).flatMap((path) =>
    path.startsWith('.') ? [] : (/^(@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path),
  );
}

function specifiersOf(file: string): string[] {
  const imports = readFileSync(file, 'utf8').matchAll(/(?:from|import|import\() ?'(?<path>[^']+)'/g);
  return [...imports].map(({ groups }) => groups?.['path'] ?? '');
}
