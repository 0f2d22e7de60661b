/** `kubenode cluster connect` with the controller of Kubernetes that fills Secrets with tokens. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rules } from '../../../rules/index.ts';
import { NODE_REMEDIERS } from '../../../src/api/generated/resources.ts';
import { NAMESPACE } from '../../../src/api/names.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { connect } from '../../../src/kube/client/connect.ts';
import { SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import { textAt } from '../../../src/kube/objects/json.ts';
import { startApiServer } from '../../support/control-plane.ts';
import { startControllerManager } from '../../support/controller-manager.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { run } from './rollout-fixture.ts';

const HUB_SECRET = { name: 'prod-kubeconfig', namespace: NAMESPACE };
const TOKEN_SECRET = { name: 'kubenode-sync-token', namespace: NAMESPACE };

describe('kubenode cluster connect', () => {
  let installed: InstalledServer;
  let client: Client;
  let stopManager: (() => Promise<void>) | undefined;

  beforeAll(async () => {
    installed = await startInstalledServer();
    ({ client } = installed.server);
    stopManager = await startControllerManager(installed.server, ['serviceaccount-token-controller']);
  });
  afterAll(async () => {
    await stopManager?.();
    await installed?.stop();
  });

  const kubeconfig = async (): Promise<string> => {
    const data = textAt(await client.get(SECRETS, HUB_SECRET), 'data', 'kubeconfig') ?? '';
    return Buffer.from(data, 'base64').toString('utf8');
  };

  async function removeToken(): Promise<void> {
    const { uid = '' } = (await client.get(SECRETS, TOKEN_SECRET)).metadata;
    await client.delete(SECRETS, TOKEN_SECRET, { uid });
  }

  it('gives the hub a kubeconfig that acts as kubenode-sync, shows no token, and may be repeated', async () => {
    const first = await run(installed, 'cluster', 'connect', 'prod');
    expect([first.exitCode, first.stdout]).toEqual([0, expect.stringContaining('as kubenode-sync')]);
    expect(first.stderr).toContain("connection: { credentialsRef: { name: 'prod-kubeconfig' } }");
    expect(first.stderr).toContain('is an address of this machine');
    const text = await kubeconfig();
    const token = textAt(await client.get(SECRETS, TOKEN_SECRET), 'data', 'token') ?? '';
    expect(text).toContain(Buffer.from(token, 'base64').toString('utf8'));
    expect(first.stdout + first.stderr).not.toContain(Buffer.from(token, 'base64').toString('utf8'));

    const sync = await connect({ kubeconfigText: text });
    const metadata = { name: 'disk-pressure' };
    const spec = rules['disk-pressure'];
    const remedier = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'NodeRemedier', metadata, spec };
    await sync.create(NODE_REMEDIERS, remedier, { dryRun: true });
    await expect(client.create(NODE_REMEDIERS, remedier, { dryRun: true })).rejects.toThrow(
      'only kubenode-sync may write this object',
    );
    await sync.close();

    const again = await run(installed, 'cluster', 'connect', 'prod');
    expect([again.exitCode, await kubeconfig()]).toEqual([0, text]);
  });

  it('overwrites no Secret of others, and takes no token that is not of kubenode-sync', async () => {
    await client.create(SECRETS, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'pre-kubeconfig', namespace: NAMESPACE },
      stringData: { kubeconfig: 'own' },
    });
    const refused = await run(installed, 'cluster', 'connect', 'pre');
    expect([refused.exitCode, refused.stderr]).toEqual([
      65,
      expect.stringContaining('it was made by others'),
    ]);
    const kept = await client.get(SECRETS, { name: 'pre-kubeconfig', namespace: NAMESPACE });
    expect(textAt(kept, 'data', 'kubeconfig')).toBe(Buffer.from('own').toString('base64'));

    await removeToken();
    await client.create(SECRETS, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...TOKEN_SECRET },
      stringData: { token: 'own', 'ca.crt': 'own' },
    });
    const other = await run(installed, 'cluster', 'connect', 'test');
    expect([other.exitCode, other.stderr]).toEqual([
      65,
      expect.stringContaining('is not a token of kubenode-sync'),
    ]);
    await removeToken();
  });

  it('writes nothing to the hub when the cluster cannot be reached by the address', async () => {
    const unreachable = await run(installed, 'cluster', 'connect', 'far', '--server', 'https://127.0.0.1:1');
    expect([unreachable.exitCode, unreachable.stderr]).toEqual([
      69,
      expect.stringContaining('nothing was written to the hub'),
    ]);
    const far = client.get(SECRETS, { name: 'far-kubeconfig', namespace: NAMESPACE });
    await expect(far).rejects.toMatchObject({ code: 'NotFound' });
    const plain = await run(installed, 'cluster', 'connect', 'far', '--server', 'http://127.0.0.1:1');
    expect([plain.exitCode, plain.stderr]).toEqual([65, expect.stringContaining('only over https')]);
    const named = await run(installed, 'cluster', 'connect', 'Far_');
    expect([named.exitCode, named.stderr]).toEqual([64, expect.stringContaining('cannot be the name')]);
  });

  it('names the installation that a cluster lacks', async () => {
    const server = await startApiServer();
    const missing = await run({ server }, 'cluster', 'connect', 'empty');
    await server.stop();
    expect([missing.exitCode, missing.stderr]).toEqual([
      65,
      expect.stringContaining('install kubenode in this cluster first: kubenode install'),
    ]);
  });
});
