/** The same objects by a bare keep-alive loop of undici, in a namespace of their own. */
import { Pool } from 'undici';
import type { KubeObject } from '../../src/kube/objects/object.ts';
import { ADMIN } from '../../src/local/pki/authority.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import type { ApiServer } from '../../test/support/control-plane-server.ts';

export interface BareLoop {
  readonly namespace: string;
  readonly objects: number;
  readonly concurrency: number;
}

const clock = createSystemClock();

/** Objects per second. */
export async function bareRate(
  server: ApiServer,
  { namespace, objects, concurrency }: BareLoop,
): Promise<number> {
  const { certPem, keyPem } = server.certificateFor(ADMIN);
  const connect = { ca: server.caPem, cert: certPem, key: keyPem };
  const pool = new Pool(server.url, { connections: concurrency, pipelining: 1, allowH2: false, connect });
  try {
    await apply(pool, '/api/v1/namespaces', namespaceNamed(namespace));
    const startMs = clock.monotonicMs();
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < objects) {
        const map = mapNumber(next, namespace);
        next += 1;
        await apply(pool, `/api/v1/namespaces/${namespace}/configmaps`, map);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
    return (objects / (clock.monotonicMs() - startMs)) * 1000;
  } finally {
    await pool.destroy();
  }
}

async function apply(pool: Pool, folder: string, object: KubeObject): Promise<void> {
  const { statusCode, body } = await pool.request({
    method: 'PATCH',
    path: `${folder}/${object.metadata.name}?fieldManager=bench&fieldValidation=Strict&force=false`,
    headers: { 'content-type': 'application/apply-patch+yaml', accept: 'application/json' },
    body: JSON.stringify(object),
  });
  await body.text();
  if (statusCode > 201) throw new Error(`the API server answered ${statusCode}`);
}

function mapNumber(index: number, namespace: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `bench-${index}`, namespace, labels: { app: 'bench' } },
    data: { value: '0', text: 'x'.repeat(500) },
  };
}

function namespaceNamed(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}
