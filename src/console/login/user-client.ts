/**
 * Wraps the client of one person for the console: it reads only, each watch is so short that the API server judges the rights again and
 * again, and it reports when a right or the token was taken away. An API server judges a watch only when it is opened.
 */
import { SELF_SUBJECT_REVIEWS } from '../../kube/auth/self-review.ts';
import type { Client, WatchEvent, WatchOptions } from '../../kube/client/client.ts';
import { isKubeError, KubeError } from '../../kube/client/errors.ts';
import type { Resource } from '../../kube/objects/object.ts';
import type { Clock } from '../../os/clock.ts';

/** The longest watch. Rights that were taken away count after this time, and that of the caches of the API server. */
const WATCH_SECONDS = 30;
/** A server or proxy that does not end a watch in time: it is ended here. */
const OVERDUE_MS = 5000;

export type LossOfRights = 'Unauthorized' | 'Forbidden';

/** The request that the API server refused. */
export interface LostRequest {
  /** Differs between requests that need different rights. */
  readonly key: string;
  readonly error: unknown;
  /** Sends the request once more, with another client of the same person. Rejects with the error of the server. */
  readonly sendAgain: (client: Client, signal: AbortSignal) => Promise<unknown>;
}

export interface UserClientOptions {
  readonly client: Client;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Called when the token is refused, and when something is forbidden that was permitted before. */
  readonly onLoss: (loss: LossOfRights, request: LostRequest) => void;
}

export function createUserClient({ client, clock, onLoss }: UserClientOptions): Client {
  /** The keys of the requests that the API server permitted. */
  const permitted = new Set<string>();

  return {
    server: client.server,
    get: (resource, name, options) =>
      judged(['get', resource, name.namespace, name.name], (to, limits) =>
        to.get(resource, name, { ...options, ...limits }),
      ),
    list: (resource, options) =>
      judged(['list', resource, options?.namespace], (to, limits) =>
        to.list(resource, { ...options, ...limits }),
      ),
    pages: (resource, options) =>
      judgedAll(
        ['list', resource, options?.namespace],
        () => client.pages(resource, options),
        // The first object needs the same right.
        (to, limits) => to.list(resource, { ...options, ...limits, limit: 1 }),
      ),
    watch: (resource, options) =>
      judgedAll(
        ['watch', resource, options.namespace],
        () => watchShortly({ client, clock }, resource, options),
        (to, limits) => firstOf(to.watch(resource, { ...options, ...limits, timeoutSeconds: 1 })),
      ),
    create: (resource, object, options) =>
      resource.plural === SELF_SUBJECT_REVIEWS.plural && resource.group === SELF_SUBJECT_REVIEWS.group
        ? judged(['create', resource], (to, limits) => to.create(resource, object, { ...options, ...limits }))
        : readOnly(),
    apply: readOnly,
    replace: readOnly,
    patch: readOnly,
    delete: readOnly,
    resourceFor: (apiVersion, kind) => client.resourceFor(apiVersion, kind),
    resources: () => client.resources(),
    forgetResources: () => client.forgetResources(),
    raw: (path, options) => client.raw(path, options),
    close: () => client.close(),
  };

  async function judged<T>(request: ReadRequest, send: Send<T>): Promise<T> {
    try {
      const answer = await send(client);
      permitted.add(keyOf(request));
      return answer;
    } catch (error) {
      reportLoss(request, error, send);
      throw error;
    }
  }

  async function* judgedAll<T>(
    request: ReadRequest,
    send: () => AsyncIterable<T>,
    sendAgain: Send<unknown>,
  ): AsyncGenerator<T> {
    try {
      for await (const part of send()) {
        permitted.add(keyOf(request));
        yield part;
      }
      // One without events was permitted, too.
      permitted.add(keyOf(request));
    } catch (error) {
      reportLoss(request, error, sendAgain);
      throw error;
    }
  }

  function reportLoss(request: ReadRequest, error: unknown, send: Send<unknown>): void {
    const key = keyOf(request);
    const refused: LostRequest = { key, error, sendAgain: (to, signal) => send(to, { signal }) };
    if (isKubeError(error, 'Unauthorized')) onLoss('Unauthorized', refused);
    else if (isKubeError(error, 'Forbidden') && permitted.has(key)) onLoss('Forbidden', refused);
  }
}

async function* watchShortly(
  { client, clock }: Pick<UserClientOptions, 'client' | 'clock'>,
  resource: Resource,
  options: WatchOptions,
): AsyncGenerator<WatchEvent> {
  const over = new AbortController();
  const timeoutSeconds = Math.min(options.timeoutSeconds, WATCH_SECONDS);
  const signal = options.signal ? AbortSignal.any([options.signal, over.signal]) : over.signal;
  const cancel = new AbortController();
  const timer = clock.sleep(timeoutSeconds * 1000 + OVERDUE_MS, cancel.signal).then(
    () => over.abort(),
    () => undefined,
  );
  try {
    yield* client.watch(resource, { ...options, timeoutSeconds, signal });
  } catch (error) {
    // An overdue watch counts as ended.
    if (!over.signal.aborted) throw error;
  } finally {
    cancel.abort();
    await timer;
  }
}

function readOnly(): Promise<never> {
  return Promise.reject(new KubeError('Forbidden', 'the console is read-only: nothing was sent'));
}

async function firstOf(events: AsyncIterable<unknown>): Promise<unknown> {
  for await (const event of events) return event;
  return undefined;
}

/** Sends a request, at the second time with limits of its own. */
type Send<T> = (to: Client, limits?: { readonly signal: AbortSignal }) => Promise<T>;

type ReadRequest = readonly [verb: string, resource: Resource, namespace?: string | undefined, name?: string];

function keyOf([verb, { group, plural }, namespace = '', name = '']: ReadRequest): string {
  return [verb, group, plural, namespace, name].join('/');
}
