import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  createNodeConditionsApi,
  type NodeConditionsApi,
  type NodeConditionsOptions,
} from '../../../../src/agent/detector/report/node-conditions-api.ts';
import type { ApplyOptions, WatchEvent } from '../../../../src/kube/client/client.ts';
import { KubeError } from '../../../../src/kube/client/errors.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { type VirtualClock, virtualClock } from '../../../support/virtual-clock.ts';

const NPD = 'node-problem-detector';
let clock: VirtualClock;
let server: KubeObject | undefined;
let gets: number;
let applied: { readonly object: KubeObject; readonly options: ApplyOptions }[];
let mayWatch: boolean;
let send: (event: WatchEvent) => void;
let api: NodeConditionsApi;

beforeEach(() => {
  clock = virtualClock();
  server = node('1');
  gets = 0;
  applied = [];
  mayWatch = true;
  const log = memoryLog();
  api = createNodeConditionsApi({ client: fakeClient(), name: 'm', clock, log, random: () => 0 });
});

describe('node conditions api', () => {
  it('reads the Node at most every ten seconds while it may not be watched', async () => {
    mayWatch = false;
    watch(() => undefined);
    for (let second = 0; second < 30; second += 1) {
      expect((await api.node())?.metadata.resourceVersion).toBe('1');
      await clock.advance(1000);
    }
    expect(gets).toBe(3);
    server = undefined;
    expect(await api.node({ fresh: true })).toBeUndefined();
    expect(await api.node()).toBeUndefined();
    expect(gets).toBe(4);
  });

  it('follows its watch without a request, and tells each change', async () => {
    let changes = 0;
    watch(() => (changes += 1));
    await clock.advance(0);
    expect((await api.node())?.metadata.resourceVersion).toBe('1');
    const before = changes;
    send({ type: 'MODIFIED', object: node('2') });
    await clock.advance(0);
    expect((await api.node())?.metadata.resourceVersion).toBe('2');
    send({ type: 'DELETED', object: node('3') });
    await clock.advance(0);
    expect(await api.node()).toBeUndefined();
    expect(changes).toBe(before + 2);
    expect(gets).toBe(0);
  });

  it('does not trust the watch for a fresh read, and keeps the owners of conditions alone', async () => {
    watch(() => undefined);
    await clock.advance(0);
    server = node('2');
    const fresh = await api.node({ fresh: true });
    expect(fresh?.metadata.resourceVersion).toBe('2');
    expect(await api.node()).toBe(fresh);
    expect(fresh?.metadata.managedFields?.map(({ manager, fieldsV1 }) => [manager, fieldsV1])).toEqual([
      [NPD, { 'f:status': { 'f:conditions': { 'k:{"type":"A"}': { 'f:status': {} } } } }],
    ]);
    expect(fresh?.status).toEqual({ conditions: [{ type: 'A', status: 'True' }] });
  });

  it('writes to the observed state only, and knows the answer', async () => {
    watch(() => undefined);
    await clock.advance(0);
    const observed = await api.node();
    if (!observed) throw new Error('no Node');
    await api.write([{ type: 'A', status: 'False' }], observed);
    expect(applied).toEqual([
      {
        object: {
          apiVersion: 'v1',
          kind: 'Node',
          metadata: { name: 'm', resourceVersion: '1' },
          status: { conditions: [{ type: 'A', status: 'False' }] },
        },
        options: { fieldManager: 'kubenode-agent', force: true, subresource: 'status' },
      },
    ]);
    expect((await api.node())?.metadata.resourceVersion).toBe('9');
  });
});

function watch(onChange: () => void): void {
  const abort = new AbortController();
  const watching = api.watch(onChange, abort.signal);
  onTestFinished(async () => {
    abort.abort();
    await watching;
  });
}

function fakeClient(): NodeConditionsOptions['client'] {
  const client = {
    async get() {
      gets += 1;
      if (!server) throw new KubeError('NotFound', 'no such Node');
      return structuredClone(server);
    },
    async *pages() {
      if (!mayWatch) throw new KubeError('Forbidden', 'agents may not list Nodes');
      yield { items: server ? [structuredClone(server)] : [], resourceVersion: '1' };
    },
    async *watch(_: unknown, { signal }: { readonly signal?: AbortSignal }) {
      const ended = new Promise<undefined>((resolve) =>
        signal?.addEventListener('abort', () => resolve(undefined)),
      );
      for (;;) {
        const next = Promise.withResolvers<WatchEvent>();
        send = next.resolve;
        const event = await Promise.race([next.promise, ended]);
        if (!event) return;
        yield event;
      }
    },
    async apply(_: unknown, object: KubeObject, options: ApplyOptions) {
      applied.push({ object, options });
      return node('9');
    },
  };
  return client as unknown as NodeConditionsOptions['client'];
}

function node(resourceVersion: string): KubeObject {
  const conditions = { 'k:{"type":"A"}': { 'f:status': {} } };
  const fieldsV1 = { 'f:status': { 'f:conditions': conditions, 'f:images': {} } };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: 'm',
      uid: 'u',
      resourceVersion,
      managedFields: [
        { manager: NPD, operation: 'Update', fieldsV1 },
        { manager: 'kubelet', operation: 'Update', fieldsV1: { 'f:spec': {} } },
      ],
    },
    status: { conditions: [{ type: 'A', status: 'True' }], images: [{ names: ['a'] }] },
  };
}
