import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Chart } from 'cdk8s';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { Fleet, YamlFile } from '../../src/constructs/index.ts';
import type { KubeObject } from '../../src/kube/objects/object.ts';
import { decryptObject } from '../../src/kube/sops/decrypt.ts';
import { objectsToDecrypt, planTarget } from '../../src/sync/apply/plan.ts';
import { encryptionProblems } from '../../src/sync/judge/encrypted.ts';
import { fileText, firstKeys } from '../kube/sops/encrypted-files.ts';
import { createFleetFolder, createTestRenderer } from '../support/fleet-repository.ts';
import { tempFolder } from '../support/temp.ts';
import { applyInput } from '../sync/apply/fixtures.ts';

const HELM_OUTPUT = `---
# Source: shop/templates/service.yaml
apiVersion: v1
kind: Service
metadata: {name: shop, namespace: shop, labels: {app.kubernetes.io/managed-by: Helm}}
spec: {ports: [{port: 80, protocol: TCP}], selector: {app: shop}}
---
apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: shop, namespace: shop}, data: {open: "yes"}}
`;

/** In the order in which a render sorts them. */
const EXTERNAL_SECRETS = `apiVersion: bitnami.com/v1alpha1
kind: SealedSecret
metadata: {name: db, namespace: shop}
spec: {encryptedData: {password: AgBy3i4OJSWK+PiTySYZZA9rO43cGDEq}, template: {type: Opaque}}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: db, namespace: shop}
spec:
  secretStoreRef: {name: vault, kind: ClusterSecretStore}
  target: {name: db}
  data: [{secretKey: password, remoteRef: {key: shop/db, property: password}}]
---
apiVersion: isindir.github.com/v1alpha3
kind: SopsSecret
metadata: {name: db, namespace: shop}
spec: {secretTemplates: [{name: db, stringData: {password: "ENC[AES256_GCM,data:cD0=,iv:aXY=,tag:dGFn,type:str]"}}]}
sops: {age: [{recipient: age1xyz, enc: x}], mac: "ENC[AES256_GCM,data:cD0=,iv:aXY=,tag:dGFn,type:str]"}
`;

function labeledProgram(namespace: string): string {
  return `import { Fleet, YamlFile } from 'kubenode/constructs';
import { Chart } from 'cdk8s';
const fleet = new Fleet();
const prod = fleet.cluster('prod', { environment: 'prod', connection: { credentialsRef: { name: 'prod' } } });
const unit = prod.unit('shop');
const chart = new Chart(unit, 'labeled', { labels: { team: 'payments' }${namespace} });
for (const file of ['secret', 'nested']) new YamlFile(chart, file, file + '.sops.yaml');
fleet.synth();
`;
}

function unitOf(): Chart {
  const connection = { credentialsRef: { name: 'test' } };
  return new Fleet().cluster('test', { environment: 'test', connection }).unit('shop');
}

function fileWith(text: string): string {
  const file = join(tempFolder('yaml'), 'shop.yaml');
  writeFileSync(file, text);
  return file;
}

describe('YamlFile', () => {
  it('FST-9 adds every object of a file, as it is, to its unit', () => {
    const unit = unitOf();
    expect(new YamlFile(unit, 'shop', fileWith(HELM_OUTPUT)).objects).toHaveLength(2);
    expect(unit.toJson()).toEqual([
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'shop', namespace: 'shop', labels: { 'app.kubernetes.io/managed-by': 'Helm' } },
        spec: { ports: [{ port: 80, protocol: 'TCP' }], selector: { app: 'shop' } },
      },
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'shop', namespace: 'shop' },
        data: { open: 'yes' },
      },
    ]);
  });

  it('reads a URL too, and reports an object without a name with its line', () => {
    const file = pathToFileURL(fileWith('apiVersion: v1\nkind: ConfigMap\n'));
    const { node } = new YamlFile(unitOf(), 'shop', file);
    expect(node.validate()).toEqual([expect.stringMatching(/shop\.yaml:1: /)]);
  });

  it('FST-9 renders the program of the guide, where cdk8s Include may not start a program', async () => {
    const guide = readFileSync(join(import.meta.dirname, '../../docs/guides/helm-and-kustomize.md'), 'utf8');
    const program = /```ts\n(?<code>[^`]+)```/.exec(guide)?.groups?.['code'] ?? '';
    const folder = createFleetFolder({ 'manifests/prod/shop.yaml': HELM_OUTPUT, 'main.ts': program });
    const { targets, warnings } = await createTestRenderer().folder({ folder });
    const shop = targets.find(({ target }) => target === 'prod')?.units[0];
    expect(shop).toMatchObject({ unit: 'shop', objects: [{ source: { file: 'main.ts:5' } }, {}] });
    expect(shop?.objects.map(({ object }) => object.kind)).toEqual(['ConfigMap', 'Service']);
    expect(warnings).toEqual([]);
  });

  it('S29 renders what SOPS encrypted by a program, which may add labels and no namespace', async () => {
    const files = { 'nested.sops.yaml': fileText('nested.yaml') };
    const encrypted = { ...files, 'secret.sops.yaml': fileText('secret.yaml') };
    const folder = createFleetFolder({ ...encrypted, 'main.ts': labeledProgram('') });
    const { targets } = await createTestRenderer().folder({ folder });
    const prod = targets.find(({ target }) => target === 'prod');
    const objects = prod?.units.flatMap((unit) => unit.objects) ?? [];
    const opened = await Promise.all(
      objects.map(async ({ object }) => decryptObject(object, await firstKeys())),
    );
    expect(opened).toMatchObject([
      { object: { kind: 'Database', spec: { data: { list: [1, 'two', { three: [true, '4'] }, []] } } } },
      { object: { kind: 'Secret', metadata: { labels: { team: 'payments' } }, data: { 10: 'dGVu' } } },
    ]);
    expect(JSON.stringify(targets)).not.toContain('dGVu');

    const unbound = fileText('secret.yaml').replace('    namespace: shop\n', '');
    const moved = createFleetFolder({
      ...files,
      'secret.sops.yaml': unbound,
      'main.ts': labeledProgram(", namespace: 'evil'"),
    });
    const units = (await createTestRenderer().folder({ folder: moved })).targets.flatMap(
      (each) => each.units,
    );
    const secret = units.flatMap((each) => each.objects).find(({ object }) => object.kind === 'Secret');
    expect(secret && encryptionProblems(secret.object)).toEqual([
      expect.stringMatching(/^metadata.namespace was added after it was encrypted/),
    ]);
  });

  it('S29 renders and plans references to secrets elsewhere untouched', async () => {
    const folder = createFleetFolder({ 'clusters/prod/shop/external.yaml': EXTERNAL_SECRETS });
    const { targets } = await createTestRenderer().folder({ folder });
    const objects = targets.flatMap(({ units }) => units).flatMap((unit) => unit.objects);
    const declared = parseAllDocuments(EXTERNAL_SECRETS).map((document) => document.toJS() as KubeObject);
    expect(objects.map(({ object }) => object)).toEqual(declared);
    expect(objects.flatMap(({ object }) => encryptionProblems(object))).toEqual([]);
    const input = applyInput({ git: targets.flatMap(({ units }) => units) });
    expect(objectsToDecrypt(input)).toEqual([]);
    const sent = planTarget(input).objects.map(({ object }) => object);
    expect(sent).toMatchObject(declared);
  });
});
