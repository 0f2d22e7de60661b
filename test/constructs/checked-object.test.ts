/* oxlint-disable no-new -- cdk8s adds a construct to a chart this way */
import { App, Chart, Testing } from 'cdk8s';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { diskPressure } from '../../rules/disk-pressure.ts';
import { Cluster } from '../../src/constructs/generated/cluster.ts';
import { MachineSet, type MachineSetProps } from '../../src/constructs/generated/machineset.ts';
import { NodeRemedier } from '../../src/constructs/generated/noderemedier.ts';
import type { NodeRemedierSpec } from '../../src/constructs/generated/types.ts';

const POOL: MachineSetProps = {
  metadata: {
    name: 'general',
    labels: { team: 'sre' },
    annotations: { 'kubenode.dev/prune': 'Never' },
    finalizers: ['example.com/f'],
  },
  spec: { replicas: 3, template: { infra: { provider: 'local' }, labels: { pool: 'general' } } },
};

const FULL = {
  fact: 'disk',
  params: { filesystem: 'imagefs' },
  path: '$.usedPercent',
  operator: 'greaterThan',
  value: 80,
} as const;

describe('a construct', () => {
  it('renders exactly its props, without defaults', () => {
    const chart = newChart();
    new MachineSet(chart, 'anything', POOL);
    expect(Testing.synth(chart)).toEqual([{ ...MachineSet.GVK, ...POOL }]);
  });

  it('uses the name of its metadata at any depth', () => {
    const app = newApp();
    new MachineSet(new Chart(new Chart(app, 'deep'), 'deeper'), 'inside', POOL);
    const names = parseAllDocuments(app.synthYaml()).map((document) => document.getIn(['metadata', 'name']));
    expect(names).toEqual(['general']);
  });

  it('fails the synth with all problems of all constructs and their paths', () => {
    const app = newApp();
    const chart = new Chart(app, 'fleet');
    new Cluster(chart, 'first', { metadata: { name: 'Bad Name' }, spec: { environment: 'test' } });
    new MachineSet(chart, 'second', {
      ...POOL,
      spec: { ...POOL.spec, replicas: -1, startupTimeoutSeconds: 1 },
    });
    expect(
      messageOf(() => app.synthYaml())
        .split('\n')
        .slice(1),
    ).toEqual([
      expect.stringMatching(
        /^ {2}\[fleet\/first\] Cluster Bad Name: metadata\.name: must be lower-case letters/,
      ),
      '  [fleet/second] MachineSet general: spec.replicas: must be at least 0',
      '  [fleet/second] MachineSet general: spec.startupTimeoutSeconds: must be at least 60',
    ]);
  });

  it('fails the synth if a rule does not compile, with one problem for each path', () => {
    const app = newApp();
    const chart = new Chart(app, 'rules');
    const spec = {
      ...diskPressure,
      rule: {
        ...diskPressure.rule,
        conditions: { all: [{ ...FULL, value: '80' }, { not: FULL }, { ...FULL, operator: 'above' }] },
      },
    } as unknown as NodeRemedierSpec;
    new NodeRemedier(chart, 'good', { metadata: { name: 'good' }, spec: diskPressure });
    new NodeRemedier(chart, 'bad', { metadata: { name: 'bad' }, spec });
    const at = '  [rules/bad] NodeRemedier bad: spec.rule.conditions.all';
    expect(
      messageOf(() => app.synthYaml())
        .split('\n')
        .slice(1),
    ).toEqual([
      `${at}[0].value: disk.usedPercent must be a number: write it without quotes, got "80"`,
      `${at}[1].not: negation is not supported, because an unknown value would match: list the matching values`,
      expect.stringContaining(`${at}[2].operator: unknown operator "above": use one of equal, in, contains`),
      `${at}[1]: give exactly one of all, any, and fact with path, operator and value`,
    ]);
  });

  it('fails if it is converted to JSON on its own', () => {
    const cluster = new Cluster(newChart(), 'c', {
      metadata: { name: 'Bad' },
      spec: { environment: 'test' },
    });
    expect(() => cluster.toJson()).toThrow('metadata.name: must be');
  });

  it('refuses an unknown field that bypassed the type check', () => {
    const spec = { ...POOL.spec, replcias: 4 } as MachineSetProps['spec'];
    const set = new MachineSet(newChart(), 's', { ...POOL, spec });
    expect(() => set.toJson()).toThrow('spec.replcias: unknown field; did you mean replicas?');
  });
});

/** With an outdir, cdk8s creates no temporary folder; nothing is written to it. */
function newApp(): App {
  return new App({ outdir: 'unused' });
}

function newChart(): Chart {
  return new Chart(newApp(), 'test');
}

function messageOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error('expected an error');
}
