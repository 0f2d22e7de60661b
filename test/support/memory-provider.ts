/** A provider in memory that fails on demand: the callers of providers are tested against it. */
import { matchesFilter } from '../../src/providers/cloud/tags.ts';
import {
  type Instance,
  type InstanceEvent,
  type InstanceRequest,
  type Provider,
  ProviderError,
} from '../../src/providers/contract.ts';

/** Before: nothing happens. After: it happens, and the answer is lost. */
export type ProviderFault =
  | 'RetryableBefore'
  | 'AmbiguousAfter'
  | 'Throttled'
  | 'Quota'
  | 'Auth'
  | 'Terminal';

export interface MemoryProvider extends Provider {
  readonly instances: Map<string, Instance>;
  /** `create u-1` in order, with ` -> Quota` where it failed. */
  readonly calls: string[];
  /** All requests that created something. */
  readonly created: InstanceRequest[];
  fault: (call: string) => ProviderFault | undefined;
  setState(id: string, state: Instance['state']): void;
  /** What it announces now; the provider has the capability. */
  announced: readonly InstanceEvent[];
}

const ERRORS: Readonly<Record<ProviderFault, () => ProviderError>> = {
  RetryableBefore: () => new ProviderError('Retryable', 'the server failed'),
  AmbiguousAfter: () => new ProviderError('Ambiguous', 'the answer was lost'),
  Throttled: () => new ProviderError('Retryable', 'too many requests', { retryAfterSeconds: 7 }),
  Quota: () => new ProviderError('Quota', 'no capacity'),
  Auth: () => new ProviderError('Auth', 'the key has expired'),
  Terminal: () => new ProviderError('Terminal', 'no such image', { reason: 'ImageMissing' }),
};

export function memoryProvider(now: () => Date): MemoryProvider {
  const instances = new Map<string, Instance>();
  const deleted = new Set<string>();
  const calls: string[] = [];
  const created: InstanceRequest[] = [];

  function call<T>(text: string, act: () => T): Promise<T> {
    const fault = provider.fault(text);
    calls.push(fault ? `${text} -> ${fault}` : text);
    return new Promise((resolve, reject) => {
      if (fault && fault !== 'AmbiguousAfter') return reject(ERRORS[fault]());
      const result = act();
      return fault ? reject(ERRORS[fault]()) : resolve(result);
    });
  }

  function create(request: InstanceRequest): string {
    const id = `local:///${request.tags.machineUid}`;
    if (deleted.has(id)) throw new ProviderError('Terminal', 'it was deleted', { reason: 'Deleted' });
    const { machine, tags } = request;
    const instance: Instance = { id, machine, tags, state: 'Running', addresses: [], createdAt: now() };
    if (!instances.has(id)) instances.set(id, instance);
    created.push(request);
    return id;
  }

  function setState(id: string, state: Instance['state']): void {
    const instance = instances.get(id);
    if (instance) instances.set(id, { ...instance, state });
  }

  const provider: MemoryProvider = {
    name: 'local',
    capabilities: { power: true, events: true, startsStopped: true },
    instances,
    calls,
    created,
    fault: () => undefined,
    setState,
    hasInstance: ({ config }) => 'type' in config,
    configReason: ({ config }) => (config['type'] === 'bad' ? 'bad type' : undefined),
    needsBootstrap: () => true,
    create: (request) => call(`create ${request.machine}`, () => create(request)),
    get: (id) => call('get', () => instances.get(id)),
    find: (filter) =>
      call('find', () => [...instances.values()].filter((instance) => matchesFilter(instance, filter))),
    delete: (id) =>
      call('delete', () => {
        deleted.add(id);
        instances.delete(id);
      }),
    power: (id, action) =>
      call(`power ${action}`, () => setState(id, action === 'off' ? 'Stopped' : 'Running')),
    announced: [],
    events: () => call('events', () => provider.announced),
  };
  return provider;
}
