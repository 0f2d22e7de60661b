/** `kubenode install` where it was run before: it changes what differs, and nothing else. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { install, installation } from '../../../src/api/install/install.ts';
import { PRINCIPAL_DEFENDER, ROLE_VIEW, serviceAccountUser } from '../../../src/api/names.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { CRD, counts, type InstalledServer, startInstalledServer } from './installed-server.ts';
import { resources } from './resources.ts';

const clock = createSystemClock();
const total = installation().length;
const somebodyElse = { metadata: { labels: { team: 'sre' } }, rules: [] };

let installed: InstalledServer;
let client: Client;
beforeAll(async () => {
  installed = await startInstalledServer();
  client = installed.server.client;
});
beforeEach(() => installed.server.wipe());
afterAll(() => installed?.stop());

describe('install, run again', () => {
  it('changes nothing', async () => {
    const before = await versions();
    expect(counts(await install(client, { clock }))).toEqual({ unchanged: total });
    expect(await versions()).toEqual(before);
  });

  it('restores changed fields, reports them in a dry run, and keeps fields that others added', async () => {
    await client.patch(resources.ClusterRole, { name: ROLE_VIEW }, { type: 'merge', body: somebodyElse });
    const expected = { unchanged: total - 1, configured: 1 };
    expect(counts(await install(client, { clock, dryRun: true }))).toEqual(expected);
    expect((await role())['rules']).toBeNull();
    expect(counts(await install(client, { clock }))).toEqual(expected);
    expect((await role())['rules']).toEqual(declared().rules);
    expect((await role()).metadata.labels).toMatchObject({ team: 'sre' });
  });

  it('removes what an older release had and this one does not have', async () => {
    const present = declared();
    const more = { apiGroups: [''], resources: ['nodes'], verbs: ['get'] };
    const older = { ...present, rules: [...present.rules, more] };
    await install(client, { clock, objects: [older] });
    expect((await role())['rules']).toEqual(older.rules);
    expect(counts(await install(client, { clock, objects: [present] }))).toEqual({ configured: 1 });
    expect((await role())['rules']).toEqual(present.rules);
  });

  it('does not write the ledger of the Defender', async () => {
    const ledger = await client.get(resources.DefenderLedger, { name: 'default' });
    expect(ledger['spec']).toMatchObject({ seq: 0, epoch: 0 });
    const defender = await installed.as(serviceAccountUser(PRINCIPAL_DEFENDER));
    await defender.replace(resources.DefenderLedger, { ...ledger, spec: { seq: 1, epoch: 1 } });
    expect(counts(await install(client, { clock }))).toEqual({ unchanged: total });
    const after = await client.get(resources.DefenderLedger, { name: 'default' });
    expect(after['spec']).toMatchObject({ seq: 1, epoch: 1 });
  });
});

async function versions(): Promise<readonly (string | undefined)[]> {
  const pages = [await client.list(CRD), await client.list(resources.ClusterRole)];
  return pages.flatMap(({ items }) => items.map(({ metadata }) => metadata.resourceVersion));
}

function role(): Promise<KubeObject> {
  return client.get(resources.ClusterRole, { name: ROLE_VIEW });
}

/** The role as this version installs it. */
function declared(): KubeObject & { readonly rules: readonly object[] } {
  const present = installation().find(({ metadata }) => metadata.name === ROLE_VIEW);
  if (!present) throw new Error(`${ROLE_VIEW} is not installed`);
  return { ...present, rules: present['rules'] as readonly object[] };
}
