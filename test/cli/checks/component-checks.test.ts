import { describe, expect, it } from 'vitest';
import { createComponentCheck, withSchemaDefaults } from '../../../src/cli/checks/component-checks.ts';
import { digestOf } from '../../../src/kube/objects/digest.ts';
import { componentSpec } from '../../support/agent/component-spec.ts';

function component(spec: object): {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  spec: object;
} {
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'MachineComponent',
    metadata: { name: 'proxy-1.0' },
    spec,
  };
}

describe('withSchemaDefaults', () => {
  it('fills in fields, also of what it filled in, of lists and of maps', () => {
    const inner = { properties: { port: { default: 80 }, host: {} } };
    const schema = {
      properties: {
        one: { ...inner, default: {} },
        many: { items: inner },
        byName: { additionalProperties: inner },
        none: {},
      },
    };
    expect(
      withSchemaDefaults(schema, { many: [{}, { port: 1 }], byName: { a: { host: 'h' }, constructor: {} } }),
    ).toEqual({
      one: { port: 80 },
      many: [{ port: 80 }, { port: 1 }],
      byName: { a: { host: 'h', port: 80 }, constructor: { port: 80 } },
    });
  });
});

describe('createComponentCheck', () => {
  const check = createComponentCheck();

  it('makes the digest of the content with every default', () => {
    const { component: name, version, artifacts, files } = componentSpec('1.0');
    const stored = componentSpec('1.0', { units: [], commitAfterSeconds: 60 });
    const [artifact] = artifacts;
    const short = {
      component: name,
      version,
      artifacts: [{ os: 'any', arch: 'any', url: artifact?.url, sha256: artifact?.sha256, sizeBytes: null }],
      files: files.map(({ path, content }) => ({ path, content })),
    };
    expect(check(component(short))).toEqual({ problems: [], digest: digestOf(stored) });
  });

  it('leaves out other kinds, and what the schema refuses', () => {
    expect(check({ ...component({}), kind: 'Machine' })).toBeUndefined();
    expect(check({ ...component({ component: 'proxy' }) })).toBeUndefined();
  });
});
