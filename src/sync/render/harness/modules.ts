/**
 * Resolves the imports of a fleet program: its own files, the toolchain of the running kubenode, and packages that are committed
 * under node_modules. The toolchain takes precedence, so that installed packages do not change a render. Nothing else of this
 * machine can be resolved, and the answer is the same for a file that exists and for one that does not: Node's loader looks for
 * files without asking its permission model.
 */
import { existsSync } from 'node:fs';
import Module, {
  builtinModules,
  createRequire,
  type ResolveFnOutput,
  type ResolveHookContext,
  registerHooks,
} from 'node:module';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { RenderJob } from '../protocol.ts';
import { rejectModule } from './disable-builtins.ts';

type Next = (specifier: string, context?: Partial<ResolveHookContext>) => ResolveFnOutput;

const BUILTINS = new Set(builtinModules);

const NOT_FOUND = ['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND', 'ERR_ACCESS_DENIED'];

export function resolveFromToolchain({ root, code, packages, constructs }: RenderJob): void {
  const [repository, ownCode] = [root, code].map((folder) => pathToFileURL(join(folder, '/')).href) as [
    string,
    string,
  ];
  // Captured before the program can replace it. Undefined without the sandbox, as in an editor.
  const permission = process.permission as { has(scope: string, path: string): boolean } | undefined;
  const has = permission?.has.bind(permission);
  const isReadable = (path: string): boolean => has?.('fs.read', path) ?? true;
  limitFindPath(isReadable);
  registerHooks({ resolve });

  function resolve(specifier: string, context: ResolveHookContext, next: Next): ResolveFnOutput {
    rejectModule(specifier);
    const path = pathIn(specifier, context.parentURL);
    if (path !== undefined && !isReadable(path)) throw outside(specifier);
    const found = resolveInside(specifier, context, next);
    if (found.url.startsWith('file:') && !isReadable(fileURLToPath(found.url))) throw notFound(specifier);
    return found;
  }

  function resolveInside(specifier: string, context: ResolveHookContext, next: Next): ResolveFnOutput {
    try {
      return resolvePackage(specifier, context, next);
    } catch (error) {
      // The code and the message of Node depend on the files that it found on the way.
      if (NOT_FOUND.includes((error as NodeJS.ErrnoException).code ?? '')) throw notFound(specifier);
      throw error;
    }
  }

  function resolvePackage(specifier: string, context: ResolveHookContext, next: Next): ResolveFnOutput {
    const name = packageOf(specifier);
    if (name === undefined || !isProgramFile(context.parentURL)) return next(specifier, context);
    if (specifier === 'kubenode/constructs') return resolved(constructs);
    const folder = packages[name];
    // Resolves from the toolchain. `next` cannot do it: for `require` it always resolves from the requesting file.
    if (folder !== undefined) return resolved(createRequire(join(folder, 'package.json')).resolve(specifier));
    if (existsSync(join(root, 'node_modules', name))) return next(specifier, context);
    throw missing(specifier);
  }

  /** Tells whether it is a file of the commit that belongs neither to a package nor to kubenode itself. */
  function isProgramFile(url = ''): boolean {
    return url.startsWith(repository) && !url.startsWith(ownCode) && !url.includes('/node_modules/');
  }

  function missing(specifier: string): Error {
    const known = ['kubenode/constructs', ...Object.keys(packages)].join(', ');
    const message = `"${specifier}" is not available in a render: use ${known}, or commit the package under node_modules`;
    return Object.assign(new Error(message), { code: 'KUBENODE_MISSING_MODULE' });
  }
}

type FindPath = (request: string, paths: readonly string[], isMain?: boolean) => string | false;

/** `Module._resolveFilename` and `_findPath` can be called directly, without a hook. */
function limitFindPath(isReadable: (path: string) => boolean): void {
  const find = (Module as unknown as Record<string, FindPath>)['_findPath'];
  const limited: FindPath = (request, paths, isMain) => {
    if (isAbsolute(request) && !isReadable(request)) return false;
    const found = find?.call(Module, request, paths, isMain) ?? false;
    return found !== false && isReadable(found) ? found : false;
  };
  Object.defineProperty(Module, '_findPath', { value: limited });
  Object.defineProperty(Module, '_stat', { value: undefined });
}

/** The path that a specifier names, whether or not it exists. Undefined for packages and built-in modules. */
function pathIn(specifier: string, parent: string | undefined): string | undefined {
  if (isAbsolute(specifier)) return join(specifier);
  const base = /^\.{0,2}\//.test(specifier) || /^\.{1,2}$/.test(specifier) ? parent : undefined;
  const url = URL.parse(specifier, base);
  return url?.protocol === 'file:' ? pathOrNothing(url) : undefined;
}

function pathOrNothing(url: URL): string | undefined {
  try {
    return fileURLToPath(url);
  } catch {
    // Node refuses it as well: a host, or an encoded slash.
    return undefined;
  }
}

function outside(specifier: string): Error {
  const message = `${JSON.stringify(specifier)} is outside of the repository`;
  return Object.assign(new Error(message), { code: 'ERR_ACCESS_DENIED' });
}

function notFound(specifier: string): Error {
  return Object.assign(new Error(`Cannot find module '${specifier}'`), { code: 'MODULE_NOT_FOUND' });
}

function resolved(path: string): ResolveFnOutput {
  return { url: pathToFileURL(path).href, shortCircuit: true };
}

/** Returns the package of an import. Undefined for a path, a URL or a built-in module. */
function packageOf(specifier: string): string | undefined {
  if (/^[./#]|^[a-z][a-z0-9+.-]*:/i.test(specifier) || BUILTINS.has(specifier)) return undefined;
  return /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0];
}
