import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../support/temp.ts';

const BIN = join(import.meta.dirname, '../../bin/kubenode.js');

function version(env: Record<string, string>): string {
  return execFileSync(process.execPath, [BIN, '--version'], { env, encoding: 'utf8' });
}

describe('bin/kubenode.js', () => {
  it('keeps compiled code in the cache folder of the user, so that the next start strips no types', () => {
    const cache = tempFolder();
    const first = version({ XDG_CACHE_HOME: cache });
    const compiled = (): string[] =>
      readdirSync(join(cache, 'kubenode', 'compiled'), { recursive: true, encoding: 'utf8' });
    const files = compiled();
    expect(files.length).toBeGreaterThan(100);
    expect(version({ XDG_CACHE_HOME: cache })).toBe(first);
    expect(compiled().toSorted()).toEqual(files.toSorted());
  });

  it('starts without a writable cache folder', () => {
    const home = join(tempFolder(), 'home');
    writeFileSync(home, 'a file, so that no folder can be created in it');
    expect(version({ HOME: home })).toMatch(/^\d+\.\d+\.\d+/);
  });
});
