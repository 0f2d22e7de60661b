/** `kubenode install --console` into a real API server, and the console with what its pod gets. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildConsolePage } from '../../../scripts/bundle-console.ts';
import { NAMESPACE } from '../../../src/api/names.ts';
import { PAGE_FOLDER } from '../../../src/console/server/page-files.ts';
import type { Resource } from '../../../src/kube/objects/object.ts';
import { createCookieClient } from '../../console/login/cookie-client.ts';
import { type ApiServer, startApiServer } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { giveRole, guideRole, type Installed, installAs } from './installer.ts';
import { startPod } from './pod-process.ts';

const run = promisify(execFile);
const HOST = 'kubenode.example.com';
const CONSOLE = ['--console', `https://${HOST}`, '--registry', 'registry.example.com/platform'];
const ACCOUNTS: Resource = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
};
const OBJECTS = ['ServiceAccount', 'NetworkPolicy', 'PodDisruptionBudget', 'Deployment', 'Service'].map(
  (kind) => `${kind}/kubenode-console`,
);

let server: ApiServer;
let installer: string;
let first: Installed;

async function tokenOf(account: string): Promise<string> {
  const command = ['--kubeconfig', server.kubeconfig, '-n', NAMESPACE, 'create', 'token', account];
  return (await run(server.kubectl, command)).stdout.trim();
}

describe('kubenode install --console', () => {
  beforeAll(async () => {
    await buildConsolePage(fileURLToPath(PAGE_FOLDER));
    server = await startApiServer();
    installer = await server.kubeconfigFor({ user: 'pipeline', groups: [] });
    await giveRole(server, 'pipeline', guideRole());
    first = await installAs(installer, ...CONSOLE);
  });
  afterAll(() => server?.stop());

  it('CON-26 installs with the rights of the guide, changes nothing the second time, and is not pruned by others', async () => {
    expect(first).toMatchObject({ code: 0, errors: [] });
    expect(first.outcomes['created']).toEqual(expect.arrayContaining(OBJECTS));
    expect(Object.keys((await installAs(installer, ...CONSOLE)).outcomes)).toEqual(['unchanged']);
    const without = await installAs(installer);
    expect([without.code, without.outcomes['deleted']]).toEqual([0, undefined]);
    const name = { namespace: NAMESPACE, name: 'kubenode-console' };
    expect(await server.client.get(ACCOUNTS, name)).toMatchObject({ automountServiceAccountToken: false });
  });

  it('CON-26 serves people by the address of the installation, with their rights and none of its own', async () => {
    const pod = await startPod(server, 'kubenode-console');
    expect(await pod.ready()).toBe(200);
    const url = /"url":"(?<url>http:[^"]+)"/.exec(pod.log())?.groups?.['url'] ?? '';
    const person = createCookieClient(url, HOST, 'https');
    // The account of the pod is a person without rights.
    expect((await person.signIn(await tokenOf('kubenode-console'))).status).toBe(303);
    const state = await eventually(async () => {
      const events = await person.events();
      const text = JSON.stringify((await events.next())?.data);
      events.close();
      return text.includes('forbidden') ? text : undefined;
    }, 'the page does not name the rights that are missing');
    expect(state).toContain('serviceaccount:kubenode-system:kubenode-console');
    await pod.stop();
  });
});
