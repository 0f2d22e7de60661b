/** A store of Secrets in the namespace kubenode-system, for tests. */
import { NAMESPACE } from '../../../src/api/names.ts';
import { createStore, type Store } from '../../../src/kube/cache/store.ts';
import { memoryLog } from '../../support/memory-log.ts';

interface TestSecret {
  readonly name: string;
  readonly resourceVersion?: string;
  readonly data?: Readonly<Record<string, string>>;
}

export function secretStore(...secrets: readonly TestSecret[]): Store {
  const store = createStore({ log: memoryLog() });
  for (const { name, resourceVersion = '1', data = {} } of secrets) {
    const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
    store.put({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: NAMESPACE, uid: name, resourceVersion },
      data: Object.fromEntries(encoded) as Record<string, string>,
    });
  }
  return store;
}
