import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRenderCache } from '../../../src/sync/render/cache.ts';
import { formatLocation, type RenderError } from '../../../src/sync/render/errors.ts';
import type { Renderer } from '../../../src/sync/render/renderer.ts';
import type { RenderResult } from '../../../src/sync/render/result.ts';
import {
  createFleetFolder,
  createFleetRepository,
  createTestRenderer,
  type Files,
  type FleetRepository,
  program,
} from '../../support/fleet-repository.ts';
import { LONG } from '../../support/sweep-size.ts';
import { tempFolder } from '../../support/temp.ts';

const shared = createTestRenderer();

function render(files: Files, path = '.'): Promise<RenderResult> {
  return shared.folder({ folder: createFleetFolder(files), path });
}

async function failureOf(work: Promise<unknown>): Promise<RenderError> {
  return work.then(
    () => {
      throw new Error('the render succeeded');
    },
    (error: unknown) => error as RenderError,
  );
}

/** `target/unit: Kind/name [file, construct]`, in order. */
function outline({ targets }: Pick<RenderResult, 'targets'>): string[] {
  return targets.flatMap(({ target, units }) =>
    units.flatMap(({ unit, objects }) =>
      objects.map(
        ({ object, source }) =>
          `${target}/${unit}: ${object.kind}/${object.metadata.name} [${source.file}${source.construct ? `, ${source.construct}` : ''}]`,
      ),
    ),
  );
}

function dataOf({ targets }: Pick<RenderResult, 'targets'>): unknown {
  const object = targets.find(({ target }) => target === 'test')?.units[0]?.objects[0]?.object;
  return object?.['data'];
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

function manifest(kind: string, name: string): string {
  return `apiVersion: v1\nkind: ${kind}\nmetadata: {name: ${name}}\n`;
}

async function commit(at: Renderer, { transport }: FleetRepository): ReturnType<Renderer['commit']> {
  return at.commit({ git: transport, commit: await transport.fetch('main') });
}

describe('rendering a program', { timeout: 120_000 }, () => {
  it('reports target, unit, file with line, and construct of each object', async () => {
    const result = await render({ 'fleet/main.ts': program() });
    expect(outline(result)).toEqual([
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
    expect(outline(await render(files, 'deep'))[1]).toBe(
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
    expect(outline(await render({ 'main.ts': main })).map((line) => line.split(' [')[0])).toEqual([
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
    [
      'has an app that is not a call of node',
      { 'cdk8s.yaml': 'app: npx tsx main.ts' },
      'NoEntry',
      undefined,
      /node FILE/,
    ],
    [
      'is named in cdk8s.yaml but missing',
      { 'cdk8s.yaml': 'app: node main.ts' },
      'NoEntry',
      undefined,
      /main\.ts/,
    ],
    [
      'is outside of the repository',
      { 'cdk8s.yaml': 'app: node ../main.ts' },
      'NoEntry',
      undefined,
      /main\.ts/,
    ],
  ])('reports a program that %s', async (...[, files, code, place, message]) => {
    const error = await failureOf(render(files));
    expect(error).toMatchObject({ name: 'RenderError', code });
    expect(error.message).toMatch(message);
    expect(error.hint).toEqual(expect.any(String));
    const [problem = { message: '' }] = error.problems;
    expect(formatLocation(problem)).toBe(place);
  });

  it('warns when the lock file has different versions', async () => {
    const lock = JSON.stringify({ packages: { 'node_modules/cdk8s': { version: '2.0.0' } } });
    const { warnings } = await render({ 'main.ts': program(), 'package-lock.json': lock });
    expect(warnings).toEqual([expect.stringMatching(/cdk8s 2\.0\.0.*differ/)]);
  });

  it('uses its own toolchain, whatever is installed in the repository', async () => {
    const fake = '{"name":"cdk8s","type":"module","exports":"./index.js"}';
    const files = {
      'node_modules/cdk8s/package.json': fake,
      'node_modules/cdk8s/index.js': 'throw "not this one";',
    };
    const { targets } = await render({ 'main.ts': program('', '{ a: "1" }'), ...files });
    expect(dataOf({ targets })).toEqual({ a: '1' });
  });

  it('uses packages that are committed', async () => {
    const { targets } = await render({
      'main.ts': `import { word } from 'our-words';\n${program('', '{ word }')}`,
      'node_modules/our-words/package.json': '{"name":"our-words","type":"module","exports":"./index.js"}',
      'node_modules/our-words/index.js': 'export const word = "committed";',
    });
    expect(dataOf({ targets })).toEqual({ word: 'committed' });
  });
});

describe('rendering plain YAML', { timeout: 120_000 }, () => {
  it('maps folders to targets and units, and splits Lists', async () => {
    const result = await render({
      'hub/clusters.yaml':
        'apiVersion: kubenode.dev/v1alpha1\nkind: Cluster\nmetadata: {name: test}\nspec: {environment: test, connection: {credentialsRef: {name: test}}}\n',
      'clusters/test/web/b.yaml': `${manifest('Namespace', 'one')}---\n${manifest('Namespace', 'two')}`,
      'clusters/test/web/deeper/c.yml': manifest('Namespace', 'three'),
      'clusters/test/all.yaml': `apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Namespace, metadata: {name: four}}\n`,
      'clusters/test/README.md': 'not an object',
      'clusters/notes.yaml': 'of no cluster',
      'clusters/prod/data.json': JSON.stringify({
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'five' },
      }),
    });
    expect(outline(result)).toEqual([
      'hub/default: Cluster/test [hub/clusters.yaml:1]',
      'prod/default: Namespace/five [clusters/prod/data.json:1]',
      'test/default: Namespace/four [clusters/test/all.yaml:4]',
      'test/web: Namespace/one [clusters/test/web/b.yaml:1]',
      'test/web: Namespace/three [clusters/test/web/deeper/c.yml:1]',
      'test/web: Namespace/two [clusters/test/web/b.yaml:5]',
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
});

describe('an integer that JavaScript cannot represent exactly', { timeout: 120_000 }, () => {
  it.each<[name: string, files: Files, place: string]>([
    [
      'in YAML',
      { 'clusters/test/a.yaml': `${manifest('ConfigMap', 'a')}data: {size: 9007199254740993}\n` },
      'clusters/test/a.yaml:1',
    ],
    ['in a program', { 'main.ts': program('', '{ size: 2 ** 60 }') }, 'main.ts:5'],
  ])('is refused %s', async (_, files, place) => {
    const error = await failureOf(render(files));
    expect(error.code).toBe('BadObject');
    expect(error.message).toContain('data.size is an integer that JavaScript cannot represent exactly');
    expect(error.problems[0]?.file).toBe(place);
  });
});

describe('rendering a commit', { timeout: 240_000 }, () => {
  it('S20 gives the same digest with every render', async () => {
    const repository = createFleetRepository();
    repository.commit('first', { 'main.ts': program('', '{ a: crypto.randomUUID() }') });
    const digests = new Set<string>();
    for (let n = 0; n < (LONG ? 500 : 4); n += 1) {
      const { rendered } = await commit(shared, repository);
      digests.add(rendered.targets.map(({ digest }) => digest).join());
    }
    expect(digests.size).toBe(1);
  });

  it.each<[name: string, data: string, field: string]>([
    ['its own path', '{ path: import.meta.dirname }', 'data.path'],
    [
      'a key',
      '{ key: nodeCrypto.generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }) }',
      'data.key',
    ],
  ])('reports a program that renders %s, and names the field', async (_, data, field) => {
    const repository = createFleetRepository();
    repository.commit('first', { 'main.ts': `import nodeCrypto from 'node:crypto';\n${program('', data)}` });
    const error = await failureOf(commit(shared, repository));
    expect(error.code).toBe('NotDeterministic');
    expect(error.message).toContain(`ConfigMap settings, field ${field}`);
    expect(error.problems[0]?.construct).toBe('test/web/settings');
  });

  it('leaves no folder behind', async () => {
    const repository = createFleetRepository();
    repository.commit('first', { 'main.ts': program() });
    await commit(shared, repository);
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('kubenode-render-'))).toEqual([]);
  });

  it('caches a render by its inputs, and ignores an entry that was changed', async () => {
    const folder = tempFolder('cache');
    const cached = createTestRenderer({ cache: createRenderCache(folder) });
    const repository = createFleetRepository();
    repository.commit('first', { 'main.ts': program('', '{ word: "good" }') });
    const first = await commit(cached, repository);
    const [name = ''] = readdirSync(folder);
    const entry = join(folder, name);
    const good = readFileSync(entry);

    // This renderer always fails, so a result comes from the cache.
    const broken = createTestRenderer({
      limits: { timeoutMs: 1 },
      cache: createRenderCache(folder),
    });
    expect(await commit(broken, repository)).toEqual(first);

    const changes: (() => void)[] = [
      () => writeFileSync(entry, good.toString().replace('good', 'evil')),
      () => truncateSync(entry, good.length - 10),
      () => truncateSync(entry, 0),
      () => writeFileSync(entry, good.toString().split('\n').slice(1).join('\n')),
    ];
    for (const change of changes) {
      change();
      expect((await failureOf(commit(broken, repository))).code).toBe('Timeout');
      expect(await commit(cached, repository)).toEqual(first);
      expect(readFileSync(entry)).toEqual(good);
    }
  });

  it('does not cache a commit that fails', async () => {
    const folder = tempFolder('cache');
    const cached = createTestRenderer({ cache: createRenderCache(folder) });
    const repository = createFleetRepository();
    repository.commit('bad', { 'main.ts': program('throw new Error("bad");') });
    expect((await failureOf(commit(cached, repository))).code).toBe('Failed');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('ignores an entry that was copied over another one', async () => {
    const folder = tempFolder('cache');
    const cached = createTestRenderer({ cache: createRenderCache(folder) });
    const repository = createFleetRepository();
    repository.commit('good', { 'main.ts': program('', '{ word: "good" }') });
    const good = await commit(cached, repository);
    const [one = ''] = readdirSync(folder);
    repository.commit('other', { 'main.ts': program('', '{ word: "other" }') });
    await commit(cached, repository);
    const two = readdirSync(folder).find((name) => name !== one) ?? '';
    writeFileSync(join(folder, one), readFileSync(join(folder, two)));
    repository.git('revert', '--no-edit', 'HEAD');
    repository.push('origin', 'HEAD');
    const again = await commit(cached, repository);
    expect(again.rendered.targets).toEqual(good.rendered.targets);
  });

  it('renders again for a different path, facts or tree, and not for a new commit of the same tree', async () => {
    const folder = tempFolder('cache');
    const cached = createTestRenderer({ cache: createRenderCache(folder) });
    const repository = createFleetRepository();
    const main = program('', '{ a: String(fleet.facts.a) }');
    repository.commit('first', { 'main.ts': main, 'sub/main.ts': main });
    const request = { git: repository.transport, commit: await repository.transport.fetch('main') };
    await cached.commit(request);
    await cached.commit({ ...request, path: 'sub' });
    await cached.commit({ ...request, facts: { a: 1 } });
    repository.commit('nothing changed');
    await commit(cached, repository);
    expect(readdirSync(folder)).toHaveLength(3);
  });
});
