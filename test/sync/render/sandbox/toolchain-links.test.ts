import { chmodSync, existsSync, mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NO_OS_ISOLATION } from '../../../../src/sync/render/sandbox/os-isolation.ts';
import { resolveToolchain } from '../../../../src/sync/render/sandbox/toolchain.ts';
import { linkToolchain, planLinks } from '../../../../src/sync/render/sandbox/toolchain-links.ts';
import { createFleetFolder, createTestRenderer, program } from '../../../support/fleet-repository.ts';
import { tempFolder } from '../../../support/temp.ts';
import { dataOf } from '../results.ts';

const TOOLCHAIN = resolveToolchain();

function only(parent: string): string {
  const [name = ''] = readdirSync(parent);
  return join(parent, name);
}

describe('the links of the toolchain', () => {
  it('have paths that do not depend on where kubenode is installed', () => {
    const text = JSON.stringify(TOOLCHAIN).replaceAll(process.cwd(), '/usr/lib');
    const moved = JSON.parse(text) as typeof TOOLCHAIN;
    const [here, there] = [TOOLCHAIN, moved].map((each) => planLinks(each, '/tmp/links'));
    expect(there?.linked).toEqual(here?.linked);
    expect(there?.links.get('/tmp/links/code')).toBe('/usr/lib/src');
    expect(JSON.stringify(here?.linked)).not.toContain(process.cwd());
  });

  it('are made once, and again where something has removed them or their installation', async () => {
    const parent = tempFolder('links');
    const first = await linkToolchain(TOOLCHAIN, parent);
    expect(existsSync(first.harness)).toBe(true);
    const link = join(only(parent), 'node_modules/cdk8s');
    for (const damage of [() => rmSync(link), () => replaceLink(link, '/missing/cdk8s')]) {
      damage();
      expect(await linkToolchain(TOOLCHAIN, parent)).toEqual(first);
      expect(readlinkSync(link)).toBe(TOOLCHAIN.closure['cdk8s']);
    }
  });

  it.each<[what: string, damage: (folder: string) => void]>([
    ['lead to another installation', (folder) => replaceLink(join(folder, 'code'), tempFolder('other'))],
    ['are in a folder that others can write', (folder) => chmodSync(folder, 0o777)],
    [
      'are in a folder that is a link',
      (folder) => {
        rmSync(folder, { recursive: true });
        symlinkSync(tempFolder('other'), folder);
      },
    ],
  ])('are not used where they %s', async (_, damage) => {
    const parent = tempFolder('links');
    await linkToolchain(TOOLCHAIN, parent);
    damage(only(parent));
    expect(await linkToolchain(TOOLCHAIN, parent)).toBe(TOOLCHAIN);
  });

  it.each([
    ['all isolation of this machine', {}],
    ['the permission model of Node only', { isolation: NO_OS_ISOLATION }],
  ])('S20 are all that a program finds of this machine, with %s', async (_, options) => {
    const links = join(tempFolder('links'), 'all');
    mkdirSync(links);
    const body = `const fs = process.getBuiltinModule('node:fs');
      const tries: Record<string, () => unknown> = {
        resolve: () => import.meta.resolve('cdk8s'),
        require: () => process.getBuiltinModule('node:module').createRequire(import.meta.url).resolve('constructs'),
        cache: () => Object.keys(process.getBuiltinModule('node:module')._cache),
        stack: () => { try { (fleet as any).cluster(); } catch (error) { return (error as Error).stack; } },
        readlink: () => fs.readlinkSync(new URL(import.meta.resolve('cdk8s')).pathname.split('/lib/')[0]),
        realpath: () => fs.realpathSync(new URL(import.meta.resolve('cdk8s')).pathname),
        native: () => fs.realpathSync.native(new URL(import.meta.resolve('cdk8s')).pathname),
        permission: () => process.permission?.has('fs.read', 'HERE/package.json'),
      };
      const found: Record<string, string> = {};
      for (const [name, attempt] of Object.entries(tries)) {
        try { found[name] = JSON.stringify(attempt()); } catch (error) { found[name] = (error as any).code; }
      }`.replace('HERE', process.cwd());
    const renderer = createTestRenderer({ ...options, links });
    const rendered = await renderer.folder({
      folder: createFleetFolder({ 'main.ts': program(body, 'found') }),
    });
    const found = dataOf(rendered) as Record<string, string>;
    expect(found).toMatchObject({
      resolve: expect.stringContaining('/node_modules/cdk8s/') as string,
      readlink: 'ERR_ACCESS_DENIED',
      permission: 'false',
    });
    expect(JSON.stringify(found)).not.toContain(process.cwd());
    expect(found['stack']).toContain(`${only(links)}/code/`);
    expect(found['realpath']).toContain(`${only(links)}/node_modules/cdk8s`);
  });
});

function replaceLink(path: string, target: string): void {
  rmSync(path);
  symlinkSync(target, path);
}
