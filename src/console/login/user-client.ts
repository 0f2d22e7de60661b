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

export interface UserClientOptions {
  readonly client: Client;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Called when the token is refused, and when something is forbidden that was permitted before. */
  readonly onLoss: (loss: LossOfRights) => void;
}

export function createUserClient({ client, clock, onLoss }: UserClientOptions): Client {
  /** The keys of the requests that the API server permitted. */
  const permitted = new Set<string>();

  return {
    server: client.server,
    get: (resource, name, options) =>
      judged(['get', resource, name.namespace, name.name], () => client.get(resource, name, options)),
    list: (resource, options) =>
      judged(['list', resource, options?.namespace], () => client.list(resource, options)),
    pages: (resource, options) =>
      judgedAll(['list', resource, options?.namespace], () => client.pages(resource, options)),
    watch: (resource, options) =>
      judgedAll(['watch', resource, options.namespace], () => watchShortly(resource, options)),
    create: (resource, object, options) =>
      resource.plural === SELF_SUBJECT_REVIEWS.plural && resource.group === SELF_SUBJECT_REVIEWS.group
        ? judged(['create', resource], () => client.create(resource, object, options))
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

  async function judged<T>(request: ReadRequest, send: () => Promise<T>): Promise<T> {
    try {
      const answer = await send();
      permitted.add(keyOf(request));
      return answer;
    } catch (error) {
      reportLoss(request, error);
      throw error;
    }
  }

  async function* judgedAll<T>(request: ReadRequest, send: () => AsyncIterable<T>): AsyncGenerator<T> {
    try {
      for await (const part of send()) {
        permitted.add(keyOf(request));
        yield part;
      }
      // One without events was permitted, too.
      permitted.add(keyOf(request));
    } catch (error) {
      reportLoss(request, error);
      throw error;
    }
  }

  function reportLoss(request: ReadRequest, error: unknown): void {
    if (isKubeError(error, 'Unauthorized')) onLoss('Unauthorized');
    else if (isKubeError(error, 'Forbidden') && permitted.has(keyOf(request))) onLoss('Forbidden');
  }

  async function* watchShortly(resource: Resource, options: WatchOptions): AsyncGenerator<WatchEvent> {
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
}

function readOnly(): Promise<never> {
  return Promise.reject(new KubeError('Forbidden', 'the console is read-only: nothing was sent'));
}

type ReadRequest = readonly [verb: string, resource: Resource, namespace?: string | undefined, name?: string];

function keyOf([verb, { group, plural }, namespace = '', name = '']: ReadRequest): string {
  return [verb, group, plural, namespace, name].join('/');
}
