/** Pools of hosts on an API server in memory, and the hosts themselves: what was left on which. */
import { randomUUID } from 'node:crypto';
import { LABEL_HOST_POOL, NAMESPACE_HOSTS } from '../../../../src/api/names.ts';
import { LEASES } from '../../../../src/kube/leader/record.ts';
import { CONFIG_MAPS } from '../../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { type Provider, ProviderError, type ProviderErrorCode } from '../../../../src/providers/contract.ts';
import { holderOfHost, isHostLock } from '../../../../src/providers/ssh/pool/claim.ts';
import { type PooledHost } from '../../../../src/providers/ssh/pool/host.ts';
import { POOL_KEY } from '../../../../src/providers/ssh/pool/pool.ts';
import { createSshProvider } from '../../../../src/providers/ssh/pool/provider.ts';
import type { ServedKind } from '../../../../src/sim/api-server/kinds.ts';
import { ApiRefusal } from '../../../../src/sim/api-server/refusal.ts';
import {
  createMemoryApi,
  type MemoryApi,
  type MemoryConnection,
} from '../../../support/controller/memory-api.ts';
import type { ContractHarness } from '../../contract/harness.ts';

export const HOST_KEYS = [
  { algorithm: 'ssh-ed25519', fingerprint: 'SHA256:2bXyRkPZ5mC0d1uHn6Vt8q3WfLr7sJg9aKzTeNvQpYc' },
] as const;
export const LEASE_KIND: ServedKind = { resource: LEASES };
export const CONFIG_MAP_KIND: ServedKind = { resource: CONFIG_MAPS };
const OURS = { manager: 'git', force: false };

export interface PoolBed extends ContractHarness {
  readonly api: MemoryApi;
  /** The Machines that left something on a host: it is not clean for them. */
  readonly dirty: Set<string>;
  /** `host machine-uid` in order. */
  readonly verified: string[];
  providerOf(connection: MemoryConnection): Provider;
  /** The hosts that Machines have, by the name of the Lease that exists at most once. */
  taken(): readonly string[];
}

export function hosts(count: number, changes: (index: number) => object = () => ({})): readonly object[] {
  return Array.from({ length: count }, (_, index) => ({ address: `10.0.0.${index + 1}`, ...changes(index) }));
}

export function poolObject(pool: string, content: object, name = pool): KubeObject {
  const defaults = { user: 'admin', credentialsRef: { name: 'rack7-ssh' }, hostKeys: HOST_KEYS };
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: NAMESPACE_HOSTS, labels: { [LABEL_HOST_POOL]: pool } },
    data: { [POOL_KEY]: JSON.stringify({ ...defaults, ...content }) },
  };
}

export type CleanCheck = (host: PooledHost, machineUid: string, signal: AbortSignal) => Promise<void>;

/** `check` looks at the hosts; without it they are clean but for those of `dirty`. `wrap` adds what is done on a host. */
export function poolBed(
  object: KubeObject,
  check?: CleanCheck,
  wrap: (provider: Provider) => Provider = (provider) => provider,
): PoolBed {
  const clock = createSystemClock();
  const api = createMemoryApi({ clock, kinds: [LEASE_KIND, CONFIG_MAP_KIND] });
  const [dirty, verified] = [new Set<string>(), [] as string[]];
  const connections: MemoryConnection[] = [];
  api.objects.create(CONFIG_MAP_KIND, object, OURS);

  async function verifyClean(host: PooledHost, machineUid: string): Promise<void> {
    verified.push(`${host.address} ${machineUid}`);
    if (dirty.has(machineUid)) {
      throw new ProviderError('Retryable', 'the agent is left', { reason: 'CleanupIncomplete' });
    }
  }

  const providerOf = (connection: MemoryConnection): Provider =>
    wrap(createSshProvider({ client: connection.client(), clock, verifyClean: check ?? verifyClean }));
  const connect = (): Provider => {
    const connection = api.connection();
    connections.push(connection);
    return providerOf(connection);
  };
  const locks = (): readonly KubeObject[] => api.objects.list(LEASE_KIND, NAMESPACE_HOSTS).filter(isHostLock);
  return {
    api,
    dirty,
    verified,
    provider: connect(),
    providerOf,
    taken: () => locks().map(({ metadata }) => metadata.name),
    reopen: () => Promise.resolve(connect()),
    countHosts: (uid) => Promise.resolve(locks().filter((lock) => holderOfHost(lock) === uid).length),
    crash: () => Promise.reject(new Error('the provider does not see whether a host runs')),
    visibleTexts: () => Promise.resolve(api.journal.map(({ body }) => JSON.stringify(body))),
    fail: (code) => Promise.resolve(fail(api, code, object)),
    inject: () => Promise.reject(new Error(NO_CLOUD)),
    unusedId: () => `ssh:///${randomUUID()}`,
    futureId: (uid) => `ssh:///${uid}`,
    [Symbol.asyncDispose]: () => {
      for (const connection of connections) connection.kill();
      return Promise.resolve();
    },
  };
}

export const NO_CLOUD =
  'its only server is the API server: provider.test.ts ends the process, or the answer, at each of its writes';

/** The answer to the next write. Without hosts there is no capacity. */
const REFUSALS: Partial<Record<ProviderErrorCode, () => ApiRefusal>> = {
  Auth: () => new ApiRefusal(403, 'Forbidden', 'leases is forbidden'),
  Retryable: () => new ApiRefusal(500, 'InternalError', 'etcd has no leader'),
};

function fail(api: MemoryApi, code: ProviderErrorCode, pool: KubeObject): () => Promise<void> {
  const refusal = REFUSALS[code];
  if (!refusal) {
    api.objects.delete(CONFIG_MAP_KIND, pool.metadata, {});
    return () => {
      api.objects.create(CONFIG_MAP_KIND, pool, OURS);
      return Promise.resolve();
    };
  }
  api.refuse(/^create Lease/, refusal());
  return () => Promise.resolve();
}
