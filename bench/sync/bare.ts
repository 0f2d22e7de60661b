/**
 * A bare keep-alive loop of node:https, which is also the transport of sync, creates as many objects in a namespace of their
 * own: the same bytes by the same user as sync, or without what sync adds to an object, as an administrator.
 */
import { Agent, request } from 'node:https';
import { PRINCIPAL_SYNC } from '../../src/api/names.ts';
import type { KubeObject } from '../../src/kube/objects/object.ts';
import { ADMIN } from '../../src/local/pki/authority.ts';
import { createPrincipal } from '../../src/local/pki/principal.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import type { ApiServer } from '../../test/support/control-plane-server.ts';

export interface BareLoop {
  /** Also of the names of the loop. */
  readonly as: 'sync' | 'admin';
  readonly namespace: string;
  readonly objects: number;
  readonly concurrency: number;
}

interface BareClient {
  readonly url: URL;
  readonly agent: Agent;
}

const clock = createSystemClock();

/** Objects per second. */
export async function bareRate(
  server: ApiServer,
  { as, namespace, objects, concurrency }: BareLoop,
): Promise<number> {
  const { certPem, keyPem } = server.certificateFor(as === 'sync' ? createPrincipal(PRINCIPAL_SYNC) : ADMIN);
  const tls = { ca: server.caPem, cert: certPem, key: keyPem };
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency, ...tls });
  const client: BareClient = { url: new URL(server.url), agent };
  try {
    await apply(client, '/api/v1/namespaces', namespaceNamed(namespace));
    const startMs = clock.monotonicMs();
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < objects) {
        const map = mapNumber(next, namespace, as);
        next += 1;
        await apply(client, `/api/v1/namespaces/${namespace}/configmaps`, map);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
    return (objects / (clock.monotonicMs() - startMs)) * 1000;
  } finally {
    agent.destroy();
  }
}

/** Reads the answer, and does nothing with it. */
function apply({ url, agent }: BareClient, folder: string, object: KubeObject): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const body = JSON.stringify(object);
  const asked = request({
    host: url.hostname,
    port: url.port,
    agent,
    method: 'PATCH',
    path: `${folder}/${object.metadata.name}?fieldManager=bench&fieldValidation=Strict&force=false`,
    headers: {
      'content-type': 'application/apply-patch+yaml',
      accept: 'application/json',
      'content-length': Buffer.byteLength(body),
    },
  });
  asked.on('error', reject);
  asked.on('response', ({ statusCode = 0 }) => {
    if (statusCode > 201) reject(new Error(`the API server answered ${statusCode}`));
  });
  asked.on('response', (answer) => answer.on('error', reject).on('end', resolve).resume());
  asked.end(body);
  return promise;
}

function mapNumber(index: number, namespace: string, as: BareLoop['as']): KubeObject {
  const metadata = { name: `bench-${index}`, namespace, labels: { app: 'bench' } };
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: as === 'sync' ? withOwner(metadata) : metadata,
    data: { value: '0', text: 'x'.repeat(500) },
  };
}

/** As long as the labels and annotations of sync, under names that sync does not look for. */
function withOwner(metadata: KubeObject['metadata']): KubeObject['metadata'] {
  return {
    ...metadata,
    resourceVersion: '1',
    labels: {
      ...metadata.labels,
      'benchnod.dev/hub': '00000000-0000-4000-8000-000000000000',
      'benchnod.dev/unit': 'web',
    },
    annotations: {
      'benchnod.dev/commit': '0'.repeat(40),
      'benchnod.dev/source': `fleet/main.ts:12 bench/web/${metadata.name}`,
    },
  };
}

function namespaceNamed(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}
