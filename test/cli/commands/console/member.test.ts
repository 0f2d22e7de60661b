import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CLUSTERS } from '../../../../src/api/generated/resources.ts';
import { ANNOTATION_SECRET_USE, kubeconfigSecret, NAMESPACE } from '../../../../src/api/names.ts';
import { API_VERSION } from '../../../../src/api/version.ts';
import { connectShownCluster } from '../../../../src/cli/commands/console/member.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import { KubeError } from '../../../../src/kube/client/errors.ts';
import type { KubeObject, Resource } from '../../../../src/kube/objects/object.ts';
import { closeServer } from '../../../../src/os/net/http-server.ts';
import { tempFolder } from '../../../support/temp.ts';
import { testIo } from '../../../support/test-io.ts';

const CLUSTER = 'prod';
const UID = 'uid-of-prod';
const SECRET_SERVER = 'https://10.0.0.7:6443';
const opened: Client[] = [];
let server: Server;
let url: string;
let kubeconfig: string;
/** What the API server of the context answers about its namespace kube-system. */
let identity: { readonly status: number; readonly uid?: string };

function textFor(context: string, address: string, user = 'person'): string {
  return JSON.stringify({
    'current-context': context,
    clusters: [{ name: context, cluster: { server: address } }],
    users: [{ name: 'person', user: {} }],
    contexts: [{ name: context, context: { cluster: context, user } }],
  });
}

function clusterWith(spec: object): KubeObject {
  return { apiVersion: API_VERSION, kind: CLUSTERS.kind, metadata: { name: CLUSTER }, spec };
}

/** A hub that has this Cluster and its Secret, or refuses to show the Secret. */
function hubWith(cluster: KubeObject, mayReadSecrets = true): Client {
  const metadata = {
    name: kubeconfigSecret(CLUSTER),
    namespace: NAMESPACE,
    annotations: { [ANNOTATION_SECRET_USE]: 'kubeconfig' },
  };
  const data = { kubeconfig: Buffer.from(textFor(CLUSTER, SECRET_SERVER)).toString('base64') };
  const get = async ({ kind }: Resource): Promise<KubeObject> => {
    if (kind === CLUSTERS.kind) return cluster;
    if (mayReadSecrets) return { apiVersion: 'v1', kind: 'Secret', metadata, data };
    throw new KubeError('Forbidden', 'secrets is forbidden');
  };
  return { get, server: url, close: () => Promise.reject(new Error('it is not ours')) } as unknown as Client;
}

const IDENTIFIED = clusterWith({ hosted: {}, clusterUID: UID });

async function accessTo(hub: Client): Promise<readonly [by: string, server: string]> {
  const { client, by } = await connectShownCluster(CLUSTER, { io: testIo(), flags: { kubeconfig }, hub });
  opened.push(client);
  return [by, client.server];
}

function useContext(text: string): void {
  writeFileSync(kubeconfig, text);
}

describe('connectShownCluster', () => {
  beforeAll(async () => {
    kubeconfig = join(tempFolder('kubeconfig'), 'config');
    server = createServer((_, response) => {
      const { status, uid } = identity;
      const found = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system', uid } };
      const refused = { apiVersion: 'v1', kind: 'Status', status: 'Failure', code: status };
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(status === 200 ? found : refused));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => closeServer(server));
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((client) => client.close()));
  });

  it('uses the context that has the name of the cluster, if it leads to this cluster', async () => {
    useContext(textFor(CLUSTER, url));
    identity = { status: 200, uid: UID };
    expect(await accessTo(hubWith(IDENTIFIED, false))).toEqual(['context', url]);
  });

  it('does not use a context of that name that leads to another cluster, and uses the Secret', async () => {
    useContext(textFor(CLUSTER, url));
    identity = { status: 200, uid: 'uid-of-another' };
    expect(await accessTo(hubWith(IDENTIFIED))).toEqual(['Secret', SECRET_SERVER]);
    await expect(accessTo(hubWith(IDENTIFIED, false))).rejects.toThrow(
      'with the Secret of the hub: secrets is forbidden; and context prod of the kubeconfig leads to another cluster: ' +
        'expected UID uid-of-prod, got uid-of-another',
    );
  });

  it('uses a context whose identity the person may not read, and tells that it is not checked', async () => {
    useContext(textFor(CLUSTER, url));
    identity = { status: 403 };
    expect(await accessTo(hubWith(IDENTIFIED, false))).toEqual(['unchecked context', url]);
  });

  it('uses the Secret of the hub for a cluster without a context', async () => {
    useContext(textFor('test', url));
    expect(await accessTo(hubWith(IDENTIFIED))).toEqual(['Secret', SECRET_SERVER]);
    await expect(accessTo(hubWith(IDENTIFIED, false))).rejects.toThrow(
      `with the Secret of the hub: secrets is forbidden; and ${kubeconfig} has no context prod, only: test`,
    );
  });

  it('uses no context for a cluster that was never identified', async () => {
    useContext(textFor(CLUSTER, url));
    identity = { status: 200, uid: UID };
    const hub = hubWith(clusterWith({ hosted: {} }), false);
    await expect(accessTo(hub)).rejects.toThrow('a context prod is not used before status.clusterUID');
    expect(await accessTo(hubWith(clusterWith({ hosted: {} })))).toEqual(['Secret', SECRET_SERVER]);
  });

  it('uses no other credentials than those of a context that is broken', async () => {
    useContext(textFor(CLUSTER, url, 'missing'));
    await expect(accessTo(hubWith(IDENTIFIED))).rejects.toThrow('refers to the missing user missing');
  });

  it('connects to the hub once more for a cluster that is the hub, so that its client can be closed', async () => {
    useContext(textFor('hub', url));
    const hub = hubWith(clusterWith({ connection: { inCluster: true } }));
    const { client, by } = await connectShownCluster(CLUSTER, { io: testIo(), flags: { kubeconfig }, hub });
    expect([by, client.server, client === hub]).toEqual(['hub', url, false]);
    await client.close();
  });
});
