import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLUSTERS } from '../../../../src/api/generated/resources.ts';
import { ANNOTATION_SECRET_USE, kubeconfigSecret, NAMESPACE } from '../../../../src/api/names.ts';
import { API_VERSION } from '../../../../src/api/version.ts';
import { connectShownCluster } from '../../../../src/cli/commands/console/member.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import { KubeError } from '../../../../src/kube/client/errors.ts';
import type { KubeObject, Resource } from '../../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { tempFolder } from '../../../support/temp.ts';

const CLUSTER = 'ci-7';
const io = { clock: createSystemClock(), signal: new AbortController().signal };
let kubeconfig: string;
let opened: Client | undefined;

function textFor(context: string, server: string): string {
  return JSON.stringify({
    'current-context': context,
    clusters: [{ name: context, cluster: { server } }],
    users: [{ name: 'person', user: { token: 'token-of-a-person' } }],
    contexts: [{ name: context, context: { cluster: context, user: 'person' } }],
  });
}

const HOSTED: KubeObject = {
  apiVersion: API_VERSION,
  kind: CLUSTERS.kind,
  metadata: { name: CLUSTER },
  spec: { hosted: {} },
};

function secret(server: string): KubeObject {
  const metadata = {
    name: kubeconfigSecret(CLUSTER),
    namespace: NAMESPACE,
    annotations: { [ANNOTATION_SECRET_USE]: 'kubeconfig' },
  };
  const data = { kubeconfig: Buffer.from(textFor(CLUSTER, server)).toString('base64') };
  return { apiVersion: 'v1', kind: 'Secret', metadata, data };
}

/** A hub that has this Secret, or refuses to show it. */
function hubWith(found: KubeObject | undefined): Client {
  const get = async ({ kind }: Resource): Promise<KubeObject> => {
    if (kind === CLUSTERS.kind) return HOSTED;
    if (found) return found;
    throw new KubeError('Forbidden', 'secrets is forbidden');
  };
  return { get } as unknown as Client;
}

async function serverOf(name: string, hub: Client): Promise<string> {
  opened = await connectShownCluster(name, { io, hub, kubeconfig });
  return opened.server;
}

describe('connectShownCluster', () => {
  beforeEach(() => {
    kubeconfig = join(tempFolder('kubeconfig'), 'config');
    writeFileSync(kubeconfig, textFor('prod', 'https://prod.example.com:6443'));
  });
  afterEach(async () => {
    await opened?.close();
    opened = undefined;
  });

  it('uses the context that has the name of the cluster, and asks the hub for nothing', async () => {
    expect(await serverOf('prod', hubWith(undefined))).toBe('https://prod.example.com:6443');
  });

  it('uses the Secret of the hub for a cluster without a context', async () => {
    expect(await serverOf(CLUSTER, hubWith(secret('https://10.0.0.7:6443')))).toBe('https://10.0.0.7:6443');
  });

  it('names both when the kubeconfig has no context and the Secret may not be read', async () => {
    await expect(serverOf(CLUSTER, hubWith(undefined))).rejects.toThrow(
      `${kubeconfig} has no context ${CLUSTER}, only: prod; and with the Secret of the hub: secrets is forbidden`,
    );
  });
});
