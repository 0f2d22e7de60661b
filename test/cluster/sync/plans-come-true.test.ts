/**
 * Pull requests with random changes, and a person who changes the cluster in between. What happened is read from the server, by the UID and
 * the version of each object before and after, and not from sync.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CONFIG_MAPS, SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { objectIdOf, objectKey } from '../../../src/kube/objects/object-id.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import type { SyncTarget } from '../../../src/sync/apply/context.ts';
import { readClusterUID } from '../../../src/sync/cluster-uid.ts';
import { previewLive } from '../../../src/sync/preview/live.ts';
import type { ApiServer } from '../../support/control-plane.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { LONG, randomFrom, SEED } from '../../support/sweep-size.ts';
import {
  commitNo,
  configMap,
  HUB,
  NEVER,
  startTargetCluster,
  startTestSync,
  targetOf,
} from './target-cluster.ts';

const PULLS = LONG ? 100 : 8;
const NAMES = 16;
const SERVICES: Resource = {
  group: '',
  version: 'v1',
  kind: 'Service',
  plural: 'services',
  namespaced: true,
};
const KINDS = [CONFIG_MAPS, SECRETS, SERVICES];

let server: ApiServer;
beforeAll(async () => {
  server = await startTargetCluster();
});
afterAll(() => server.stop());

it(`S22 all planned deletes and 99 of 100 planned objects come true, in ${PULLS} random pull requests`, async () => {
  const random = randomFrom(SEED);
  const sync = await startTestSync(server.client);
  let content = randomContent(random, new Map());
  await sync.sync(targetOf(commitNo(1), unitsOf(content)));
  const wrong: string[] = [];
  let objects = 0;
  for (let pull = 2; pull < PULLS + 2; pull += 1) {
    content = randomContent(random, content);
    await changeByHand(random, await observe());
    const target = targetOf(commitNo(pull), unitsOf(content));
    const predicted = await predict(target);
    const before = await observe();
    await sync.sync(target);
    const happened = actionsBetween(before, await observe());
    const names = new Set([...before.keys(), ...happened.keys(), ...predicted.keys()]);
    objects += names.size;
    for (const name of names) {
      const [plan = 'nothing', act = 'nothing'] = [predicted.get(name), happened.get(name)];
      if (plan !== act) wrong.push(`${pull}: ${name}: planned ${plan}, ${act} happened`);
    }
  }
  await sync.close();
  expect(objects).toBeGreaterThan(PULLS * 8);
  expect(wrong.filter((line) => line.includes('delete'))).toEqual([]);
  expect(wrong.slice(Math.floor(objects / 100))).toEqual([]);
});

/** Each name has an object of one kind, or none. */
type Content = ReadonlyMap<string, KubeObject>;

/** A third of the objects of the commit before change, are removed, or are new. */
function randomContent(random: () => number, before: Content): Content {
  const names = Array.from({ length: NAMES }, (_, index) => `object-${index}`);
  return new Map(
    names.flatMap((name) => {
      const present = before.get(name);
      if (before.size > 0 && random() > 1 / 3) return present ? [[name, present] as const] : [];
      return random() < 1 / 4 ? [] : [[name, objectNamed(name, String(random()))] as const];
    }),
  );
}

function objectNamed(name: string, value: string): KubeObject {
  const kind = Number(name.split('-')[1]) % 4;
  const metadata = { name, namespace: 'default' };
  if (kind === 0) return configMap(name, { key: value });
  if (kind === 1) return { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { key: value } };
  const replaced = { ...metadata, annotations: { 'kubenode.dev/replace': 'Allowed' } };
  if (kind === 2) return { ...configMap(name, { key: value }), immutable: true, metadata: replaced };
  const port = 1 + Math.floor(Number(value) * 60_000);
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: { selector: { app: value }, ports: [{ port }] },
  };
}

function unitsOf(content: Content): Record<string, readonly KubeObject[]> {
  const objects = [...content.values()];
  return {
    web: objects.filter((_, index) => index % 2 === 0),
    other: objects.filter((_, index) => index % 2 === 1),
  };
}

async function predict({
  commit,
  digest,
  units,
  budget,
  acknowledgements,
}: SyncTarget): Promise<Map<string, string>> {
  const { units: planned } = await previewLive({
    client: server.client,
    clusterUID: await readClusterUID(server.client, NEVER),
    hub: HUB,
    scope: '',
    target: { target: 'test', units, digest },
    encryptedBefore: new Set(),
    commit,
    limits: { budget, acknowledgements },
    clock: createSystemClock(),
    log: memoryLog(),
    random: () => 0.5,
    signal: NEVER,
  });
  const changes = planned.flatMap((unit) => unit.changes);
  return new Map(changes.map(({ action, object }) => [object, action]));
}

/** The objects with owner labels, by key. */
async function observe(): Promise<ReadonlyMap<string, KubeObject>> {
  const lists = await Promise.all(
    KINDS.map((kind) =>
      server.client.list(kind, { namespace: 'default', labelSelector: 'kubenode.dev/hub' }),
    ),
  );
  return new Map(lists.flatMap(({ items }) => items).map((item) => [objectKey(objectIdOf(item)), item]));
}

function actionsBetween(
  before: ReadonlyMap<string, KubeObject>,
  after: ReadonlyMap<string, KubeObject>,
): Map<string, string> {
  const actions = new Map<string, string>();
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(name)?.metadata, after.get(name)?.metadata];
    if (!old) actions.set(name, 'create');
    else if (!now) actions.set(name, 'delete');
    else if (old.uid !== now.uid) actions.set(name, 'replace');
    else if (old.resourceVersion !== now.resourceVersion) actions.set(name, 'update');
  }
  return actions;
}

/** A person changes one object and deletes another one. */
async function changeByHand(random: () => number, live: ReadonlyMap<string, KubeObject>): Promise<void> {
  const maps = [...live.values()].filter((item) => item.kind === 'ConfigMap');
  const [changed, deleted] = [0, 1].map(() => maps[Math.floor(random() * maps.length)]);
  if (changed && changed['immutable'] !== true) {
    const { managedFields: _managedFields, ...metadata } = changed.metadata;
    await server.client.replace(CONFIG_MAPS, { ...changed, metadata, data: { key: 'by hand' } });
  }
  if (deleted) {
    const { name, uid = '' } = deleted.metadata;
    await server.client.delete(CONFIG_MAPS, { name, namespace: 'default' }, { uid });
  }
}
