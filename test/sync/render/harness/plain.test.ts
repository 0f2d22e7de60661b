import { describe, expect, it } from 'vitest';
import { renderPlain } from '../../../../src/sync/render/harness/plain.ts';
import type { OutputLine } from '../../../../src/sync/render/protocol.ts';
import { type RenderResult, readResult } from '../../../../src/sync/render/result.ts';
import { createFleetFolder, createTestRenderer, type Files } from '../../../support/fleet-repository.ts';
import { dataOf, failureOf, outlineOf } from '../results.ts';

function manifest(kind: string, name: string): string {
  return `apiVersion: v1\nkind: ${kind}\nmetadata: {name: ${name}}\n`;
}

/** Renders in this process, and parses the result like that of a sandbox. */
async function render(files: Files): Promise<RenderResult> {
  const lines: OutputLine[] = [];
  let objects = 0;
  renderPlain(createFleetFolder(files), '.', {
    object: (line) => {
      objects += 1;
      lines.push(line);
    },
    problem: (code, problem) => void lines.push({ code, problem }),
    warning: (warning) => void lines.push({ warning }),
    end: () => undefined,
  });
  lines.push({ end: objects });
  return readResult(Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n')));
}

describe('rendering plain YAML', () => {
  it('maps folders to targets and units, and splits Lists', async () => {
    const folder = createFleetFolder({
      'hub/clusters.yaml':
        'apiVersion: kubenode.dev/v1alpha1\nkind: Cluster\nmetadata: {name: test}\nspec: {environment: test, connection: {credentialsRef: {name: test}}}\n',
      'clusters/test/web/b.yaml': `${manifest('Namespace', 'one')}---\n${manifest('Namespace', 'two')}`,
      'clusters/test/web/deeper/c.yml': manifest('Namespace', 'three'),
      'clusters/test/all.yaml': `apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Namespace, metadata: {name: four}}\n`,
      'clusters/test/README.md': 'not an object',
      'clusters/notes.yaml': 'outside of a cluster',
      'clusters/prod/data.json': JSON.stringify({
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'five' },
      }),
      'package-lock.json': JSON.stringify({ packages: { 'node_modules/cdk8s': { version: '2.0.0' } } }),
    });
    const result = await createTestRenderer().folder({ folder });
    expect(outlineOf(result)).toEqual([
      'hub/default: Cluster/test [hub/clusters.yaml:1]',
      'prod/default: Namespace/five [clusters/prod/data.json:1]',
      'test/default: Namespace/four [clusters/test/all.yaml:4]',
      'test/web: Namespace/one [clusters/test/web/b.yaml:1]',
      'test/web: Namespace/three [clusters/test/web/deeper/c.yml:1]',
      'test/web: Namespace/two [clusters/test/web/b.yaml:5]',
    ]);
    expect(result.warnings).toEqual([
      expect.stringMatching(/cdk8s 2\.0\.0.*differ/),
      expect.stringMatching(/^clusters\/notes\.yaml is not applied: /),
    ]);
  });

  it('parses values like Kubernetes tools', async () => {
    const text = `${manifest('ConfigMap', 'c')}data: {on: yes, octal: 0777, date: 2001-12-14, quoted: "yes"}\n`;
    const { targets } = await render({ 'clusters/test/c.yaml': text });
    expect(dataOf({ targets })).toEqual({ true: true, octal: 511, date: '2001-12-14', quoted: 'yes' });
  });

  it.each<[name: string, text: string, line: number, message: RegExp]>([
    ['a duplicate key', `${manifest('Namespace', 'a')}kind: Secret\n`, 4, /unique|twice|duplicate/i],
    ['invalid YAML', 'a: [1,\nb: }', 2, /./],
    ['an object without a kind', 'apiVersion: v1\nmetadata: {name: a}\n', 1, /kind/],
    [
      'a generated name',
      'apiVersion: v1\nkind: Namespace\nmetadata: {generateName: a-}\n',
      1,
      /generateName/,
    ],
    [
      'an unknown field of our kind',
      'apiVersion: kubenode.dev/v1alpha1\nkind: MachineSet\nmetadata: {name: a}\nspec:\n  replicas: 1\n  template: {infra: {provider: local}}\n  zone: a\n',
      7,
      /zone/,
    ],
  ])('reports %s, with its line', async (_, text, line, message) => {
    const error = await failureOf(render({ 'clusters/test/a.yaml': text }));
    expect(error.code).toBe('BadObject');
    expect(error.problems[0]).toMatchObject({ file: 'clusters/test/a.yaml', line });
    expect(error.message).toMatch(message);
  });

  it('reports an integer that JavaScript cannot represent exactly', async () => {
    const text = `${manifest('ConfigMap', 'a')}data: {size: 9007199254740993}\n`;
    const error = await failureOf(render({ 'clusters/test/a.yaml': text }));
    expect(error.code).toBe('BadObject');
    expect(error.message).toContain('data.size is an integer that JavaScript cannot represent exactly');
    expect(error.problems[0]?.file).toBe('clusters/test/a.yaml:1');
  });
});
