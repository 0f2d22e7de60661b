import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Bundle, buildBundle, bundleFile } from '../../../scripts/bundle.ts';
import { tempFolder } from '../../support/temp.ts';

let bundle: Bundle;
beforeAll(async () => {
  bundle = await buildBundle('agent', tempFolder('bundle'));
});

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** With Node.js alone: no PATH, no home, no node_modules above the file. */
function run(...args: string[]): Ran {
  const ran = spawnSync(process.execPath, [bundle.file, ...args], { env: {}, cwd: '/', encoding: 'utf8' });
  return { code: ran.status, stdout: ran.stdout, stderr: ran.stderr };
}

describe('the bundle of the agent', () => {
  it('AGT-01 contains only our modules, and imports nothing but Node.js', () => {
    expect(bundle.modules.length).toBeGreaterThan(50);
    expect(
      bundle.modules.filter(
        (path) => !/^src\/(agent|api|cli|kube|observability\/metrics|os|views\/text)\/.+\.ts$/.test(path),
      ),
    ).toEqual([]);
    const code = readFileSync(bundle.file, 'utf8');
    expect(code.match(/^const .* = process\.getBuiltinModule\("node:[a-z/]+"\);$/gm)?.length).toBeGreaterThan(
      5,
    );
    expect(code.match(/^import .*|\brequire\(.*|\bimport\(.*/gm)).toBeNull();
  });

  it('is small, and the same bytes each time', async () => {
    expect(bundle.sizeBytes).toBeLessThan(710_000);
    expect((await buildBundle('agent', tempFolder('bundle'))).sha256).toBe(bundle.sha256);
  });

  it.each([
    ['a package', "import { parse } from 'yaml';\nconsole.log(parse('a'));\n"],
    ['a file of a package', "import 'yaml/util';\n"],
  ])('is not built with %s in it', async (_, source) => {
    const entry = join(tempFolder('entry'), 'entry.ts');
    writeFileSync(entry, source);
    const building = bundleFile(entry, join(tempFolder('bundle'), 'entry.mjs'));
    await expect(building).rejects.toThrow(/the npm module yaml(\/util)? is not allowed in a bundle/);
  });

  it('prints help and version without anything but Node.js', () => {
    const help = run('--help');
    expect(help.code).toBe(0);
    expect(help.stdout).toContain('  status  ');
    expect(run('run', '--help').stdout).toContain('--machine <name>');
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(run('--version').stdout).toBe(`${version}\n`);
  });

  it('AGT-61 answers from the file that the agent keeps, without the API server', () => {
    const directory = tempFolder('agent');
    const before = run('status', '--directory', directory);
    expect(before.code).toBe(69);
    expect(before.stderr).toContain('error: no agent has run on this host');
    mkdirSync(join(directory, 'var/lib/kubenode'), { recursive: true });
    const status = { components: [{ name: 'proxy', state: 'Failed' }], drift: [], conditions: [] };
    const stored = { machine: 'n1', writtenAt: '2030-01-01T00:00:00Z', online: false, status };
    writeFileSync(join(directory, 'var/lib/kubenode/status.json'), JSON.stringify(stored));
    const answer = run('agent', 'status', '--directory', directory);
    expect(answer.code).toBe(1);
    expect(answer.stdout).toMatch(/^machine n1, no agent runs here.*\n\nCOMPONENT .*\nproxy +Failed/);
  });

  it('does not start on an older Node.js, and names the one that it needs', () => {
    const file = join(tempFolder('old'), 'old.mjs');
    const old = "Object.defineProperty(process, 'versions', { value: { node: '20.1.0' } });\n";
    writeFileSync(file, old);
    const ran = spawnSync(process.execPath, ['--import', file, bundle.file, '--help'], { encoding: 'utf8' });
    expect(ran.status).toBe(69);
    expect(ran.stderr).toContain('expected Node.js 24 or later, got ');
  });
});
