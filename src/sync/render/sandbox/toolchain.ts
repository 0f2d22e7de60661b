/** The packages for renders: those of the running kubenode, whatever the fleet repository has installed. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { byCode, digestOf } from '../../../kube/objects/digest.ts';

/** Packages that a fleet program may import. */
const IMPORTABLE = ['cdk8s', 'cdk8s-plus-27', 'constructs', 'yaml'];
/** The packages that programs may import, and those that our constructs and the harness import. */
const REQUIRED = [...IMPORTABLE, 're2js', 'ajv'];
/** Folders of our own code that affect the result of a render. */
const OWN_FOLDERS = ['constructs', 'api', 'rules', 'kube', 'sync'];

export interface Toolchain {
  /** Packages that a program may import, name to folder. */
  readonly packages: Readonly<Record<string, string>>;
  /** The folders, by name, of the packages and of all that they need. */
  readonly closure: Readonly<Record<string, string>>;
  /** Folder of our own code. */
  readonly code: string;
  /** The file that `kubenode/constructs` resolves to. */
  readonly constructs: string;
  /** The program of the sandbox. */
  readonly harness: string;
  /** Files and folders that the sandbox may read. */
  readonly readable: readonly string[];
  /** Versions of all packages, by name. */
  readonly versions: Readonly<Record<string, string>>;
  /** Differs for every toolchain that could render a different result. */
  readonly digest: string;
}

interface Package {
  readonly folder: string;
  readonly version: string;
  readonly dependencies: readonly string[];
}

export function resolveToolchain(): Toolchain {
  const here = dirname(fileURLToPath(import.meta.url));
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const code = join(here, '..', '..', '..');
  const root = dirname(code);
  const found = closureOf(root);
  const versions = Object.fromEntries([...found].map(([name, { version }]) => [name, version]));
  return {
    packages: Object.fromEntries(IMPORTABLE.map((name) => [name, found.get(name)?.folder ?? missing(name)])),
    closure: Object.fromEntries([...found].map(([name, { folder }]) => [name, folder])),
    code,
    constructs: join(code, 'constructs', `index.${extension}`),
    harness: join(here, '..', 'harness', `main.${extension}`),
    readable: [
      ...[...found.values()].map(({ folder }) => `${folder}/`),
      `${code}/`,
      join(root, 'package.json'),
    ],
    versions: { ...versions, kubenode: readPackage(root).version },
    digest: digestOf({ versions, node: process.version, code: codeDigest(code) }),
  };
}

/** The packages and their dependencies, as Node resolves them from our own package. */
function closureOf(root: string): Map<string, Package> {
  const found = new Map<string, Package>();
  const pending = REQUIRED.map((name) => ({ name, from: root }));
  for (let next = pending.pop(); next; next = pending.pop()) {
    if (found.has(next.name)) continue;
    const folder = folderOf(next.name, next.from);
    if (folder === undefined) continue;
    const pack = readPackage(folder);
    found.set(next.name, pack);
    pending.push(...pack.dependencies.map((name) => ({ name, from: folder })));
  }
  return new Map([...found].toSorted(([a], [b]) => byCode(a, b)));
}

function folderOf(name: string, from: string): string | undefined {
  for (let parent = from; ; parent = dirname(parent)) {
    const folder = join(parent, 'node_modules', name);
    if (existsSync(join(folder, 'package.json'))) return realpathSync(folder);
    if (parent === dirname(parent)) return undefined;
  }
}

function readPackage(folder: string): Package {
  const json = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    version?: string;
    dependencies?: Record<string, string>;
    peerDependencies?: Record<string, string>;
  };
  const dependencies = Object.keys({ ...json.dependencies, ...json.peerDependencies });
  return { folder, version: json.version ?? '', dependencies };
}

function codeDigest(code: string): string {
  const hash = createHash('sha256');
  for (const part of OWN_FOLDERS) {
    const folder = join(code, part);
    if (!existsSync(folder)) continue;
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted(byCode);
    for (const file of files) {
      const path = join(folder, file);
      if (!/\.[jt]s$/.test(file) || !statSync(path).isFile()) continue;
      hash.update(`${part}/${file}\n`).update(readFileSync(path));
    }
  }
  return hash.digest('hex');
}

function missing(name: string): never {
  throw new Error(`the package ${name} of kubenode is missing: reinstall kubenode`);
}
