import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRenderCache } from '../../../src/sync/render/cache.ts';
import type { Renderer } from '../../../src/sync/render/renderer.ts';
import {
  createFleetRepository,
  createTestRenderer,
  type Files,
  type FleetRepository,
  program,
} from '../../support/fleet-repository.ts';
import { LONG } from '../../support/sweep-size.ts';
import { tempFolder } from '../../support/temp.ts';
import { failureOf } from './results.ts';

const shared = createTestRenderer();

/** One ConfigMap in the cluster `test`. Starts faster than a program. */
function configMap(word: string, folder = '.'): Files {
  const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {word: ${word}}\n`;
  return { [join(folder, 'clusters/test/web/settings.yaml')]: text };
}

async function commit(at: Renderer, { transport }: FleetRepository): ReturnType<Renderer['commit']> {
  return at.commit({ git: transport, commit: await transport.fetch('main') });
}

describe('rendering a commit', () => {
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
    repository.commit('first', configMap('good'));
    await commit(shared, repository);
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('kubenode-render-'))).toEqual([]);
  });

  it('caches a render by its inputs, and ignores an entry that was changed', async () => {
    const folder = tempFolder('cache');
    const cached = createTestRenderer({ cache: createRenderCache(folder) });
    const repository = createFleetRepository();
    repository.commit('first', configMap('good'));
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
    repository.commit('bad', configMap('good, word: twice'));
    expect((await failureOf(commit(cached, repository))).code).toBe('BadObject');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('ignores an entry that was copied over another one', async () => {
    const folder = tempFolder('cache');
    const cached = createTestRenderer({ cache: createRenderCache(folder) });
    const repository = createFleetRepository();
    repository.commit('good', configMap('good'));
    const good = await commit(cached, repository);
    const [one = ''] = readdirSync(folder);
    repository.commit('other', configMap('other'));
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
    repository.commit('first', { ...configMap('good'), ...configMap('good', 'sub') });
    const request = { git: repository.transport, commit: await repository.transport.fetch('main') };
    await cached.commit(request);
    await cached.commit({ ...request, path: 'sub' });
    await cached.commit({ ...request, facts: { a: 1 } });
    repository.commit('nothing changed');
    await commit(cached, repository);
    expect(readdirSync(folder)).toHaveLength(3);
  });
});
