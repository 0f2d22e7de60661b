/** The objects of the example fleet of this repository, and the effect of a change. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { validate } from '../../src/api/validation/validate.ts';
import type { FleetPolicySpec, MachineComponentSpec } from '../../src/constructs/generated/types.ts';
import type { RenderedTarget } from '../../src/sync/rendered.ts';
import { createTestRenderer } from '../support/fleet-repository.ts';
import { tempFolder } from '../support/temp.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const renders = createTestRenderer();

/** A copy that tests can change. */
function copyExample(): string {
  const folder = tempFolder('example');
  for (const part of ['fleet', 'rules', 'cdk8s.yaml']) {
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  }
  return folder;
}

function changedUnits(before: readonly RenderedTarget[], after: readonly RenderedTarget[]): string[] {
  const digests = new Map(
    before.flatMap(({ target, units }) => units.map((one) => [`${target}/${one.unit}`, one.digest])),
  );
  return after.flatMap(({ target, units }) =>
    units
      .filter((one) => digests.get(`${target}/${one.unit}`) !== one.digest)
      .map(({ unit }) => `${target}/${unit}`),
  );
}

describe('the example fleet', () => {
  let targets: readonly RenderedTarget[];
  beforeAll(async () => {
    ({ targets } = await renders.folder({ folder: copyExample() }));
  });

  it('has a hub and three clusters with the same units', () => {
    const outline = targets.map(
      ({ target, units }) => `${target}: ${units.map(({ unit }) => unit).join(' ')}`,
    );
    expect(outline).toEqual([
      'hub: clusters limits pipelines',
      'pre: addons components machines rules',
      'prod: addons components machines rules',
      'test: addons components machines rules',
    ]);
  });

  it('declares the address of CoreDNS once, for its Service and for the kubelets', async () => {
    const folder = copyExample();
    const network = join(folder, 'fleet/network.ts');
    writeFileSync(network, readFileSync(network, 'utf8').replace('10.96.0.10', '10.32.0.10'));
    const moved = await renders.folder({ folder });
    const objects = moved.targets
      .filter(({ target }) => target === 'test')
      .flatMap(({ units }) => units.flatMap((unit) => unit.objects.map(({ object }) => object)));
    const kubelets = objects.flatMap((object) => {
      const { component, parameters } = (object['spec'] ?? {}) as Partial<MachineComponentSpec>;
      return object.kind === 'MachineComponent' && component === 'kubelet' ? [parameters] : [];
    });
    expect(kubelets.length).toBeGreaterThan(0);
    for (const parameters of kubelets) {
      expect(parameters?.find(({ name }) => name === 'clusterDNS')?.default).toBe('10.32.0.10');
    }
    const service = objects.find(({ kind, metadata }) => kind === 'Service' && metadata.name === 'kube-dns');
    expect(service?.['spec']).toMatchObject({ clusterIP: '10.32.0.10' });
  });

  it('declares every kind of a fleet repository', () => {
    const kinds = targets.flatMap(({ units }) =>
      units.flatMap(({ objects }) => objects.map(({ object }) => object.kind)),
    );
    expect([...new Set(kinds)].toSorted()).toEqual([
      'Cluster',
      'ClusterRole',
      'ClusterRoleBinding',
      'ConfigMap',
      'DaemonSet',
      'DefenderPolicy',
      'Deployment',
      'FleetPolicy',
      'MachineComponent',
      'MachineComponentSet',
      'MachineSet',
      'NodeRemedier',
      'Pipeline',
      'Service',
      'ServiceAccount',
    ]);
  });

  it('holds in all clusters what fails in two of them', () => {
    const objects = targets.flatMap(({ units }) =>
      units.flatMap((unit) => unit.objects.map(({ object }) => object)),
    );
    const policies = objects.filter(({ kind }) => kind === 'FleetPolicy');
    const limits = policies.map((policy) => policy['spec'] as FleetPolicySpec);
    expect(policies.flatMap((policy) => validate(policy))).toEqual([]);
    expect(limits.map(({ commonCause }) => commonCause?.clusters)).toEqual([2]);
  });

  it('refers only to declared component versions', () => {
    const objects = targets.flatMap(({ units }) =>
      units.flatMap((unit) => unit.objects.map(({ object }) => object)),
    );
    const declared = objects
      .filter(({ kind }) => kind === 'MachineComponent')
      .map(({ metadata }) => metadata.name);
    const used = objects
      .filter(({ kind }) => kind === 'MachineComponentSet')
      .flatMap((set) => (set['spec'] as { components: { componentRef: string }[] }).components)
      .map(({ componentRef }) => componentRef);
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((name) => !declared.includes(name))).toEqual([]);
  });

  it('changes only components for a version update of one line', async () => {
    const folder = copyExample();
    const file = join(folder, 'fleet/versions.ts');
    const before = readFileSync(file, 'utf8').split('\n');
    const after = before.map((line) => line.replace("'node-exporter': '1.9.1'", "'node-exporter': '1.8.2'"));
    expect(after.filter((line, index) => line !== before[index])).toHaveLength(1);
    writeFileSync(file, after.join('\n'));
    const bumped = await renders.folder({ folder });
    expect(changedUnits(targets, bumped.targets)).toEqual([
      'pre/components',
      'prod/components',
      'test/components',
    ]);
  });

  it('renders to the same objects in this checkout', async () => {
    const here = await renders.folder({ folder: ROOT });
    expect(changedUnits(targets, here.targets)).toEqual([]);
    const files = here.targets.flatMap(({ units }) =>
      units.flatMap(({ objects }) => objects.map(({ source }) => source.file)),
    );
    expect(files.filter((file) => !file?.startsWith('fleet/'))).toEqual([]);
  });

  it('renders to the same digests from another folder', async () => {
    const folder = join(tempFolder('elsewhere'), 'deep', 'down');
    mkdirSync(folder, { recursive: true });
    cpSync(copyExample(), folder, { recursive: true });
    const again = await renders.folder({ folder });
    expect(changedUnits(targets, again.targets)).toEqual([]);
  });
});
