import { describe, expect, it } from 'vitest';
import { MACHINES, PIPELINES } from '../../../src/api/generated/resources.ts';
import {
  createUserClient,
  type LossOfRights,
  type LostRequest,
} from '../../../src/console/login/user-client.ts';
import { SELF_SUBJECT_REVIEWS } from '../../../src/kube/auth/self-review.ts';
import type { Client, WatchEvent, WatchOptions } from '../../../src/kube/client/client.ts';
import { isKubeError, KubeError } from '../../../src/kube/client/errors.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const machine: KubeObject = {
  apiVersion: 'kubenode.dev/v1alpha1',
  kind: 'Machine',
  metadata: { name: 'm-1' },
};
const forbidden = new KubeError('Forbidden', 'forbidden');

interface Bed {
  readonly client: Client;
  readonly clock: ReturnType<typeof virtualClock>;
  readonly losses: readonly LossOfRights[];
  readonly watches: readonly WatchOptions[];
  readonly writes: readonly string[];
  /** What the next call rejects with. */
  error: KubeError | undefined;
}

function bed(): Bed {
  const clock = virtualClock();
  const losses: LossOfRights[] = [];
  const watches: WatchOptions[] = [];
  const writes: string[] = [];
  const answer = (): Promise<unknown> =>
    state.error ? Promise.reject(state.error) : Promise.resolve({ items: [] });
  const inner = {
    server: 'https://c',
    get: answer,
    list: answer,
    async *pages() {
      yield await answer();
    },
    async *watch(_: unknown, options: WatchOptions): AsyncGenerator<WatchEvent> {
      watches.push(options);
      if (state.error) throw state.error;
      yield { type: 'ADDED', object: machine };
      await new Promise((_resolve, reject) => {
        options.signal?.addEventListener('abort', () => reject(new KubeError('Aborted', 'aborted')), {
          once: true,
        });
      });
    },
    ...Object.fromEntries(
      ['create', 'apply', 'replace', 'patch', 'delete'].map((verb) => [
        verb,
        () => {
          writes.push(verb);
          return answer();
        },
      ]),
    ),
    close: () => Promise.resolve(),
  };
  const client = createUserClient({
    client: inner as unknown as Client,
    clock,
    onLoss: (loss) => void losses.push(loss),
  });
  const state: Bed = { client, clock, losses, watches, writes, error: undefined };
  return state;
}

const fail = (): Promise<never> => Promise.reject(new KubeError('Unauthorized', 'refused'));

async function* failAll(): AsyncGenerator<never> {
  yield await fail();
}

async function readAll(events: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of events) count += 1;
  return count;
}

describe('createUserClient', () => {
  it('CON-23 opens watches of thirty seconds, whatever was asked, and ends one that the server does not end', async () => {
    const { client, clock, watches } = bed();
    const reading = readAll(client.watch(MACHINES, { resourceVersion: '1', timeoutSeconds: 600 }));
    await clock.advance(34_999);
    expect(watches.map(({ timeoutSeconds }) => timeoutSeconds)).toEqual([30]);
    await clock.advance(1);
    expect(await reading).toBe(1);
    expect(clock.sleepers).toBe(0);
  });

  it('CON-33 sends a request that was refused once more, with another client and the same right', async () => {
    const requests: LostRequest[] = [];
    const sent: unknown[] = [];
    const refusing = { get: fail, list: fail, pages: failAll, watch: failAll };
    const client = createUserClient({
      client: refusing as unknown as Client,
      clock: virtualClock(),
      onLoss: (_, request) => void requests.push(request),
    });
    const options = { signal: AbortSignal.abort() };
    await client.get(MACHINES, { name: 'm-1' }, options).catch(() => undefined);
    await client.list(MACHINES, { ...options, limit: 5 }).catch(() => undefined);
    await readAll(client.pages(MACHINES, options)).catch(() => undefined);
    const watched = { ...options, resourceVersion: '7', timeoutSeconds: 600 };
    await readAll(client.watch(MACHINES, watched)).catch(() => undefined);
    const { signal } = new AbortController();
    const other = {
      get: (...asked: unknown[]) => Promise.resolve(void sent.push(['get', ...asked.slice(1)])),
      list: (...asked: unknown[]) => Promise.resolve(void sent.push(['list', ...asked.slice(1)])),
      async *watch(...asked: unknown[]) {
        sent.push(['watch', ...asked.slice(1)]);
        yield* [];
      },
    };
    for (const { sendAgain } of requests) await sendAgain(other as unknown as Client, signal); // oxlint-disable-line no-await-in-loop -- one after the other
    expect(sent).toEqual([
      ['get', { name: 'm-1' }, { signal }],
      ['list', { signal, limit: 5 }],
      ['list', { signal, limit: 1 }],
      ['watch', { signal, resourceVersion: '7', timeoutSeconds: 1 }],
    ]);
    expect(requests.map(({ key }) => key.split('/')[0])).toEqual(['get', 'list', 'list', 'watch']);
  });

  it('leaves a watch that its caller ends to the caller', async () => {
    const { client, clock } = bed();
    const stop = new AbortController();
    const reading = readAll(
      client.watch(MACHINES, { resourceVersion: '1', timeoutSeconds: 10, signal: stop.signal }),
    ).catch((error: unknown) => error);
    await clock.advance(5000);
    stop.abort();
    expect(isKubeError(await reading, 'Aborted')).toBe(true);
    expect(clock.sleepers).toBe(0);
  });

  it('CON-23 reports a right that was taken away, and not one that was never given', async () => {
    const each = bed();
    const { client, losses } = each;
    await client.list(MACHINES);
    each.error = forbidden;
    await expect(client.list(PIPELINES)).rejects.toBe(forbidden);
    await expect(readAll(client.pages(PIPELINES))).rejects.toBe(forbidden);
    await expect(client.get(MACHINES, { name: 'm-1' })).rejects.toBe(forbidden);
    expect(losses).toEqual([]);
    await expect(client.list(MACHINES)).rejects.toBe(forbidden);
    expect(losses).toEqual(['Forbidden']);
  });

  it('CON-23 reports a watch of what was listed before, when it is opened again without the right', async () => {
    const each = bed();
    await readAll(each.client.pages(MACHINES));
    const first = readAll(each.client.watch(MACHINES, { resourceVersion: '1', timeoutSeconds: 10 }));
    await each.clock.advance(15_000);
    await first;
    each.error = forbidden;
    const watch = each.client.watch(MACHINES, { resourceVersion: '1', timeoutSeconds: 10 });
    await expect(readAll(watch)).rejects.toBe(each.error);
    await expect(readAll(each.client.pages(MACHINES))).rejects.toBe(forbidden);
    expect(each.losses).toEqual(['Forbidden', 'Forbidden']);
  });

  it('CON-22 takes a kind that may be listed and not watched for a right that is missing, and not for one that was taken away', async () => {
    const each = bed();
    await readAll(each.client.pages(MACHINES));
    each.error = forbidden;
    const watch = each.client.watch(MACHINES, { resourceVersion: '1', timeoutSeconds: 10 });
    await expect(readAll(watch)).rejects.toBe(forbidden);
    expect(each.losses).toEqual([]);
  });

  it('CON-23 reports a token that is refused by any call', async () => {
    const each = bed();
    each.error = new KubeError('Unauthorized', 'Unauthorized');
    await expect(each.client.get(MACHINES, { name: 'm-1' })).rejects.toBe(each.error);
    const watch = each.client.watch(PIPELINES, { resourceVersion: '1', timeoutSeconds: 10 });
    await expect(readAll(watch)).rejects.toBe(each.error);
    expect(each.losses).toEqual(['Unauthorized', 'Unauthorized']);
  });

  it('reports nothing when the server cannot be reached', async () => {
    const each = bed();
    await each.client.list(MACHINES);
    each.error = new KubeError('Unreachable', 'connect ECONNREFUSED');
    await expect(each.client.list(MACHINES)).rejects.toBe(each.error);
    expect(each.losses).toEqual([]);
  });

  it('CON-22 sends no write, whatever the person may do, but the question who it is', async () => {
    const { client, writes } = bed();
    const how = { fieldManager: 'x', uid: 'u' };
    const attempts = [
      () => client.create(MACHINES, machine),
      () => client.apply(MACHINES, machine, how),
      () => client.replace(MACHINES, machine),
      () => client.patch(MACHINES, { name: 'm-1' }, { type: 'merge', body: {} }),
      () => client.delete(MACHINES, { name: 'm-1' }, how),
    ];
    for (const attempt of attempts) await expect(attempt()).rejects.toThrow('the console is read-only'); // oxlint-disable-line no-await-in-loop -- one after the other
    expect(writes).toEqual([]);
    await client.create(SELF_SUBJECT_REVIEWS, machine);
    expect(writes).toEqual(['create']);
  });
});
