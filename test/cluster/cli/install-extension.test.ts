/**
 * `kubenode install --update-extension` with the real core of Cluster API, which checks what is installed, takes over the authority from the
 * Secret, and calls the Service by its name. Three processes run with the arguments and the token of the pods.
 */
import { X509Certificate } from 'node:crypto';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  NAMESPACE,
  PRINCIPAL_CLUSTERAPI,
  serviceAccountUser,
  UPDATE_EXTENSION,
} from '../../../src/api/names.ts';
import { openCertificateSource } from '../../../src/controllers/following/clusterapi/extension/certificate/source.ts';
import { startHttpServer } from '../../../src/defender/http/server.ts';
import { EXTENSION_CONFIGS } from '../../../src/deploy/update-extension.ts';
import { connect as connectTo } from '../../../src/kube/client/connect.ts';
import { isKubeError, unlessMissing } from '../../../src/kube/client/errors.ts';
import { NAMESPACES, SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import { listAt, textAt, valueAt } from '../../../src/kube/objects/json.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { type CoreManager, noCoreReason, startCore } from '../../support/cluster-api/core.ts';
import { noClusterApiReason } from '../../support/cluster-api/crds.ts';
import { type ServiceProxy, startServiceProxy } from '../../support/cluster-api/service-proxy.ts';
import { type ApiServer, startApiServer } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { isAllowed } from '../api/access-review.ts';
import { ACCOUNTS } from '../defender/objects.ts';
import { giveRole, guideRole, type Installed, installAs } from './installer.ts';
import { startPod } from './pod-process.ts';

const ARGS = ['--cluster', '--cluster-api', '--registry', 'registry.example.com/platform'];
const WITH = [...ARGS, '--update-extension'];
const ADDED = [
  `Secret/${UPDATE_EXTENSION}`,
  `Service/${UPDATE_EXTENSION}`,
  'ExtensionConfig/kubenode',
  'Role/kubenode-clusterapi',
  'RoleBinding/kubenode-clusterapi',
];
const SECRET = { name: UPDATE_EXTENSION, namespace: NAMESPACE };
const CONFIG = { name: 'kubenode' };
const SERVICE_NAME = `${UPDATE_EXTENSION}.${NAMESPACE}.svc`;
const DAY_MS = 86_400_000;
const reason = noClusterApiReason ?? (await noCoreReason());

describe('without Cluster API', () => {
  it('--update-extension is refused before anything is written', async () => {
    const server = await startApiServer();
    onTestFinished(() => server.stop());
    const refused = await installAs(server.kubeconfig, ...WITH);
    expect(refused.code).not.toBe(0);
    expect(refused.errors).toEqual([
      expect.stringContaining(
        'the cluster does not serve kind ExtensionConfig of runtime.cluster.x-k8s.io/v1beta2',
      ),
    ]);
    expect(await unlessMissing(server.client.get(NAMESPACES, { name: NAMESPACE }))).toBeUndefined();
  });

  it('--cluster-api installs its kinds with ours, before the ledger that needs one of them', async () => {
    const server = await startApiServer();
    onTestFinished(() => server.stop());
    const installed = await installAs(server.kubeconfig, '--cluster-api');
    expect([installed.code, installed.errors]).toEqual([0, []]);
    const written = installed.outcomes['created'] ?? [];
    const last = written.findLastIndex((each) => each.startsWith('CustomResourceDefinition/'));
    expect(written.indexOf('DefenderLedger/default')).toBeGreaterThan(last);
    expect(written).toContain('CustomResourceDefinition/kubenoderemediations.remediation.kubenode.dev');
  });
});

describe.skipIf(reason)('with a core whose gates are off', () => {
  it('--update-extension is refused before anything is written', async () => {
    const server = await startApiServer();
    onTestFinished(() => server.stop());
    const core = await startCore(server, {
      gates: 'RuntimeSDK=false,InPlaceUpdates=false,MachinePool=false',
    });
    onTestFinished(() => core.stop());
    const refused = await installAs(server.kubeconfig, ...WITH);
    expect(refused.errors).toEqual([
      expect.stringMatching(
        /Cluster API does not accept ExtensionConfig kubenode: .*RuntimeSDK feature flag/,
      ),
    ]);
    expect(await unlessMissing(server.client.get(NAMESPACES, { name: NAMESPACE }))).toBeUndefined();
    expect((await installAs(server.kubeconfig, ...ARGS)).errors).toEqual([]);
  });
});

describe.skipIf(reason)('with the core of Cluster API', () => {
  let server: ApiServer;
  let proxy: ServiceProxy;
  let core: CoreManager | undefined;
  let firstInstallation: Installed;
  /** The kubeconfig of a user with the rights of the guide. */
  let installer: string;

  beforeAll(async () => {
    server = await startApiServer();
    proxy = await startServiceProxy();
    core = await startCore(server, { variables: proxy.env });
    installer = await server.kubeconfigFor({ user: 'pipeline', groups: [] });
    await giveRole(server, 'pipeline', guideRole());
    firstInstallation = await installAs(installer, ...WITH);
  });

  afterAll(async () => {
    await core?.stop();
    await proxy?.close();
    await server?.stop();
  });

  it('CAP-07 is installed by a user with the rights of the guide', () => {
    expect(firstInstallation.errors).toEqual([]);
    expect(firstInstallation.outcomes['created']).toEqual(expect.arrayContaining(ADDED));
  });

  it('CAP-07 three replicas serve one certificate, by which Cluster API finds the hooks at their Service', async () => {
    await forget();
    const pods = await Promise.all([1, 2, 3].map(() => startPod(server, 'kubenode-controllers')));
    const ports = await Promise.all(pods.map((pod) => extensionPort(() => pod.log())));
    proxy.route(`${SERVICE_NAME}:443`, ports[0] ?? 0);
    const { handlers, ca } = await discovered();
    expect(handlers).toHaveLength(3);
    expect(handlers).toEqual(
      expect.arrayContaining(['CanUpdateMachine', 'CanUpdateMachineSet', 'UpdateMachine']),
    );
    const served = await Promise.all(ports.map((port) => certificateAt(port, ca)));
    const stored = await stringInSecret('tls.crt');
    expect(new Set(served)).toEqual(new Set([new X509Certificate(stored).fingerprint256]));
    for (const pod of pods) expect(pod.log()).not.toMatch(/forbidden|impersonation/i);
  });

  it('CAP-07 a certificate is renewed before its end, while it is served, by the authority that Cluster API trusts', async () => {
    await forget();
    const clock = virtualClock(new Date(+createSystemClock().now() - 61 * DAY_MS));
    const user = serviceAccountUser(PRINCIPAL_CLUSTERAPI);
    const client = await connectTo({ kubeconfig: await server.kubeconfigFor({ user, groups: ACCOUNTS }) });
    onTestFinished(() => client.close());
    const parts = { client, clock, log: memoryLog() };
    const [certificate, other] = [await openCertificateSource(parts), await openCertificateSource(parts)];
    const api = { handle: async () => await Promise.resolve({ status: 404, body: {} }) };
    const http = await startHttpServer({ certificate, api, port: 0, host: '127.0.0.1', ...parts });
    onTestFinished(() => http.close());
    const port = Number(new URL(http.url).port);
    const ca = await stringInSecret('ca.crt');
    const first = await certificateAt(port, ca);
    clock.jumpWall(61 * DAY_MS);
    await clock.advance(60_000);
    await expect.poll(() => certificateAt(port, ca)).not.toBe(first);
    const renewed = new X509Certificate((await other.current()).cert ?? '');
    expect(await certificateAt(port, ca)).toBe(renewed.fingerprint256);
    expect(await stringInSecret('ca.crt')).toBe(ca);
  });

  it('CAP-07 the account reads and writes that one Secret, creates none, and may not touch the ExtensionConfig', async () => {
    const user = serviceAccountUser(PRINCIPAL_CLUSTERAPI);
    const client = await connectTo({ kubeconfig: await server.kubeconfigFor({ user, groups: ACCOUNTS }) });
    onTestFinished(() => client.close());
    const secrets = { group: '', resource: 'secrets', namespace: NAMESPACE };
    const allowed = async (right: Parameters<typeof isAllowed>[1]): Promise<boolean> =>
      await isAllowed(client, right);
    const own = { ...secrets, name: UPDATE_EXTENSION };
    for (const verb of ['get', 'update']) expect(await allowed({ ...own, verb })).toBe(true);
    for (const verb of ['patch', 'delete']) expect(await allowed({ ...own, verb })).toBe(false);
    for (const verb of ['get', 'update', 'create', 'list']) {
      expect(await allowed({ ...secrets, verb })).toBe(false);
    }
    const configs = { group: EXTENSION_CONFIGS.group, resource: EXTENSION_CONFIGS.plural };
    for (const verb of ['get', 'patch', 'update']) expect(await allowed({ ...configs, verb })).toBe(false);
  });

  it('CAP-07 the controllers are ready without the Secret, and serve the hooks once it is installed again', async () => {
    const { uid = '' } = (await server.client.get(SECRETS, SECRET)).metadata;
    await server.client.delete(SECRETS, SECRET, { uid });
    const pod = await startPod(server, 'kubenode-controllers');
    expect(await pod.ready()).toBe(200);
    expect(pod.log()).toContain('update extension of Cluster API not started');
    expect((await installAs(installer, ...WITH)).outcomes['created']).toEqual([`Secret/${UPDATE_EXTENSION}`]);
    const port = await extensionPort(() => pod.log());
    expect(await certificateAt(port, await stringInSecret('ca.crt'))).not.toBe('');
  });

  it('leaves what the controllers and Cluster API wrote, takes another answer to failures, and is removed without the option', async () => {
    const again = await installAs(installer, ...WITH);
    expect(Object.keys(again.outcomes)).toEqual(['unchanged']);
    const failing = await installAs(installer, ...ARGS, '--update-extension=Fail');
    expect(failing.outcomes['configured']).toEqual(['ExtensionConfig/kubenode']);
    const config = await server.client.get(EXTENSION_CONFIGS, CONFIG);
    expect(valueAt(config, 'spec', 'settings')).toEqual({ onFailure: 'Fail' });

    const dry = await installAs(installer, ...ARGS, '--dry-run');
    const removed = await installAs(installer, ...ARGS);
    expect(removed.errors).toEqual([]);
    expect(removed.outcomes['deleted']?.toSorted()).toEqual(ADDED.toSorted());
    expect(dry.outcomes['deleted']).toEqual(removed.outcomes['deleted']);
    const deleted = server.client.get(EXTENSION_CONFIGS, CONFIG);
    await expect(deleted).rejects.toSatisfy((error) => isKubeError(error, 'NotFound'));
    expect((await installAs(installer, ...WITH)).outcomes['created']?.toSorted()).toEqual(ADDED.toSorted());
  });

  it('is refused where Cluster API does not accept the ExtensionConfig, before anything is written', async () => {
    const own = { ...CONFIG, annotations: {} };
    await installAs(installer, ...ARGS);
    const { group, version, kind } = EXTENSION_CONFIGS;
    const spec = { clientConfig: { url: 'https://127.0.0.1:1' } };
    await server.client.create(EXTENSION_CONFIGS, {
      apiVersion: `${group}/${version}`,
      kind,
      metadata: own,
      spec,
    });
    const refused = await installAs(installer, ...WITH);
    expect(refused.errors).toEqual([
      expect.stringMatching(
        /Cluster API does not accept ExtensionConfig kubenode: .*only one of url or service/,
      ),
    ]);
    expect(await unlessMissing(server.client.get(SECRETS, SECRET))).toBeUndefined();
    const { uid = '' } = (await server.client.get(EXTENSION_CONFIGS, CONFIG)).metadata;
    await server.client.delete(EXTENSION_CONFIGS, CONFIG, { uid });
    expect((await installAs(installer, ...WITH)).errors).toEqual([]);
  });

  /** Empties the Secret, as an installation leaves it. */
  async function forget(): Promise<void> {
    const { data: _, ...secret } = await server.client.get(SECRETS, SECRET);
    await server.client.replace(SECRETS, secret);
  }

  async function stringInSecret(key: string): Promise<string> {
    const text = textAt(await server.client.get(SECRETS, SECRET), 'data', key) ?? '';
    return Buffer.from(text, 'base64').toString('utf8');
  }

  /** The hooks that Cluster API found, and the authorities that it trusts, once these are those of the Secret. */
  function discovered(): Promise<{ readonly handlers: readonly unknown[]; readonly ca: string }> {
    return eventually(async () => {
      const config = await server.client.get(EXTENSION_CONFIGS, CONFIG);
      const bundle = textAt(config, 'spec', 'clientConfig', 'caBundle') ?? '';
      const ca = Buffer.from(bundle, 'base64').toString('utf8');
      const handlers = listAt(config, 'status', 'handlers').map((each) =>
        textAt(each, 'requestHook', 'hook'),
      );
      const found = handlers.length > 0 && ca === (await stringInSecret('ca.crt'));
      return found ? { handlers, ca } : undefined;
    }, `the hooks were not discovered: ${core?.logFile}`);
  }
});

function extensionPort(log: () => string): Promise<number> {
  return eventually(async () => {
    const lines = await Promise.resolve(log().split('\n'));
    const started = lines.find((line) => line.includes('update extension of Cluster API started'));
    const url = /https:[^"\s]+/.exec(started ?? '')?.[0];
    return url === undefined ? undefined : Number(new URL(url).port);
  }, 'the update extension did not start');
}

/** The fingerprint of what is served there for the name of the Service. Rejects where these authorities did not sign it. */
function certificateAt(port: number, ca: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect({ port, host: '127.0.0.1', ca, servername: SERVICE_NAME }, () => {
    resolve(socket.getPeerCertificate().fingerprint256);
    socket.end();
  });
  socket.on('error', reject);
  return promise;
}
