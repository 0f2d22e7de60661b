/** The tarball that users install, packed from a copy: packing builds dist/, and the checkout may be in use. */
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tempFolder } from './temp.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const EXCLUDED = new Set(['.git', 'node_modules', 'dist', 'rendered', 'test', 'coverage']);

/** npm, run by the Node that runs this test: the version of Node decides what npm installs. */
export function npm(cwd: string, ...args: string[]): string {
  const path = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
  const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
  const env = { ...process.env, PATH: path, npm_config_audit: 'false', npm_config_fund: 'false' };
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio, env });
}

export function packedTarball(): string {
  const copy = tempFolder('pack');
  for (const name of readdirSync(ROOT).filter((entry) => !EXCLUDED.has(entry))) {
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  npm(copy, 'pack', '--pack-destination', copy);
  const tarball = readdirSync(copy).find((name) => name.endsWith('.tgz'));
  if (!tarball) throw new Error('npm pack did not write a tarball');
  return join(copy, tarball);
}
