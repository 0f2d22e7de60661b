/** Which files a new fleet repository gets, and what is filled in. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface ScaffoldOptions {
  /** Plain Kubernetes objects in place of machines and rules. */
  readonly plain: boolean;
  /** What sync will read. */
  readonly repository: string;
  /** What package.json asks for: a version range, or the path of a tarball. */
  readonly kubenode: string;
  /** Of the new package. */
  readonly name: string;
}

/** Files that npm pack would change or leave out have another name among the templates. */
const RENAMED: Readonly<Record<string, string>> = {
  _gitignore: '.gitignore',
  '_package.json': 'package.json',
  '_gitlab-ci.yml': '.gitlab-ci.yml',
};
const REPOSITORY = "repository: 'https://git.example.com/platform/fleet'";
const CREDENTIALS = /^ *credentialsRef: \{ name: 'fleet-repository' \},\n/m;

/** Path to content. */
export function scaffold(options: ScaffoldOptions): ReadonlyMap<string, string> {
  const here = dirname(fileURLToPath(import.meta.url));
  const packageRoot = dirname(dirname(dirname(dirname(here))));
  const templates = join(here, 'templates');
  // The example fleet of our own repository is the template: there is no second one that could age.
  const content = options.plain
    ? filesIn(join(templates, 'plain'), '')
    : [...filesIn(join(packageRoot, 'fleet'), 'fleet/'), ...filesIn(join(packageRoot, 'rules'), 'rules/')];
  const files = [...filesIn(join(templates, 'common'), ''), ...content];
  return new Map(files.map(([path, text]) => [targetOf(path), filled(path, text, options, packageRoot)]));
}

function filesIn(folder: string, prefix: string): [path: string, text: string][] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .toSorted()
    .map((name) => [`${prefix}${name}`, readFileSync(join(folder, name), 'utf8')]);
}

function targetOf(path: string): string {
  return RENAMED[path] ?? path.replace(/^_github\//, '.github/');
}

function filled(path: string, text: string, options: ScaffoldOptions, packageRoot: string): string {
  if (path === '_package.json') return packageJson(text, options, packageRoot);
  if (path !== 'fleet/pipelines.ts') return text;
  const url = text.replace(REPOSITORY, `repository: ${quoted(options.repository)}`);
  // A folder on this machine needs no token, and a Secret that is not there would be an error.
  return options.repository.startsWith('file:') ? url.replace(CREDENTIALS, '') : url;
}

function packageJson(text: string, { kubenode, name }: ScaffoldOptions, packageRoot: string): string {
  const own = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as Manifest;
  const versions = { ...own.devDependencies, ...own.dependencies };
  const values: Readonly<Record<string, string | undefined>> = {
    KUBENODE: kubenode,
    CDK8S: versions['cdk8s'],
    CONSTRUCTS: versions['constructs'],
    TYPES_NODE: versions['@types/node'],
    TYPESCRIPT: versions['typescript'],
  };
  return text
    .replace('"my-fleet"', JSON.stringify(name))
    .replace(/@([A-Z0-9_]+)@/g, (_, key: string) => JSON.stringify(values[key] ?? '*').slice(1, -1));
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** As a TypeScript string. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/** Empty, or nothing but a fresh `git init`. */
export function isFree(folder: string): boolean {
  return (
    !existsSync(folder) ||
    (statSync(folder).isDirectory() && readdirSync(folder).every((name) => name === '.git'))
  );
}
