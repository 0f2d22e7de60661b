import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../support/temp.ts';

const BIN = join(import.meta.dirname, '../../bin/kubenode.js');

/** Prints the folder of compiled code that the process names to those that it starts, behind its version. */
const PRINT_FOLDER =
  'data:text/javascript,process.on("exit",()=>console.log(process.env.NODE_COMPILE_CACHE))';

function version(env: Record<string, string>): string {
  const args = ['--import', PRINT_FOLDER, BIN, '--version'];
  return execFileSync(process.execPath, args, { env, encoding: 'utf8' });
}

describe('bin/kubenode.js', () => {
  it('keeps compiled code in the cache folder of the user, so that the next start strips no types', () => {
    const cache = tempFolder();
    const folder = join(cache, 'kubenode', 'compiled');
    const first = version({ XDG_CACHE_HOME: cache });
    expect(first).toMatch(new RegExp(`^\\d+\\.\\d+\\.\\d+[^]*\n${folder}\n$`));
    const compiled = (): string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const files = compiled();
    expect(files.length).toBeGreaterThan(100);
    expect(version({ XDG_CACHE_HOME: cache })).toBe(first);
    expect(compiled().toSorted()).toEqual(files.toSorted());
    // Its user may choose another one.
    expect(version({ XDG_CACHE_HOME: tempFolder(), NODE_COMPILE_CACHE: folder })).toBe(first);
  });

  it('starts without a writable cache folder', () => {
    const home = join(tempFolder(), 'home');
    writeFileSync(home, 'a file, so that no folder can be created in it');
    expect(version({ HOME: home })).toMatch(/^\d+\.\d+\.\d+/);
  });
});
