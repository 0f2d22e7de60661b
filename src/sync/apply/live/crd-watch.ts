/**
 * Watches CRDs and reports when one defines a kind that was not served before. Started only when a kind is not served;
 * the schemas, which are most of a CRD, are not kept.
 */

import { createReflector, type ReflectorOptions } from '../../../kube/cache/reflector.ts';
import { createStore } from '../../../kube/cache/store.ts';
import { createTransform } from '../../../kube/cache/trim.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import { listAt, textAt } from '../../../kube/objects/json.ts';
import type { KubeObject, Resource } from '../../../kube/objects/object.ts';
import { groupOf } from '../../../kube/objects/object-id.ts';
import type { Clock } from '../../../os/clock.ts';
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

const SERVED_WITHIN_MS = 30_000;
const POLL_MS = 50;

/** The errors of a server that is about to serve a kind. */
export const NOT_SERVED_YET = ['NotFound', 'ServerError', 'BadAnswer', 'TooManyRequests', 'Timeout'] as const;

/**
 * A CRD is Established a moment before discovery lists its kind, and discovery lists it a moment before it can be read. On
 * a busy server each step takes seconds. Rejects with the last error when the kind is not served in time.
 */
export async function waitUntilServed(
  client: Client,
  clock: Clock,
  ref: KindRef,
  signal: AbortSignal,
): Promise<Resource> {
  const deadlineMs = clock.monotonicMs() + SERVED_WITHIN_MS;
  for (;;) {
    try {
      const resource = await client.resourceFor(ref.apiVersion, ref.kind);
      await client.list(resource, { limit: 1, signal });
      return resource;
    } catch (error) {
      if (!isKubeError(error, ...NOT_SERVED_YET) || clock.monotonicMs() >= deadlineMs) throw error;
      client.forgetResources();
      await clock.sleep(POLL_MS, signal);
    }
  }
}
