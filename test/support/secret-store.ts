/** A store of Secrets in the namespace kubenode-system, for tests. */
import { ANNOTATION_SECRET_USE, NAMESPACE } from '../../src/api/names.ts';
import { createStore, type Store } from '../../src/kube/cache/store.ts';
import { memoryLog } from './memory-log.ts';

interface TestSecret {
  readonly name: string;
  readonly resourceVersion?: string;
  /** What the Secret permits. */
  readonly use?: string;
  readonly data?: Readonly<Record<string, string>>;
}

export function secretStore(...secrets: readonly TestSecret[]): Store {
  const store = createStore({ log: memoryLog() });
  for (const { name, resourceVersion = '1', use, data = {} } of secrets) {
    const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
    const annotations = use === undefined ? {} : { annotations: { [ANNOTATION_SECRET_USE]: use } };
    store.put({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: NAMESPACE, uid: name, resourceVersion, ...annotations },
      data: Object.fromEntries(encoded) as Record<string, string>,
    });
  }
  return store;
}
