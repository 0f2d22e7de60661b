/** S29: files that the real sops encrypted, in a real hub with real clusters. Canaries are looked for wherever something is kept. */
import { createSecretKey, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CLUSTERS, PIPELINES, RELEASES } from '../../../src/api/generated/resources.ts';
import {
  ANNOTATION_SECRET_USE,
  LABEL_AGGREGATE_TO_SYNC,
  NAMESPACE,
  SECRET_REVISIONS,
} from '../../../src/api/names.ts';
import { EVENTS } from '../../../src/kube/events/object.ts';
import { CONFIG_MAPS, SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import { byCode } from '../../../src/kube/objects/digest.ts';
import type { Resource } from '../../../src/kube/objects/object.ts';
import { readClusterUID } from '../../../src/sync/cluster-uid.ts';
import { KEY_BYTES, openBytes } from '../../../src/sync/hub/revisions/sealed-file.ts';
import { createRenderCache } from '../../../src/sync/render/cache.ts';
import type { ApiServer } from '../../support/control-plane.ts';
import { createTestRenderer } from '../../support/fleet-repository.ts';
import {
  type AgeIdentity,
  createEncrypter,
  type Encrypter,
  noSopsReason,
} from '../../support/sops/programs.ts';
import { tempFolder } from '../../support/temp.ts';
import { NEVER } from './target-cluster.ts';
import { type MoreOptions, STAGES, startTestFleet, type TestFleet } from './test-fleet.ts';

const CANARY = 'c4nary-of-the-sops-test';
const VALUES = [CANARY, Buffer.from(CANARY).toString('base64')];
const FILE = 'shop/db.sops.yaml';
const REGEX = ['--encrypted-regex', '^(data|stringData)$'];

const FOLDERS = ['compiled', 'git', 'renders', 'revisions'];
const KEY = randomBytes(KEY_BYTES);

const reason = await noSopsReason();

describe.skipIf(reason !== undefined)('S29 a Secret that sops encrypted', () => {
  let fleet: TestFleet;
  let encrypter: Encrypter;
  let identity: AgeIdentity;
  beforeAll(async () => {
    encrypter = await createEncrypter();
    identity = await encrypter.identity();
    fleet = await startTestFleet();
  });
  beforeEach(async () => {
    await fleet.reset();
    for (const name of STAGES) await permitSecrets(fleet.clusters[name]);
  });
  afterAll(() => fleet.stop());

  it('reaches the clusters decrypted, and its values are nowhere else', async () => {
    await pipelineWithKeys(identity.file);
    fleet.commit('1', 'first');
    const first = await commitSecret('first secret', secretYaml(CANARY));
    const folder = tempFolder('cache');
    await fleet.sync('one', undefined, await foldersIn(folder));
    await fleet.allProven(first);
    for (const name of STAGES) expect(await passwordIn(name)).toBe(CANARY);

    await fleet.clusters.test.client.patch(
      SECRETS,
      { name: 'db', namespace: 'default' },
      { type: 'merge', body: { data: { password: 'Zm9yZWlnbg==' } } },
      { fieldManager: 'anna' },
    );
    await expect.poll(() => passwordIn('test')).toBe(CANARY);
    await expect
      .poll(async () => JSON.stringify((await fleet.state('test')).drift))
      .toContain('data.password');

    const kept = [
      ...(await keptIn(fleet.hub, [CLUSTERS, PIPELINES, RELEASES, CONFIG_MAPS, EVENTS])),
      ...(await keptIn(fleet.clusters.test, [CONFIG_MAPS, EVENTS])),
      JSON.stringify(fleet.log().lines),
    ].join('\n');
    expect(kept).toContain('Secret default/db');
    for (const value of [...VALUES, 'AGE-SECRET-KEY']) expect(kept).not.toContain(value);

    await expect
      .poll(async () => (await fleet.state('prod')).revisions?.map(({ commit }) => commit))
      .toContain(first);
    const inFolders = await textsIn(folder);
    // Every folder was read, and the objects in the renders and in the kept revisions are encrypted.
    expect([...new Set(inFolders.map(({ path }) => path.split(sep)[0] ?? ''))].toSorted(byCode)).toEqual(
      FOLDERS,
    );
    for (const name of ['renders', 'revisions']) {
      const texts = inFolders.filter(
        ({ path, text }) => path.startsWith(name) && text.includes('ENC[AES256'),
      );
      expect(texts).not.toEqual([]);
    }
    const found = inFolders.filter(({ text }) =>
      [...VALUES, 'AGE-SECRET-KEY'].some((each) => text.includes(each)),
    );
    expect(found.map(({ path }) => path)).toEqual([]);
  });

  it('is refused when it was tampered with or is for another key, and a revert and a new key pass', async () => {
    await pipelineWithKeys(identity.file);
    fleet.commit('1', 'first');
    const first = await commitSecret('first secret', secretYaml('one'));
    await fleet.sync('one');
    await fleet.allProven(first);

    const encrypted = await encrypter.encrypt(secretYaml('two'), '--age', identity.recipient, ...REGEX);
    const tampered = commitFile(
      'tampered',
      encrypted.replace('namespace: default', 'namespace: kube-system'),
    );
    await expectRefused(tampered, /Secret kube-system\/db of prod: its checksum differs.*shop\/db.sops.yaml/);
    expect(await passwordIn('test')).toBe('one');

    const next = await encrypter.identity();
    const forNext = await encrypter.encrypt(secretYaml('three'), '--age', next.recipient, ...REGEX);
    const early = commitFile('encrypted for the next key', forNext);
    await expectRefused(
      early,
      new RegExp(`encrypted for ${next.recipient}, and sync has the keys of ${identity.recipient}`),
    );

    const revert = await commitSecret('revert', secretYaml('one'));
    await fleet.allProven(revert);
    const again = commitFile('again', forNext);
    await expectRefused(again, /encrypted for/);
    await fleet.hub.client.patch(
      SECRETS,
      { name: 'age', namespace: NAMESPACE },
      { type: 'merge', body: { stringData: { 'age.agekey': `${identity.file}\n${next.file}` } } },
      { fieldManager: 'anna' },
    );
    await fleet.allProven(again);
    for (const name of STAGES) expect(await passwordIn(name)).toBe('three');
  });

  /** Each folder that `kubenode sync` writes, as it places them under `--cache`. */
  async function foldersIn(folder: string): Promise<MoreOptions> {
    await fleet.hub.client.create(SECRETS, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: SECRET_REVISIONS,
        namespace: NAMESPACE,
        annotations: { [ANNOTATION_SECRET_USE]: 'revisions' },
      },
      stringData: { key: KEY.toString('base64') },
    });
    return {
      gitFolder: join(folder, 'git'),
      renderer: createTestRenderer({
        cache: createRenderCache(join(folder, 'renders')),
        compileCache: join(folder, 'compiled'),
      }),
      keptRevisions: { folder: join(folder, 'revisions'), randomBytes },
    };
  }

  /** Each file of the folder as text: a kept revision is opened with the key, which finds more than an attacker without it. */
  async function textsIn(folder: string): Promise<{ path: string; text: string }[]> {
    const hubUID = await readClusterUID(fleet.hub.client, NEVER);
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    return Promise.all(
      files.map(async (file) => {
        const bytes = await readFile(file);
        const path = relative(folder, file);
        const opened = await Promise.all(
          STAGES.map((name) => openBytes(createSecretKey(KEY), `${hubUID}/${name}/${basename(file)}`, bytes)),
        );
        const content = path.startsWith('revisions') ? opened.find(Boolean) : bytes;
        if (!content) throw new Error(`${path} cannot be opened`);
        return { path, text: content.toString('latin1') };
      }),
    );
  }

  async function expectRefused(commit: string, message: RegExp): Promise<void> {
    await expect.poll(() => fleet.head()).toMatchObject({ commit, verdict: 'Refused' });
    expect((await fleet.head()).message).toMatch(message);
  }

  async function commitSecret(subject: string, yaml: string): Promise<string> {
    return commitFile(subject, await encrypter.encrypt(yaml, '--age', identity.recipient, ...REGEX));
  }

  function commitFile(subject: string, text: string): string {
    return fleet.commitFiles(
      subject,
      Object.fromEntries(STAGES.map((name) => [`clusters/${name}/${FILE}`, text])),
    );
  }

  async function passwordIn(name: (typeof STAGES)[number]): Promise<string> {
    const { data } = await fleet.clusters[name].client.get(SECRETS, { name: 'db', namespace: 'default' });
    return Buffer.from((data as { password: string }).password, 'base64').toString();
  }

  async function pipelineWithKeys(file: string): Promise<void> {
    await fleet.hub.client.create(SECRETS, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'age', namespace: NAMESPACE, annotations: { [ANNOTATION_SECRET_USE]: 'sops' } },
      stringData: { 'age.agekey': file },
    });
    await fleet.pipeline();
    const body = { spec: { source: { sopsKeysRef: { name: 'age' } } } };
    await fleet.hub.client.patch(
      PIPELINES,
      { name: 'fleet' },
      { type: 'merge', body },
      { fieldManager: 'anna' },
    );
  }
});

function secretYaml(password: string): string {
  return `apiVersion: v1\nkind: Secret\nmetadata: {name: db, namespace: default}\n# the database\nstringData: {user: admin, password: "${password}", "10": ten}\n`;
}

/** Gives sync the right to manage Secrets, as the guide does. */
async function permitSecrets({ client }: ApiServer): Promise<void> {
  const roles = await client.resourceFor('rbac.authorization.k8s.io/v1', 'ClusterRole');
  const bindings = await client.resourceFor('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding');
  const metadata = { name: 'kubenode-sync-secrets' };
  const rule = { apiGroups: [''], resources: ['secrets'], verbs: ['*'] };
  await client.create(roles, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { ...metadata, labels: { [LABEL_AGGREGATE_TO_SYNC]: 'true' } },
    rules: [rule],
  });
  // This server has no controller manager, which would add the rules to the role of sync.
  await client.create(bindings, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name },
    subjects: [{ kind: 'ServiceAccount', namespace: NAMESPACE, name: 'kubenode-sync' }],
  });
}

async function keptIn({ client }: ApiServer, kinds: readonly Resource[]): Promise<string[]> {
  const lists = await Promise.all(kinds.map((kind) => client.list(kind)));
  return lists.flatMap(({ items }) => items).map((object) => JSON.stringify(object));
}
