/** The packages that a render may use: those of the running kubenode, whatever the fleet repository has installed. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { byCode, digestOf } from '../../kube/objects/digest.ts';

/** What a fleet program imports by name. */
const OFFERED = ['cdk8s', 'cdk8s-plus-27', 'constructs', 'yaml'];
/** What our own constructs and the harness need besides. */
const NEEDED = [...OFFERED, 're2js', 'ajv'];
/** Our own code that decides what a render gives. */
const OWN = ['constructs', 'api', 'rules', 'kube', 'sync'];

export interface Toolchain {
  /** Offered packages: name to folder. */
  readonly packages: Readonly<Record<string, string>>;
  /** Folder of our own code. */
  readonly code: string;
  /** File behind `kubenode/constructs`. */
  readonly constructs: string;
  /** The program that runs in the sandbox. */
  readonly harness: string;
  /** Files and folders that the sandbox may read. */
  readonly readable: readonly string[];
  /** Name to version, of everything that is offered or needed. */
  readonly versions: Readonly<Record<string, string>>;
  /** Changes when another toolchain could render something else. */
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
  const code = join(here, '..', '..');
  const root = dirname(code);
  const found = closureOf(root);
  const versions = Object.fromEntries([...found].map(([name, { version }]) => [name, version]));
  return {
    packages: Object.fromEntries(OFFERED.map((name) => [name, found.get(name)?.folder ?? missing(name)])),
    code,
    constructs: join(code, 'constructs', `index.${extension}`),
    harness: join(here, 'harness', `main.${extension}`),
    readable: [
      ...[...found.values()].map(({ folder }) => `${folder}/`),
      `${code}/`,
      join(root, 'package.json'),
    ],
    versions: { ...versions, kubenode: readPackage(root).version },
    digest: digestOf({ versions, node: process.version, code: codeDigest(code) }),
  };
}

/** The packages and all that they depend on, as Node would find them from our own package. */
function closureOf(root: string): Map<string, Package> {
  const found = new Map<string, Package>();
  const open = NEEDED.map((name) => ({ name, from: root }));
  for (let next = open.pop(); next; next = open.pop()) {
    if (found.has(next.name)) continue;
    const folder = folderOf(next.name, next.from);
    if (folder === undefined) continue;
    const pack = readPackage(folder);
    found.set(next.name, pack);
    open.push(...pack.dependencies.map((name) => ({ name, from: folder })));
  }
  return new Map([...found].toSorted(([a], [b]) => byCode(a, b)));
}

function folderOf(name: string, from: string): string | undefined {
  for (let at = from; ; at = dirname(at)) {
    const folder = join(at, 'node_modules', name);
    if (existsSync(join(folder, 'package.json'))) return realpathSync(folder);
    if (at === dirname(at)) return undefined;
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
  for (const part of OWN) {
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
  throw new Error(`the package ${name} is not installed beside kubenode: install kubenode again`);
}
