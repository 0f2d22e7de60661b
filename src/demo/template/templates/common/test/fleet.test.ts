/** Tests of the objects that sync would render. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

interface Rendered {
  readonly targets: readonly {
    readonly target: string;
    readonly units: readonly {
      readonly unit: string;
      readonly objects: readonly { readonly object: KubeObject }[];
    }[];
  }[];
}

interface KubeObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly environment?: string; readonly stages?: readonly { readonly name: string }[] };
}

const { targets } = JSON.parse(
  execFileSync('kubenode', ['render', '.', '-o', 'json'], { encoding: 'utf8' }),
) as Rendered;
const objectsOf = (target: string): readonly KubeObject[] =>
  targets
    .filter((one) => one.target === target)
    .flatMap(({ units }) => units.flatMap(({ objects }) => objects.map(({ object }) => object)));
const clusters = objectsOf('hub').filter(({ kind }) => kind === 'Cluster');

test('every cluster has objects', () => {
  assert.ok(clusters.length > 0);
  for (const { metadata } of clusters) assert.notEqual(objectsOf(metadata.name).length, 0, metadata.name);
});

test('every target is a declared cluster', () => {
  const declared = new Set(['hub', ...clusters.map(({ metadata }) => metadata.name)]);
  assert.deepEqual(
    targets.map(({ target }) => target).filter((target) => !declared.has(target)),
    [],
  );
});

test('prod comes last', () => {
  const [pipeline] = objectsOf('hub').filter(({ kind }) => kind === 'Pipeline');
  assert.equal(pipeline?.spec?.stages?.at(-1)?.name, 'prod');
});
