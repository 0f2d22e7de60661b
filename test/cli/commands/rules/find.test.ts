import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findRules, readSourceTexts } from '../../../../src/cli/commands/rules/find.ts';
import type { RenderedTarget } from '../../../../src/sync/rendered.ts';
import { tempFolder } from '../../../support/temp.ts';

function target(name: string, ...rules: readonly (readonly [name: string, mode: string])[]): RenderedTarget {
  const objects = rules.map(([rule, mode]) => ({
    object: {
      apiVersion: 'kubenode.dev/v1alpha1',
      kind: 'NodeRemedier',
      metadata: { name: rule },
      spec: { mode },
    },
    source: { file: 'fleet/main.ts:9' },
  }));
  const map = { object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } }, source: {} };
  return { target: name, units: [{ unit: 'rules', objects: [...objects, map], digest: '' }], digest: '' };
}

describe('findRules', () => {
  it('has each form of a rule once, with the clusters that get it', () => {
    const found = findRules([
      target('a', ['disk', 'Shadow'], ['hang', 'Enforce']),
      target('b', ['disk', 'Enforce']),
      target('c', ['disk', 'Enforce']),
    ]);
    expect(found.map(({ name, targets, declaredAt }) => `${name} ${targets.join()} ${declaredAt}`)).toEqual([
      'disk a fleet/main.ts:9',
      'hang a fleet/main.ts:9',
      'disk b,c fleet/main.ts:9',
    ]);
  });
});

describe('readSourceTexts', () => {
  it('reads what people write, by paths of the repository, and no packages or output', () => {
    const root = tempFolder('sources');
    for (const file of [
      'rules/a.ts',
      'b.yaml',
      'node_modules/x/c.ts',
      '.git/d.ts',
      'rendered/e.yaml',
      'rules/f.md',
      'g.d.ts',
    ]) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), file);
    }
    expect(readSourceTexts(root, '.').map(({ file }) => file)).toEqual(['b.yaml', 'rules/a.ts']);
    expect(readSourceTexts(root, 'rules')).toEqual([{ file: 'rules/a.ts', text: 'rules/a.ts' }]);
  });
});
