/** A real API server accepts the example fleet and a new repository from sync: schemas, CEL rules and policies. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { demoFiles } from '../../../src/demo/template/demo.ts';
import { createScaffold } from '../../../src/demo/template/scaffold.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { createFleetFolder, createTestRenderer } from '../../support/fleet-repository.ts';
import { tempFolder } from '../../support/temp.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';

const SYNC = 'system:serviceaccount:kubenode-system:kubenode-sync';
const GROUPS = ['system:serviceaccounts', 'system:serviceaccounts:kubenode-system'];

let installed: InstalledServer;
let sync: Client;
beforeAll(async () => {
  installed = await startInstalledServer();
  sync = await installed.as(SYNC, GROUPS);
});
// Two of them have a kubelet of the same version, and other content.
beforeEach(async () => {
  await installed.server.wipe();
  await permitAddOns();
});
afterAll(() => installed?.stop());

describe.each([
  ['the example fleet', 'Fleet'],
  ['a new repository of plain objects', 'Plain'],
  ['a new repository of the demo', 'Demo'],
] as const)('%s', (_, content) => {
  it('is accepted by the API server', async () => {
    const repository = 'file:///srv/fleet';
    const scaffold = createScaffold({ content, repository, kubenode: '*', name: 'x' });
    const local = content === 'Demo' ? await demoFiles('/srv/fleet', bundleFile()) : [];
    const files = new Map([...scaffold, ...local]);
    const { targets } = await createTestRenderer().folder({
      folder: createFleetFolder(Object.fromEntries(files)),
    });
    // One server stands for all clusters; Namespaces come first.
    const objects = targets
      .flatMap(({ units }) => units.flatMap((unit) => unit.objects.map(({ object }) => object)))
      .toSorted((a, b) => Number(b.kind === 'Namespace') - Number(a.kind === 'Namespace'));
    expect(objects.length).toBeGreaterThan(10);
    for (const object of objects) {
      const resource = await sync.resourceFor(object.apiVersion, object.kind);
      await sync.apply(resource, object, { fieldManager: 'kubenode-sync', force: true });
    }
  });
});

/** As an administrator, by the role of the guide. Its label works with a controller of Kubernetes that does not run here. */
async function permitAddOns(): Promise<void> {
  const role = parse(readFileSync('docs/guides/sync-add-ons.yaml', 'utf8')) as KubeObject;
  const { client } = installed.server;
  await client.create(rbacResource('ClusterRole', 'clusterroles'), role);
  await client.create(rbacResource('ClusterRoleBinding', 'clusterrolebindings'), {
    apiVersion: role.apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name: role.metadata.name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role.metadata.name },
    subjects: [{ kind: 'ServiceAccount', name: 'kubenode-sync', namespace: 'kubenode-system' }],
  });
}

function rbacResource(kind: string, plural: string): Resource {
  return { group: 'rbac.authorization.k8s.io', version: 'v1', kind, plural, namespaced: false };
}

/** The objects name its checksum: they do not depend on what it does. */
function bundleFile(): URL {
  const file = join(tempFolder('bundle'), 'kubelet.mjs');
  writeFileSync(file, 'export {};\n');
  return pathToFileURL(file);
}
