/** Add-ons on a real API server: manifests are fetched, applied, repaired, changed and removed, and what is not theirs stays. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HostedAddon } from '../../../../../src/api/generated/types.ts';
import { LABEL_ADDON, MANAGER_HOSTING, NAMESPACE } from '../../../../../src/api/names.ts';
import { createClusterAddons } from '../../../../../src/controllers/hosting/addons/addons.ts';
import { writeInventory } from '../../../../../src/controllers/hosting/addons/execute/inventory.ts';
import type { AddonsReport, AddonTarget } from '../../../../../src/controllers/hosting/addons/report.ts';
import type { Client } from '../../../../../src/kube/client/client.ts';
import { unlessMissing } from '../../../../../src/kube/client/errors.ts';
import { CONFIG_MAPS, NAMESPACES } from '../../../../../src/kube/objects/core-kinds.ts';
import type { KubeObject, Resource } from '../../../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../../../src/os/system-clock.ts';
import { corednsManifests } from '../../../../support/hosting/coredns.ts';
import { type Publisher, startPublisher } from '../../../../support/publisher.ts';
import { type InstalledServer, startInstalledServer } from '../../../api/installed-server.ts';

const { signal } = new AbortController();
const clock = createSystemClock();
const NOT_OBSERVED = 'its controller has not observed generation 1';
const RBAC = 'rbac.authorization.k8s.io/v1';
const METRICS = { namespace: 'kube-system', name: 'kube-dns-metrics' };
const COREDNS = { namespace: 'kube-system', name: 'coredns' };

let installed: InstalledServer;
let client: Client;
let kubeconfig: string;

beforeAll(async () => {
  installed = await startInstalledServer();
  ({ client } = installed.server);
  kubeconfig = readFileSync(installed.server.kubeconfig, 'utf8');
});

afterAll(async () => {
  await installed?.stop();
});

interface Bed {
  readonly site: Publisher;
  /** Lets time go by for the add-ons: objects are compared each minute. */
  readonly later: (ms: number) => void;
  /** Publishes the text, and returns the add-on of it. */
  readonly publish: (name: string, text: string) => HostedAddon;
  readonly read: (...declared: readonly HostedAddon[]) => Promise<AddonsReport>;
  readonly apply: (addon: HostedAddon, declared?: readonly HostedAddon[]) => Promise<void>;
  readonly remove: (name: string) => Promise<void>;
}

async function open(): Promise<Bed> {
  const site = await startPublisher();
  let passedMs = 0;
  const monotonicMs = (): number => clock.monotonicMs() + passedMs;
  const addons = createClusterAddons({ ...clock, monotonicMs });
  return {
    site,
    later: (ms) => {
      passedMs += ms;
    },
    publish: (name, text) => {
      const sha256 = createHash('sha256').update(text).digest('hex');
      const path = `/${name}-${sha256.slice(0, 8)}.yaml`;
      site.files.set(path, text);
      return { name, url: `${site.url}${path}`, sha256, enabled: true };
    },
    read: (...declared) => addons.read(targetOf(declared)),
    apply: (addon, declared = [addon]) => addons.apply(targetOf(declared), addon),
    remove: (name) => addons.remove(targetOf([]), name),
  };
}

function targetOf(declared: readonly HostedAddon[]): AddonTarget {
  return { owner: { name: 'ci', uid: 'uid-ci' }, kubeconfig, declared, signal };
}

async function find(apiVersion: string, kind: string, name: object): Promise<KubeObject | undefined> {
  const resource: Resource = await client.resourceFor(apiVersion, kind);
  return await unlessMissing(client.get(resource, { name: '', ...name }));
}

async function installedAs(report: Promise<AddonsReport>): Promise<unknown> {
  return (await report).installed[0];
}

/** A person changes a field, adds another, and deletes an object. */
async function editByHand(): Promise<void> {
  const body = { data: { Corefile: 'hacked', extra: 'x' } };
  await client.patch(CONFIG_MAPS, COREDNS, { type: 'merge', body }, { fieldManager: 'kubectl-edit' });
  const service = await find('v1', 'Service', METRICS);
  const uid = service?.metadata.uid ?? '';
  await client.delete(await client.resourceFor('v1', 'Service'), METRICS, { uid });
}

function configMap(name: string, value = 'a', namespace = 'default'): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${namespace}}\ndata: {value: ${value}}\n`;
}

async function write(name: string, value = 'theirs'): Promise<void> {
  await client.create(CONFIG_MAPS, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default', labels: { [LABEL_ADDON]: 'dns' } },
    data: { value },
  });
}

async function valueOf(name: string): Promise<unknown> {
  return (await find('v1', 'ConfigMap', { name, namespace: 'default' }))?.['data'];
}

describe('the add-ons of a cluster', () => {
  it('HOS-51 CoreDNS is installed, repaired after an edit by hand, upgraded and removed', async () => {
    const { site, later, publish, read, apply, remove } = await open();
    const first = publish('dns', corednsManifests('1.12.0'));
    expect(await read(first)).toEqual({ installed: [], hasNodes: false });
    await apply(first);
    const dns = await installedAs(read(first));
    // Nothing runs Deployments here, as in a control plane before its first node.
    const unready = { object: 'apps/Deployment kube-system/coredns', because: NOT_OBSERVED };
    expect(dns).toMatchObject({ applied: first.sha256, drifted: [], unready: [unready] });
    const before = await find('apps/v1', 'Deployment', COREDNS);
    await editByHand();
    // After a restart of hosting the manifests are not in memory any more.
    site.files.clear();
    const restarted = await createClusterAddons(clock).read(targetOf([first]));
    expect(JSON.stringify(restarted)).toMatch(/could not be fetched: the server answered 404/);
    expect(await installedAs(read(first))).toMatchObject({ drifted: [] });
    later(60_000);
    expect(await installedAs(read(first))).toMatchObject({
      drifted: [
        { object: 'ConfigMap kube-system/coredns', because: 'it differs in data.Corefile' },
        { object: 'Service kube-system/kube-dns-metrics', because: 'it is missing' },
      ],
    });
    await apply(first);
    expect(await installedAs(read(first))).toMatchObject({ drifted: [] });
    expect(JSON.stringify(await find('v1', 'ConfigMap', COREDNS))).toMatch(/cache 30.*"extra":"x"/);
    // The Deployment is as it was: an apply of the same manifests writes nothing.
    expect(await find('apps/v1', 'Deployment', COREDNS)).toEqual(before);

    const second = publish('dns', corednsManifests('1.12.1', { withMetrics: false }));
    await apply(second);
    const upgraded = { begun: second.sha256, applied: second.sha256, drifted: [] };
    expect(await installedAs(read(second))).toMatchObject(upgraded);
    expect(JSON.stringify(await find('apps/v1', 'Deployment', COREDNS))).toContain('coredns:1.12.1');
    expect(await find('v1', 'Service', METRICS)).toBeUndefined();

    await remove('dns');
    expect(await read()).toEqual({ installed: [], hasNodes: false });
    expect(await find('apps/v1', 'Deployment', COREDNS)).toBeUndefined();
    expect(await find(RBAC, 'ClusterRole', { name: 'system:coredns' })).toBeUndefined();
  });

  it('HOS-51 an object that others made is neither written nor deleted, and nothing else is written', async () => {
    const { publish, apply, read, remove } = await open();
    await write('theirs');
    const addon = publish('dns', `${configMap('ours')}---\n${configMap('theirs')}`);
    await expect(apply(addon)).rejects.toThrow('ConfigMap default/theirs exists, and it was made by others');
    expect([await valueOf('theirs'), await valueOf('ours')]).toEqual([{ value: 'theirs' }, undefined]);
    expect((await read(addon)).installed).toEqual([]);
    // A record that somebody forged deletes nothing of others.
    const theirs = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'theirs', namespace: 'default' },
    };
    const ledger = {
      apiVersion: 'kubenode.dev/v1alpha1',
      kind: 'DefenderLedger',
      metadata: { name: 'default' },
    };
    await writeInventory(client, { name: 'forged', begun: 'x', objects: [theirs, ledger] }, signal);
    await remove('forged');
    expect(await valueOf('theirs')).toEqual({ value: 'theirs' });
    expect(await find('kubenode.dev/v1alpha1', 'DefenderLedger', { name: 'default' })).toBeDefined();
    expect((await read()).installed).toEqual([]);
  });

  it('HOS-51 an object belongs to one add-on, and moves when the other is dropped', async () => {
    const { publish, apply, remove } = await open();
    const one = publish('one', configMap('shared', 'one'));
    const two = publish('two', configMap('shared', 'two'));
    await apply(one, [one, two]);
    await expect(apply(two, [one, two])).rejects.toThrow(
      'ConfigMap default/shared exists, and it belongs to the add-on one',
    );
    await apply(two, [two]);
    await remove('one');
    expect(await valueOf('shared')).toEqual({ value: 'two' });
    await remove('two');
    expect(await valueOf('shared')).toBeUndefined();
  });

  it('HOS-51 a kind and its objects come in one file, and the kind stays when the add-on goes', async () => {
    const { publish, apply, read, remove } = await open();
    const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pools.addons.example}
spec:
  group: addons.example
  scope: Cluster
  names: {kind: Pool, plural: pools}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
---
`;
    const pool = 'apiVersion: addons.example/v1\nkind: Pool\nmetadata: {name: a}\nspec: {}\n---\n';
    const addon = publish('pools', `${pool}${crd}apiVersion: v1\nkind: Namespace\nmetadata: {name: pools}\n`);
    await apply(addon);
    expect((await read(addon)).installed[0]).toMatchObject({
      drifted: [],
      unready: [],
      applied: addon.sha256,
    });
    await remove('pools');
    client.forgetResources();
    expect(await find('addons.example/v1', 'Pool', { name: 'a' })).toBeUndefined();
    expect((await client.get(NAMESPACES, { name: 'pools' })).metadata.deletionTimestamp).toBeUndefined();
    // They are still ours, so the add-on can come again.
    await apply(addon);
    expect((await read(addon)).installed[0]?.applied).toBe(addon.sha256);
    await remove('pools');
  });

  it('HOS-51 an apply that the server refuses names the object, and goes on once it is corrected', async () => {
    const { publish, apply, read, remove } = await open();
    const broken = publish(
      'dns',
      `${configMap('first')}---\n${configMap('second').replace('value:', 'value: {}, x:')}`,
    );
    await expect(apply(broken)).rejects.toThrow(/^ConfigMap default\/second: /);
    expect((await read(broken)).installed[0]).toMatchObject({ begun: broken.sha256, applied: undefined });
    const unknown = publish('dns', 'apiVersion: example.com/v1\nkind: Nothing\nmetadata: {name: a}\n');
    await expect(apply(unknown)).rejects.toThrow('the API server does not serve Nothing of example.com/v1');
    // What the interrupted apply wrote is in the record, so it goes.
    await apply(publish('dns', configMap('third')));
    expect([await valueOf('first'), await valueOf('third')]).toEqual([undefined, { value: 'a' }]);
    await remove('dns');
  });

  it('HOS-51 a removal waits for finalizers, and names the object', async () => {
    const { publish, apply, read, remove } = await open();
    await apply(
      publish(
        'dns',
        configMap('kept').replace('namespace: default', 'namespace: default, finalizers: [example.com/wait]'),
      ),
    );
    await expect(remove('dns')).rejects.toThrow('1 objects are being deleted, first ConfigMap default/kept');
    await expect(remove('dns')).rejects.toThrow('1 objects are being deleted, first ConfigMap default/kept');
    expect((await read()).installed).toHaveLength(1);
    const name = { name: 'kept', namespace: 'default' };
    await client.patch(CONFIG_MAPS, name, { type: 'merge', body: { metadata: { finalizers: [] } } });
    await remove('dns');
    expect([(await read()).installed, await valueOf('kept')]).toEqual([[], undefined]);
  });

  it('HOS-51 a damaged record brings the add-on again', async () => {
    const { publish, apply, read, remove } = await open();
    const addon = publish('dns', configMap('again'));
    await apply(addon);
    const record = { name: 'kubenode-addon-dns', namespace: NAMESPACE };
    const body = { data: { begun: null, objects: '{"a": [' } };
    await client.patch(CONFIG_MAPS, record, { type: 'merge', body }, { fieldManager: MANAGER_HOSTING });
    expect((await read(addon)).installed[0]).toMatchObject({ begun: '', applied: addon.sha256 });
    await apply(addon);
    expect((await read(addon)).installed[0]?.begun).toBe(addon.sha256);
    await remove('dns');
    expect(await valueOf('again')).toBeUndefined();
  });
});
