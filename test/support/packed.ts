/** The tarball that users install, made from a copy: packing builds dist/, and the checkout may be in use. */
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tempFolder } from './temp.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LEFT_OUT = new Set(['.git', 'node_modules', 'dist', 'rendered', 'test', 'coverage']);

/** npm, run by the Node that runs this test: which Node that is decides what npm installs. */
export function npm(cwd: string, ...args: string[]): string {
  const path = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
  const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
  const env = { ...process.env, PATH: path, npm_config_audit: 'false', npm_config_fund: 'false' };
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio, env });
}

export function packedTarball(): string {
  const copy = tempFolder('pack');
  for (const name of readdirSync(ROOT).filter((entry) => !LEFT_OUT.has(entry))) {
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  npm(copy, 'pack', '--pack-destination', copy);
  const tarball = readdirSync(copy).find((name) => name.endsWith('.tgz'));
  if (!tarball) throw new Error('npm pack made no tarball');
  return join(copy, tarball);
}
