/** The Renovate configuration of a new repository, with the regular expressions as they are, on the files that they are for. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { CATALOG_NAMES, findInCatalog } from '../../../src/cli/commands/component/catalog/catalog.ts';
import { createScaffold } from '../../../src/demo/template/scaffold.ts';

interface RenovateManager {
  readonly managerFilePatterns: readonly string[];
  readonly matchStrings: readonly string[];
  readonly depNameTemplate: string;
  readonly packageNameTemplate: string;
  readonly extractVersionTemplate: string;
}

interface RenovateConfig {
  readonly customManagers: readonly RenovateManager[];
  readonly packageRules: readonly { readonly postUpgradeTasks: { readonly commands: readonly string[] } }[];
}

const VERSIONS = 'fleet/versions.ts';
const own = readFileSync(fileURLToPath(new URL(`../../../${VERSIONS}`, import.meta.url)), 'utf8');
const scaffold = createScaffold({
  content: 'Fleet',
  repository: 'file:///fleet',
  kubenode: '1.0.0',
  name: 'fleet',
});
const config = JSON.parse(scaffold.get('renovate.json') ?? '') as RenovateConfig;

/** Name and version of each line, as Renovate reads them. */
function found(text: string): readonly (readonly [string, string])[] {
  return config.customManagers.flatMap(({ matchStrings, depNameTemplate }) =>
    matchStrings.flatMap((pattern) =>
      [...text.matchAll(new RegExp(pattern, 'g'))].map(
        ({ groups }) => [depNameTemplate, groups?.['currentValue'] ?? ''] as const,
      ),
    ),
  );
}

/** The lines of an object of TypeScript, read without a regular expression of the configuration. */
function declared(text: string): readonly (readonly [string, string])[] {
  return text.split('\n').flatMap((line) => {
    const [name = '', version = ''] = line.trim().replaceAll(/[',]/g, '').split(': ');
    return findInCatalog(name) ? [[name, version] as const] : [];
  });
}

describe('the Renovate configuration of a new repository', () => {
  it.each([
    ['of this repository', own],
    ['of a new repository', scaffold.get(VERSIONS) ?? ''],
  ])('finds every selected version %s, whose publisher is known, once', (_, text) => {
    expect(declared(text).length).toBeGreaterThan(5);
    expect(new Map(found(text))).toEqual(new Map(declared(text)));
    expect(found(text)).toHaveLength(declared(text).length);
  });

  it('reads the files of versions and no other', () => {
    for (const { managerFilePatterns } of config.customManagers) {
      const patterns = managerFilePatterns.map((text) => new RegExp(text.slice(1, -1)));
      const matching = [...scaffold.keys()].filter((path) => patterns.some((each) => each.test(path)));
      expect(matching).toEqual([VERSIONS]);
    }
  });

  it('asks the publishers that kubenode component asks, and takes stable versions only', () => {
    const asked = config.customManagers.map(({ depNameTemplate, packageNameTemplate }) => [
      depNameTemplate,
      packageNameTemplate,
    ]);
    const known = CATALOG_NAMES.map((name) => {
      const index = findInCatalog(name)?.index;
      return [name, index?.kind === 'GitHub' ? index.repository : 'kubernetes/kubernetes'];
    });
    expect(new Map(asked as [string, string][])).toEqual(new Map(known as [string, string][]));
    for (const { extractVersionTemplate } of config.customManagers) {
      const version = new RegExp(extractVersionTemplate);
      expect(version.exec('v1.37.1')?.groups?.['version']).toBe('1.37.1');
      expect(['v1.37.0-rc.1', 'api/v1.9.0'].filter((tag) => version.test(tag))).toEqual([]);
    }
  });

  it('has kubenode add the release with its digests', () => {
    const commands = config.packageRules.flatMap(({ postUpgradeTasks }) => postUpgradeTasks.commands);
    expect(commands.at(-1)).toBe('npx kubenode component add {{{depName}}} {{{newVersion}}}');
  });

  it('is in no repository without components', () => {
    for (const content of ['Plain', 'Demo'] as const) {
      const other = createScaffold({ content, repository: 'file:///f', kubenode: '1.0.0', name: 'f' });
      expect(other.has('renovate.json')).toBe(false);
    }
  });
});
