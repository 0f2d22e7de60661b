/** The API call of a request, derived from its method, its path and the name in its body. */

export type Verb =
  | 'get'
  | 'list'
  | 'watch'
  | 'create'
  | 'update'
  | 'patch'
  | 'apply' // a PATCH that is a server-side apply
  | 'delete'
  | 'deletecollection'
  | 'discover' // /api, /apis and the paths below, up to a group and version
  | 'raw'; // other paths: /version, /readyz

export const WRITES: ReadonlySet<Verb> = new Set([
  'create',
  'update',
  'patch',
  'apply',
  'delete',
  'deletecollection',
]);

export interface Call {
  readonly verb: Verb;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** '' for the core group. Like the fields below undefined if the path is not one of a resource. */
  readonly group: string | undefined;
  readonly version: string | undefined;
  readonly resource: string | undefined;
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  /** For a create: the name of the object in the body. */
  readonly name: string | undefined;
}

export interface Request {
  readonly method: string;
  /** Path and query, as in the request line. */
  readonly target: string;
  readonly contentType: string | undefined;
  readonly body: Buffer;
}

// `namespaces/x/status` is a subresource of the namespace, `namespaces/x/pods` are pods inside it.
const RESOURCE =
  /^\/(?:api|apis\/(?<group>[^/]+))\/(?<version>[^/]+)(?:\/namespaces\/(?<namespace>[^/]+)(?=\/(?!(?:status|finalize)$)))?\/(?<resource>[^/]+)(?:\/(?<name>[^/]+)(?:\/(?<subresource>.+))?)?$/;
const DISCOVERY = /^\/(?:api|apis\/?(?<group>[^/]*))(?:\/(?<version>[^/]+))?\/?$/;

const NO_RESOURCE = {
  group: undefined,
  version: undefined,
  resource: undefined,
  subresource: undefined,
  namespace: undefined,
  name: undefined,
};

export function parseCall(request: Request): Call {
  const { pathname: path, searchParams } = new URL(request.target, 'https://server.invalid');
  const query = Object.fromEntries(searchParams);
  const words = (RESOURCE.exec(path) ?? DISCOVERY.exec(path))?.groups;
  if (!words) return { ...NO_RESOURCE, verb: 'raw', path, query };
  const { group = '', version, resource, subresource, namespace, name = nameInBody(request) } = words;
  return {
    verb: verbOf(request, words, query),
    path,
    query,
    group,
    version,
    resource,
    subresource,
    namespace,
    name,
  };
}

const VERBS: Readonly<Record<string, (named: boolean, request: Request) => Verb>> = {
  POST: () => 'create',
  PUT: () => 'update',
  PATCH: (_, { contentType = '' }) => (contentType.startsWith('application/apply-patch') ? 'apply' : 'patch'),
  DELETE: (named) => (named ? 'delete' : 'deletecollection'),
};

function verbOf(request: Request, words: Record<string, string>, query: Call['query']): Verb {
  if (words['resource'] === undefined) return 'discover';
  const named = words['name'] !== undefined;
  const write = VERBS[request.method];
  if (write) return write(named, request);
  if (['true', '1'].includes(query['watch'] ?? '')) return 'watch';
  return named ? 'get' : 'list';
}

function nameInBody({ method, body }: Request): string | undefined {
  if (method !== 'POST') return undefined;
  try {
    const object = JSON.parse(body.toString('utf8')) as { metadata?: { name?: string } } | null;
    return object?.metadata?.name;
  } catch {
    return undefined; // not JSON: the server will report it
  }
}
