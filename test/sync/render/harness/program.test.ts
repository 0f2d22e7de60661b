import { describe, expect, it } from 'vitest';
import { formatLocation } from '../../../../src/sync/render/errors.ts';
import type { RenderResult } from '../../../../src/sync/render/result.ts';
import {
  createFleetFolder,
  createFleetRepository,
  createTestRenderer,
  type Files,
  program,
} from '../../../support/fleet-repository.ts';
import { dataOf, failureOf, outlineOf } from '../results.ts';

const shared = createTestRenderer();

/** Of a folder without git, installed packages are not rendered. */
async function renderCommit(files: Files): Promise<Pick<RenderResult, 'targets'>> {
  const repository = createFleetRepository();
  repository.commit('first', files);
  const git = repository.transport;
  const { rendered } = await shared.commit({ git, commit: await git.fetch('main') });
  return rendered;
}

function render(files: Files, path = '.'): Promise<RenderResult> {
  return shared.folder({ folder: createFleetFolder(files), path });
}

function digestIn({ targets }: RenderResult, name: string): string | undefined {
  return targets.find(({ target }) => target === name)?.digest;
}

/** Lines of a program that declare namespaces in this order. */
function namespaces(names: readonly string[]): string {
  return names
    .map((name) => `{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: '${name}' } }`)
    .map((props, index) => `new ApiObject(fleet.hub('x'), '${names[index]}', ${props});`)
    .join('\n');
}

describe('rendering a program', () => {
  it('reports target, unit, file with line, and construct of each object', async () => {
    const result = await render({ 'fleet/main.ts': program() });
    expect(outlineOf(result)).toEqual([
      'hub/clusters: Cluster/test [fleet/main.ts:5, hub/clusters/test]',
      'test/web: ConfigMap/settings [fleet/main.ts:5, test/web/settings]',
    ]);
  });

  it('runs the program that cdk8s.yaml names, in the path of the Pipeline', async () => {
    const files = {
      'deep/cdk8s.yaml': 'app: node app/prog.ts\n',
      'deep/app/prog.ts': program(),
      'main.ts': 'throw 1',
    };
    expect(outlineOf(await render(files, 'deep'))[1]).toBe(
      'test/web: ConfigMap/settings [deep/app/prog.ts:5, test/web/settings]',
    );
  });

  it('accepts a plain cdk8s app: the path of a chart is target and unit', async () => {
    const main = `import { App, Chart, ApiObject } from 'cdk8s';
      const app = new App();
      for (const name of ['one', 'two']) {
        const chart = new Chart(app, name);
        new ApiObject(chart, 'a', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
        new ApiObject(new Chart(chart, 'web'), 'b', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: name + '-web' } });
      }
      app.synth();`;
    expect(outlineOf(await render({ 'main.ts': main })).map((line) => line.split(' [')[0])).toEqual([
      'one/default: Namespace/one',
      'one/web: Namespace/one-web',
      'two/default: Namespace/two',
      'two/web: Namespace/two-web',
    ]);
  });

  it('gives the same digests whatever the order of fields, the lines and the comments of the program', async () => {
    const plain = await render({ 'main.ts': program('', '{ a: "1", b: "2" }') });
    const moved = await render({ 'main.ts': program('// a comment\n\n', '{ b: "2", a: "1" }') });
    const other = await render({ 'main.ts': program('', '{ a: "1", b: "3" }') });
    expect(digestIn(moved, 'test')).toBe(digestIn(plain, 'test'));
    expect(digestIn(other, 'test')).not.toBe(digestIn(plain, 'test'));
    expect(digestIn(other, 'hub')).toBe(digestIn(plain, 'hub'));
  });

  it('gives the same digest whatever the order of objects', async () => {
    const one = await render({ 'main.ts': program(namespaces(['a', 'b', 'c'])) });
    const other = await render({ 'main.ts': program(namespaces(['c', 'a', 'b'])) });
    expect(digestIn(other, 'hub')).toBe(digestIn(one, 'hub'));
  });

  it('fixes the clock, random numbers and host properties', async () => {
    const data = `{ date: new Date().toISOString(), now: String(Date.now()), random: String(Math.random()), uuid: crypto.randomUUID(),
      temporal: Temporal.Now.plainDateTimeISO().toString(), monotonic: String(performance.now()), hr: String(process.hrtime.bigint()),
      bytes: nodeCrypto.randomBytes(8).toString('hex'), host: os.hostname(), zone: Intl.DateTimeFormat().resolvedOptions().timeZone }`;
    const main = `import nodeCrypto from 'node:crypto'; import os from 'node:os';\n${program('', data)}`;
    const [one, two] = [await render({ 'main.ts': main }), await render({ 'main.ts': main })];
    expect(dataOf(one)).toEqual(dataOf(two));
    expect(dataOf(one)).toMatchObject({ date: '2000-01-01T00:00:00.000Z', host: 'kubenode', zone: 'UTC' });
  });

  it('passes facts to the program', async () => {
    const folder = createFleetFolder({
      'main.ts': program('', '{ version: fleet.facts.version as string }'),
    });
    const facts = { version: 'v1.36.3' };
    expect(dataOf(await shared.folder({ folder, facts }))).toEqual(facts);
  });

  it('reports all errors of one render, with file, line and construct', async () => {
    const main = `import { Fleet, MachineSet } from 'kubenode/constructs';
const unit = new Fleet().cluster('test', { environment: 'test', connection: { credentialsRef: { name: 'test' } } }).unit('m');
const template = { infra: { provider: 'local' as const } };
new MachineSet(unit, 'one', { metadata: { name: 'one' }, spec: { replicas: -1, template } });
new MachineSet(unit, 'two', { metadata: { name: 'two' }, spec: { replicas: 1, template, zone: 'a' } as never });
`;
    const error = await failureOf(render({ 'main.ts': main }));
    expect(error.code).toBe('BadObject');
    expect(error.problems.map(({ file, line, construct }) => `${file}:${line} ${construct}`)).toEqual([
      'main.ts:4 test/m/one',
      'main.ts:5 test/m/two',
    ]);
    expect(error.problems[0]?.message).toMatch(/MachineSet one: spec\.replicas/);
    expect(error.problems[1]?.message).toMatch(/zone/);
  });

  it.each<[name: string, files: Files, code: string, place: string | undefined, message: RegExp]>([
    ['throws', { 'main.ts': '\nthrow new Error("no such zone");' }, 'Failed', 'main.ts:2', /no such zone/],
    [
      'throws in a file it imports',
      { 'main.ts': 'import "./zones.ts";', 'zones.ts': '\n\nnull.x;' },
      'Failed',
      'zones.ts:3',
      /null/,
    ],
    ['throws a value that is not an Error', { 'main.ts': 'throw "a word";' }, 'Failed', undefined, /a word/],
    ['does not parse', { 'main.ts': 'const a = 1;\nconst = ;' }, 'Failed', 'main.ts:2', /./],
    ['uses an enum', { 'main.ts': '\nenum A { B }' }, 'Failed', 'main.ts:2', /enum/i],
    ['imports a missing package', { 'main.ts': 'import "lodash";' }, 'MissingModule', undefined, /lodash/],
    ['imports a missing file', { 'main.ts': 'import "./nothing.ts";' }, 'Failed', undefined, /nothing\.ts/],
    ['declares nothing', { 'main.ts': 'export {};' }, 'Failed', 'main.ts', /no Fleet/],
    ['ends the process', { 'main.ts': 'process.exit(0);' }, 'Denied', 'main.ts:1', /process\.exit/],
    [
      'waits forever',
      { 'main.ts': 'await new Promise(() => {});' },
      'Failed',
      undefined,
      /before the render was complete/,
    ],
    [
      'rejects in the background',
      {
        'main.ts': `${program()}Promise.reject(new Error('late'));await 0;await 0;await new Promise(setImmediate)`,
      },
      'Failed',
      undefined,
      /late/,
    ],
    [
      'declares an object without a name',
      {
        'main.ts': program(
          `new ApiObject(fleet.hub('x'), 'n', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '' } });`,
        ),
      },
      'BadObject',
      'main.ts:4 (hub/x/n)',
      /name/,
    ],
    [
      'uses an invalid unit name',
      {
        'main.ts': program(
          `new ApiObject(fleet.hub('Not_A_Unit'), 'n', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x' } });`,
        ),
      },
      'BadObject',
      'main.ts:4 (hub/Not_A_Unit/n)',
      /Not_A_Unit/,
    ],
    ['does not exist', { 'README.md': 'x' }, 'NoEntry', undefined, /cdk8s\.yaml/],
  ])('reports a program that %s', async (...[, files, code, place, message]) => {
    const error = await failureOf(render(files));
    expect(error).toMatchObject({ name: 'RenderError', code });
    expect(error.message).toMatch(message);
    expect(error.hint).toEqual(expect.any(String));
    const [problem = { message: '' }] = error.problems;
    expect(formatLocation(problem)).toBe(place);
  });

  it('uses its own toolchain, whatever is installed in the repository', async () => {
    const fake = '{"name":"cdk8s","type":"module","exports":"./index.js"}';
    const files = {
      'node_modules/cdk8s/package.json': fake,
      'node_modules/cdk8s/index.js': 'throw "not this one";',
    };
    const { targets } = await renderCommit({ 'main.ts': program('', '{ a: "1" }'), ...files });
    expect(dataOf({ targets })).toEqual({ a: '1' });
  });

  it('uses packages that are committed', async () => {
    const { targets } = await renderCommit({
      'main.ts': `import { word } from 'our-words';\n${program('', '{ word }')}`,
      'node_modules/our-words/package.json': '{"name":"our-words","type":"module","exports":"./index.js"}',
      'node_modules/our-words/index.js': 'export const word = "committed";',
    });
    expect(dataOf({ targets })).toEqual({ word: 'committed' });
  });

  it('S13 renders the dependencies of charts and of their objects as an annotation on every object of the unit', async () => {
    const body = `const cluster = fleet.cluster('test', { environment: 'test', connection: { credentialsRef: { name: 'test' } } });
      const [db, net, web] = ['db', 'net', 'web'].map((name) => cluster.unit(name));
      const inDb = new ApiObject(db, 'x', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'db' } });
      new ApiObject(net, 'x', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'net' } });
      web.addDependency(net);
      new ApiObject(web, 'y', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'y' } }).addDependency(inDb);`;
    const main = program(body).replace(/fleet\.cluster\('test'[^)]*\)\.unit\('web'\)/, 'web');
    const { targets } = await render({ 'main.ts': main });
    const found = targets
      .filter(({ target }) => target === 'test')
      .flatMap(({ units }) => units.flatMap(({ objects }) => objects.map(({ object }) => object.metadata)));
    expect(found.map(({ name, annotations }) => [name, annotations?.['kubenode.dev/depends-on']])).toEqual([
      ['db', undefined],
      ['net', undefined],
      ['settings', 'db, net'],
      ['y', 'db, net'],
    ]);
  });

  it('S13 refuses a dependency on a unit of another cluster, with the path of the construct', async () => {
    const body = `fleet.hub('x').addDependency(fleet.hub('y'));
      fleet.hub('y').addDependency(fleet.cluster('other', { environment: 'test', connection: { credentialsRef: { name: 'o' } } }).unit('db'));`;
    const error = await failureOf(render({ 'main.ts': program(body) }));
    expect(error.message).toContain('hub/y depends on other/db of another cluster');
    expect(error.problems.map(({ construct }) => construct)).toEqual(['hub/y']);
  });
});
