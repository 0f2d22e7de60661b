/** The README of a new repository names only what the repository has. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { demoFiles } from '../../../src/demo/template/demo.ts';
import { createScaffold, type ScaffoldOptions } from '../../../src/demo/template/scaffold.ts';
import { createRefusedReason, type RefusedReason } from '../../support/parsed-commands.ts';
import { shellCommands } from '../../support/shell-lines.ts';
import { tempFolder } from '../../support/temp.ts';

const VENDORED = 'vendor/kubenode-0.1.0.tgz';
const PATH = /^[\w.-]+\/(?:[\w.-]+\/)*[\w.-]*$|^[\w-]+\.(?:json|ts|yaml|md)$/;

interface Repository {
  readonly files: ReadonlyMap<string, string>;
  readonly readme: string;
}

async function repositoryOf(content: ScaffoldOptions['content'], isVendored: boolean): Promise<Repository> {
  const kubenode = isVendored ? `file:${VENDORED}` : '^0.1.0';
  const scaffold = createScaffold({ content, repository: 'file:///srv/fleet', kubenode, name: 'fleet' });
  const local = content === 'Demo' ? await demoFiles('/srv/fleet', bundleFile()) : [];
  const vendored = isVendored ? ([VENDORED, 'package-lock.json'] as const) : [];
  const files = new Map([...scaffold, ...local, ...vendored.map((path) => [path, ''] as const)]);
  return { files, readme: files.get('README.md') ?? '' };
}

function bundleFile(): URL {
  const file = join(tempFolder('bundle'), 'kubelet.mjs');
  writeFileSync(file, 'export {};\n');
  return pathToFileURL(file);
}

function missingPaths({ files, readme }: Repository): readonly string[] {
  const named = [...readme.matchAll(/`(?<code>[^`]+)`/g)].map(({ groups }) => groups?.['code'] ?? '');
  const exists = (path: string): boolean =>
    [...files.keys()].some((file) => file === path || file.startsWith(`${path.replace(/\/$/, '')}/`));
  return named.filter((code) => PATH.test(code) && !exists(code));
}

describe.each([
  ['Fleet', true],
  ['Fleet', false],
  ['Plain', true],
  ['Plain', false],
  ['Demo', true],
  ['Demo', false],
] as const)('the README of a new repository, content %s, kubenode vendored: %s', (content, isVendored) => {
  let refusedReason: RefusedReason;
  beforeAll(async () => {
    refusedReason = await createRefusedReason();
  });

  it('names only files and folders that the repository has', async () => {
    const repository = await repositoryOf(content, isVendored);
    expect(missingPaths(repository)).toEqual([]);
    expect(missingPaths({ ...repository, readme: 'see `docs/none.md` and `none.json`' })).toEqual([
      'docs/none.md',
      'none.json',
    ]);
  });

  it('names only commands that npm and kubenode accept', async () => {
    const repository = await repositoryOf(content, isVendored);
    const block = repository.readme.match(/^ {4}.+/gm)?.join('\n') ?? '';
    const inline = repository.readme.match(/(?<=`)kubenode [^`]+/g) ?? [];
    const commands = shellCommands([block, ...inline].join('\n'));
    expect(commands.length).toBeGreaterThan(3);
    const refusals = commands.map((words) => refusalOf(words, repository));
    expect(refusals.filter((text) => text !== undefined)).toEqual([]);
    expect(refusalOf(['npx', 'kubenode', 'plans'], repository)).toContain('unknown command');
  });

  function refusalOf(words: readonly string[], { files }: Repository): string | undefined {
    const [program, name = '', ...rest] = words;
    if (program === 'kubenode') return refusedReason(words.slice(1));
    if (program === 'npx' && name === 'kubenode') return refusedReason(rest);
    const { scripts } = JSON.parse(files.get('package.json') ?? '') as { scripts: Record<string, string> };
    const hasIt = { ci: files.has('package-lock.json'), install: true, test: 'test' in scripts };
    return program === 'npm' && hasIt[name as keyof typeof hasIt] ? undefined : words.join(' ');
  }
});
