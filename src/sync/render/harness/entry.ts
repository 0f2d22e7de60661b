/** Finds what to render in a repository: a cdk8s program, or folders of plain YAML. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { parse } from 'yaml';

export type RenderEntry =
  | { readonly kind: 'program'; readonly file: string }
  | { readonly kind: 'plain'; readonly folder: string }
  | { readonly kind: 'none'; readonly reason: string };

const PROGRAMS = ['fleet/main.ts', 'fleet/main.js', 'main.ts', 'main.js'];

export function findEntry(root: string, path: string): RenderEntry {
  const folder = normalize(path);
  if (folder.startsWith('..') || folder.startsWith('/')) return none(`${path} is outside of the repository`);
  if (!isFolder(join(root, folder))) return none(`the commit has no folder ${folder}`);
  if (existsSync(join(root, folder, 'cdk8s.yaml'))) return fromCdk8sYaml(root, folder);
  const program = PROGRAMS.find((file) => existsSync(join(root, folder, file)));
  if (program) return { kind: 'program', file: join(folder, program) };
  if (['hub', 'clusters'].some((name) => isFolder(join(root, folder, name)))) return plain(folder);
  return none(
    `${folder === '.' ? 'the commit' : folder} contains neither cdk8s.yaml, nor ${PROGRAMS.join(', ')}, nor a folder hub or clusters`,
  );
}

/**
 * The command of `app`. cdk8s runs it as it is, and in a checkout of kubenode it needs the condition for the sources; here kubenode is resolved
 * without it.
 */
const APP = /^node\s+(?:--conditions=kubenode-source\s+)?(?<program>[\w./@-]+\.[cm]?[jt]s)$/;

/** We run the program ourselves, so `app` has to be a plain call of Node. */
function fromCdk8sYaml(root: string, folder: string): RenderEntry {
  const file = join(folder, 'cdk8s.yaml');
  const config: unknown = parse(readFileSync(join(root, file), 'utf8'));
  const app = (config as { app?: unknown } | null)?.app;
  if (typeof app !== 'string') return none(`${file} has no app: write \`app: node fleet/main.ts\``);
  const program = APP.exec(app.trim())?.groups?.['program'];
  if (program === undefined) return none(`${file}: expected \`app: node FILE\`, got \`app: ${app}\``);
  const target = normalize(join(folder, program));
  if (target.startsWith('..') || !existsSync(join(root, target))) {
    return none(`${file} names ${program}, which is not in the commit`);
  }
  return { kind: 'program', file: target };
}

function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}

function plain(folder: string): RenderEntry {
  return { kind: 'plain', folder };
}

function none(reason: string): RenderEntry {
  return { kind: 'none', reason };
}
