/**
 * Tells when a kind that somebody else defines comes to a cluster. Begun only when a kind is missed; the schemas, which
 * are most of a CRD, are not kept.
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
import type { KindRef } from '../ports.ts';

const CRDS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};

export interface CrdWatch {
  /** Begins to watch, if it does not yet. */
  begin(signal: AbortSignal): void;
  /** The kind is defined here, so it is served, or will be in a moment. */
  defines(ref: KindRef): boolean;
  readonly ended: Promise<void>;
}

export function createCrdWatch(
  options: Pick<ReflectorOptions, 'client' | 'clock' | 'log' | 'random'> & { readonly onChange: () => void },
): CrdWatch {
  const known = createStore({ log: options.log });
  const transform = createTransform(['spec.versions', 'spec.conversion', 'metadata.annotations']);
  let running: Promise<void> | undefined;
  return {
    begin(signal) {
      if (running) return;
      known.subscribe({ added: options.onChange, updated: options.onChange });
      running = createReflector({ ...options, resource: CRDS, store: known, transform }).run(signal);
    },
    defines: ({ apiVersion, kind }) =>
      known
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
const LOOK_AGAIN_MS = 50;

/** What a server says of a kind that it is about to serve. */
export const NOT_SERVED_YET = ['NotFound', 'ServerError', 'BadAnswer', 'TooManyRequests', 'Timeout'] as const;

/**
 * A CRD is Established a moment before its kind is in discovery, and that a moment before it can be read; on a busy server
 * each takes seconds. Rejects with the last answer when it does not come in time.
 */
export async function waitUntilServed(
  client: Client,
  clock: Clock,
  ref: KindRef,
  signal: AbortSignal,
): Promise<Resource> {
  const until = clock.monotonicMs() + SERVED_WITHIN_MS;
  for (;;) {
    try {
      const resource = await client.resourceFor(ref.apiVersion, ref.kind);
      await client.list(resource, { limit: 1, signal });
      return resource;
    } catch (error) {
      if (!isKubeError(error, ...NOT_SERVED_YET) || clock.monotonicMs() >= until) throw error;
      client.forgetResources();
      await clock.sleep(LOOK_AGAIN_MS, signal);
    }
  }
}
