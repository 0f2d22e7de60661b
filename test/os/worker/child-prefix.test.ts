import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { limitChild } from '../../../src/os/worker/child-prefix.ts';

const MIB = 1024 * 1024;

function exitCodeOf(program: string): number | null {
  const [prefix = '', ...args] = limitChild({ memoryMiB: 256 });
  return spawnSync(prefix, [...args, process.execPath, '-e', program], { stdio: 'ignore' }).status;
}

describe.skipIf(limitChild({ memoryMiB: 1 }).length === 0)('a memory limit', () => {
  it.each([
    [128, 0],
    [512, 1],
  ])('of 256 MiB lets a program of Node use %i MiB, or ends it: exit code %i', (mib, code) => {
    expect(exitCodeOf(`Buffer.alloc(${mib * MIB}, 1)`)).toBe(code);
  });
});
