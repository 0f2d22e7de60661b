import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Chart } from 'cdk8s';
import { describe, expect, it } from 'vitest';
import { Fleet, YamlFile } from '../../src/constructs/index.ts';
import { createFleetFolder, createTestRenderer } from '../support/fleet-repository.ts';
import { tempFolder } from '../support/temp.ts';

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
});
