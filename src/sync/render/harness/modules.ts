/**
 * Where imports of a fleet program come from: its own files, the toolchain of this kubenode, and packages that are committed under
 * node_modules. The toolchain wins, so that what a person has installed changes nothing.
 */
import { existsSync } from 'node:fs';
import {
  builtinModules,
  createRequire,
  type ResolveFnOutput,
  type ResolveHookContext,
  registerHooks,
} from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { RenderJob } from '../protocol.ts';

type Next = (specifier: string, context?: Partial<ResolveHookContext>) => ResolveFnOutput;

const BUILTINS = new Set(builtinModules);

export function resolveFromToolchain({ root, code, packages, constructs }: RenderJob): void {
  const [inside, own] = [root, code].map((folder) => pathToFileURL(join(folder, '/')).href) as [
    string,
    string,
  ];
  registerHooks({ resolve });

  function resolve(specifier: string, context: ResolveHookContext, next: Next): ResolveFnOutput {
    const name = packageOf(specifier);
    if (name === undefined || !isOfProgram(context.parentURL)) return next(specifier, context);
    if (specifier === 'kubenode/constructs') return found(constructs);
    const folder = packages[name];
    // As if a file of the toolchain asked. `next` would not do: for `require` it sees only the file that really asks.
    if (folder !== undefined) return found(createRequire(join(folder, 'package.json')).resolve(specifier));
    if (existsSync(join(root, 'node_modules', name))) return next(specifier, context);
    throw missing(specifier);
  }

  /** A file of the commit, and neither of a package nor of kubenode itself. */
  function isOfProgram(url = ''): boolean {
    return url.startsWith(inside) && !url.startsWith(own) && !url.includes('/node_modules/');
  }

  function missing(specifier: string): Error {
    const known = ['kubenode/constructs', ...Object.keys(packages)].join(', ');
    const message = `"${specifier}" is not available in a render: use ${known}, or commit the package under node_modules`;
    return Object.assign(new Error(message), { code: 'KUBENODE_MISSING_MODULE' });
  }
}

function found(path: string): ResolveFnOutput {
  return { url: pathToFileURL(path).href, shortCircuit: true };
}

/** Nothing for a path, a URL or a module of Node. */
function packageOf(specifier: string): string | undefined {
  if (/^[./#]|^[a-z][a-z0-9+.-]*:/i.test(specifier) || BUILTINS.has(specifier)) return undefined;
  return /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0];
}
