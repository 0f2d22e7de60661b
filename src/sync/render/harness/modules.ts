/**
 * Resolves the imports of a fleet program: its own files, the toolchain of the running kubenode, and packages that are committed
 * under node_modules. The toolchain takes precedence, so that installed packages do not change a render.
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
  const [repository, ownCode] = [root, code].map((folder) => pathToFileURL(join(folder, '/')).href) as [
    string,
    string,
  ];
  registerHooks({ resolve });

  function resolve(specifier: string, context: ResolveHookContext, next: Next): ResolveFnOutput {
    const name = packageOf(specifier);
    if (name === undefined || !isProgramFile(context.parentURL)) return next(specifier, context);
    if (specifier === 'kubenode/constructs') return resolved(constructs);
    const folder = packages[name];
    // Resolves from the toolchain. `next` cannot do it: for `require` it always resolves from the requesting file.
    if (folder !== undefined) return resolved(createRequire(join(folder, 'package.json')).resolve(specifier));
    if (existsSync(join(root, 'node_modules', name))) return next(specifier, context);
    throw missing(specifier);
  }

  /** A file of the commit that belongs neither to a package nor to kubenode itself. */
  function isProgramFile(url = ''): boolean {
    return url.startsWith(repository) && !url.startsWith(ownCode) && !url.includes('/node_modules/');
  }

  function missing(specifier: string): Error {
    const known = ['kubenode/constructs', ...Object.keys(packages)].join(', ');
    const message = `"${specifier}" is not available in a render: use ${known}, or commit the package under node_modules`;
    return Object.assign(new Error(message), { code: 'KUBENODE_MISSING_MODULE' });
  }
}

function resolved(path: string): ResolveFnOutput {
  return { url: pathToFileURL(path).href, shortCircuit: true };
}

/** Undefined for a path, a URL or a built-in module. */
function packageOf(specifier: string): string | undefined {
  if (/^[./#]|^[a-z][a-z0-9+.-]*:/i.test(specifier) || BUILTINS.has(specifier)) return undefined;
  return /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0];
}
