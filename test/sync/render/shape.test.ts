/** A rendered object is sent unchanged: a value of the wrong shape is refused, and never turned into one that fits. */
import { describe, expect, it } from 'vitest';
import { createFleetFolder, createTestRenderer, type Files } from '../../support/fleet-repository.ts';
import { failureOf } from './results.ts';

const shared = createTestRenderer();

function program(metadata: string, data = '{}', before = ''): Files {
  const text = `import { Fleet } from 'kubenode/constructs';
import { ApiObject } from 'cdk8s';
const fleet = new Fleet();
${before}
const unit = fleet.cluster('test', { environment: 'test', connection: { credentialsRef: { name: 'test' } } }).unit('web');
new ApiObject(unit, 'settings', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', ${metadata} }, data: ${data} } as never);
`;
  return { 'main.ts': text };
}

function manifest(metadata: string, data = '{}'): Files {
  const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, ${metadata}}\ndata: ${data}\n`;
  return { 'clusters/test/web/settings.yaml': text };
}

const NESTED = 'let deep: unknown = 1; for (let n = 0; n < LEVELS; n += 1) deep = { a: deep };';
const nest = (levels: number): string => NESTED.replace('LEVELS', `${levels}`);
const yaml = (levels: number): string => '{a: '.repeat(levels) + '1' + '}'.repeat(levels);

describe('a render', () => {
  it.each<[name: string, files: Files, message: RegExp]>([
    [
      'annotations that are a string',
      program(`annotations: 'a'`),
      /ConfigMap settings: metadata\.annotations: expected a map/,
    ],
    [
      'labels that are a string',
      program(`labels: 'a'`),
      /ConfigMap settings: metadata\.labels: expected a map/,
    ],
    ['annotations that are a list', program(`annotations: ['a']`), /expected a map of strings, got a list/],
    [
      'annotations in YAML that are a string',
      manifest('annotations: a'),
      /ConfigMap settings: metadata\.annotations: expected a map/,
    ],
    [
      'a label in YAML that is a number',
      manifest('labels: {a: 1}'),
      /metadata\.labels\["a"\]: expected a string/,
    ],
    ['300 levels', program('', 'deep', nest(300)), /ConfigMap settings: nested more than 200 levels deep/],
    [
      '20,000 levels',
      program('', 'deep', nest(20_000)),
      /ConfigMap settings: nested more than 200 levels deep/,
    ],
    ['300 levels in YAML', manifest('', yaml(300)), /ConfigMap settings: nested more than 200 levels deep/],
    ['20,000 levels in YAML', manifest('', yaml(20_000)), /nested more than 200 levels deep/],
  ])('refuses %s, and names object and place', async (_, files, message) => {
    const error = await failureOf(shared.folder({ folder: createFleetFolder(files) }));
    expect(error.code).toBe('BadObject');
    expect(error.message).toMatch(message);
    expect(error.problems[0]?.file).toMatch(/^(main\.ts|clusters\/test\/web\/settings\.yaml)$/);
  });
});
