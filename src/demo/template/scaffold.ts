/** Creates the files of a new fleet repository from templates. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { kubeconfigSecret } from '../../api/names.ts';

export interface ScaffoldOptions {
  readonly content: 'Fleet' | 'Plain' | 'Demo' | 'Hosts';
  /** The only cluster of a fleet of hosts. */
  readonly cluster?: ScaffoldCluster;
  /** The URL from which sync fetches it. */
  readonly repository: string;
  /** The kubenode dependency in package.json: a version range, or the path of a tarball. */
  readonly kubenode: string;
  /** The name of the new package. */
  readonly name: string;
}

export interface ScaffoldCluster {
  readonly name: string;
  /** The URL at which nodes reach its API server. */
  readonly server: string;
}

const FOLDER = dirname(fileURLToPath(import.meta.url));
/** The checkout or the installed package that runs: `src` in the one and `dist` in the other have the same depth. */
export const PACKAGE_ROOT = dirname(dirname(dirname(FOLDER)));
/** A repository has its kubenode there, as a package. */
export const VENDOR_FOLDER = 'vendor';
/** Template names of files that npm pack would change or omit. */
const RENAMED: Readonly<Record<string, string>> = {
  _gitignore: '.gitignore',
  '_package.json': 'package.json',
  '_gitlab-ci.yml': '.gitlab-ci.yml',
};
/** A manual page. The other runbooks belong to the rules of the fleet. */
const DENIALS_PAGE = 'docs/runbooks/denials.md';
const REPOSITORY = "repository: 'https://git.example.com/platform/fleet'";
/** The Secret with the credential of the repository. */
export const REPOSITORY_SECRET = 'fleet-repository';
const CREDENTIALS = new RegExp(`^ *credentialsRef: \\{ name: '${REPOSITORY_SECRET}' \\},\n`, 'm');

/** Maps each path to its content. */
export function createScaffold(options: ScaffoldOptions): ReadonlyMap<string, string> {
  const templates = join(FOLDER, 'templates');
  // The example fleet of this repository is the template, so there is no copy to keep up to date.
  const example = ['fleet', 'rules', 'docs/runbooks']
    .flatMap((name) => filesIn(join(PACKAGE_ROOT, name), `${name}/`))
    .filter(([path]) => path !== DENIALS_PAGE);
  const own = TEMPLATES[options.content].flatMap((name) => filesIn(join(templates, name), ''));
  const content = isExample(options) ? [...example, ...own] : own;
  const files = [...filesIn(join(templates, 'common'), ''), ...content];
  return new Map(files.map(([path, text]) => [targetPath(path), fillTemplate(path, text, options)]));
}

/** Files of a later folder replace those of an earlier one. */
const TEMPLATES: Readonly<Record<ScaffoldOptions['content'], readonly string[]>> = {
  Demo: ['demo'],
  Fleet: ['fleet'],
  Hosts: ['fleet', 'hosts'],
  Plain: ['plain'],
};

function isExample({ content }: ScaffoldOptions): boolean {
  return content === 'Fleet' || content === 'Hosts';
}

function filesIn(folder: string, prefix: string): [path: string, text: string][] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .toSorted()
    .map((name) => [`${prefix}${name}`, readFileSync(join(folder, name), 'utf8')]);
}

function targetPath(path: string): string {
  return RENAMED[path] ?? path.replace(/^_github\//, '.github/');
}

function fillTemplate(path: string, text: string, options: ScaffoldOptions): string {
  if (path === '_package.json') return packageJson(text, options);
  if (path === 'README.md') return readme(text, options);
  if (path === 'fleet/clusters.ts') return clusters(text, options);
  if (path !== 'fleet/pipelines.ts') return text;
  const url = text.replace(REPOSITORY, `repository: ${quoteString(options.repository)}`);
  // A local folder needs no token, and a reference to a missing Secret would be an error.
  return options.repository.startsWith('file:') ? url.replace(CREDENTIALS, '') : url;
}

function clusters(text: string, { cluster }: ScaffoldOptions): string {
  if (!cluster) return text;
  return text
    .replace("name: 'my-cluster'", `name: ${quoteString(cluster.name)}`)
    .replace("'my-cluster-kubeconfig'", quoteString(kubeconfigSecret(cluster.name)))
    .replace("'https://api.example.com:6443'", quoteString(cluster.server));
}

/** A repository without a package of kubenode has neither that folder nor a lock file. */
function readme(text: string, { kubenode }: ScaffoldOptions): string {
  if (kubenode.startsWith(`file:${VENDOR_FOLDER}/`)) return text;
  return text.replace(/^\| `vendor\/` .*\n/m, '').replace('    npm ci\n', '    npm install\n');
}

function packageJson(text: string, { kubenode, name }: ScaffoldOptions): string {
  const own = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8')) as PackageJson;
  const versions = { ...own.devDependencies, ...own.dependencies };
  const values: Readonly<Record<string, string | undefined>> = {
    KUBENODE: kubenode,
    CDK8S: versions['cdk8s'],
    CDK8S_PLUS: versions['cdk8s-plus-27'],
    CONSTRUCTS: versions['constructs'],
    TYPES_NODE: versions['@types/node'],
    TYPESCRIPT: versions['typescript'],
  };
  return text
    .replace('"my-fleet"', JSON.stringify(name))
    .replace(/@([A-Z0-9_]+)@/g, (_, key: string) => JSON.stringify(values[key] ?? '*').slice(1, -1));
}

interface PackageJson {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** A TypeScript string literal. */
function quoteString(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/** Missing, empty, or containing only `.git`. */
export function isEmptyFolder(folder: string): boolean {
  return (
    !existsSync(folder) ||
    (statSync(folder).isDirectory() && readdirSync(folder).every((name) => name === '.git'))
  );
}
