import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../support/temp.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FIXTURES = fileURLToPath(new URL('fixtures', import.meta.url));

interface Diagnostic {
  readonly code: string;
  readonly filename: string;
  readonly labels: readonly { readonly span: { readonly line: number } }[];
}

describe('our lint rules', () => {
  const diagnostics = lintFixtures();

  it.each([
    ['no-ambient-time', 'ambient-time.ts'],
    ['constant-log-message', 'log-messages.ts'],
  ])('%s reports exactly the marked lines', (rule, file) => {
    const marked = linesOf(file).flatMap((line, index) => (line.endsWith('// reported') ? index + 1 : []));
    const reported = diagnostics.filter(
      ({ code, filename }) => code === `kubenode(${rule})` && filename === file,
    );
    expect(marked.length).toBeGreaterThan(0);
    expect(reported.map(({ labels }) => labels[0]?.span.line).toSorted((a = 0, b = 0) => a - b)).toEqual(
      marked,
    );
  });

  it('are on for all sources except the system clock', () => {
    const { rules, overrides } = JSON.parse(readFileSync(`${ROOT}.oxlintrc.json`, 'utf8')) as Settings;
    expect(rules).toMatchObject({
      'kubenode/no-ambient-time': 'error',
      'kubenode/constant-log-message': 'error',
    });
    const exceptions = overrides.filter(({ rules: off }) =>
      Object.keys(off).some((name) => name.startsWith('kubenode/')),
    );
    expect(exceptions.flatMap(({ files }) => files)).toEqual(['src/os/system-clock.ts']);
  });
});

interface Settings {
  readonly rules: Record<string, unknown>;
  readonly overrides: readonly {
    readonly files: readonly string[];
    readonly rules: Record<string, unknown>;
  }[];
}

/** A copy of the fixtures: their own folder is excluded from linting. */
function lintFixtures(): readonly Diagnostic[] {
  const folder = tempFolder('lint');
  cpSync(FIXTURES, folder, { recursive: true });
  const oxlint = `${ROOT}node_modules/oxlint/bin/oxlint`;
  const args = ['--format', 'json', '--config', `${ROOT}.oxlintrc.json`, '.'];
  const { stdout } = spawnSync(process.execPath, [oxlint, ...args], { cwd: folder, encoding: 'utf8' });
  return (JSON.parse(stdout) as { diagnostics: readonly Diagnostic[] }).diagnostics;
}

function linesOf(path: string): string[] {
  return readFileSync(`${FIXTURES}/${path}`, 'utf8').split('\n');
}
