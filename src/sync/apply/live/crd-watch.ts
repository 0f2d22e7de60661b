/**
 * Watches CRDs and reports when one defines a kind that was not served before. Started only when a kind is not served;
 * the schemas, which are most of a CRD, are not kept.
 */
import { createReflector, type ReflectorOptions } from '../../../kube/cache/reflector.ts';
import { createStore } from '../../../kube/cache/store.ts';
import { createTransform } from '../../../kube/cache/trim.ts';
import { listAt, textAt } from '../../../kube/objects/json.ts';
import type { KubeObject, Resource } from '../../../kube/objects/object.ts';
import { groupOf } from '../../../kube/objects/object-id.ts';
import type { KindRef } from './ports.ts';

const CRDS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};

export interface CrdWatch {
  /** Starts the watch unless it runs already. */
  start(signal: AbortSignal): void;
  /** An established CRD defines the kind, so it is served or will be in a moment. */
  defines(ref: KindRef): boolean;
  readonly ended: Promise<void>;
}

export function createCrdWatch(
  options: Pick<ReflectorOptions, 'client' | 'clock' | 'log' | 'random'> & { readonly onChange: () => void },
): CrdWatch {
  const store = createStore({ log: options.log });
  const transform = createTransform(['spec.versions', 'spec.conversion', 'metadata.annotations']);
  let running: Promise<void> | undefined;
  return {
    start(signal) {
      if (running) return;
      store.subscribe({ added: options.onChange, updated: options.onChange });
      running = createReflector({ ...options, resource: CRDS, store, transform }).run(signal);
    },
    defines: ({ apiVersion, kind }) =>
      store
        .list()
        .some(
          (crd) =>
            textAt(crd, 'spec', 'group') === groupOf(apiVersion) &&
            textAt(crd, 'spec', 'names', 'kind') === kind &&
            isEstablished(crd),
        ),
    get ended() {
      return running ?? Promise.resolve();
    },
  };
}

function isEstablished(crd: KubeObject): boolean {
  return listAt(crd, 'status', 'conditions').some(
    (condition) => textAt(condition, 'type') === 'Established' && textAt(condition, 'status') === 'True',
  );
}
