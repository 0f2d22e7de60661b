import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  findPrometheusProgram,
  requestedPrometheus,
  versionReason,
} from '../../../src/demo/metrics/program.ts';
import { tempFolder } from '../../support/temp.ts';

/** A program that prints this for --version. */
function programIn(folder: string, printed: string): string {
  const path = join(folder, 'prometheus');
  writeFileSync(path, `#!/bin/sh\necho '${printed}' >&2\n`);
  chmodSync(path, 0o755);
  return path;
}

describe('versionReason', () => {
  it.each<[printed: string, reason: string | undefined]>([
    ['prometheus, version 2.42.0+ds (branch: debian/sid)', undefined],
    ['prometheus, version 2.15.0', undefined],
    ['prometheus, version 3.0.1', undefined],
    ['prometheus, version 2.14.0', 'expected Prometheus 2.15 or newer, found 2.14'],
    ['prometheus, version 1.8.2', 'expected Prometheus 2.15 or newer, found 1.8'],
    ['', 'expected Prometheus 2.15 or newer, and its --version prints ""'],
  ])('of %s', (printed, reason) => {
    expect(versionReason(printed)).toBe(reason);
  });
});

describe('findPrometheusProgram', () => {
  it('DAT-08 takes the first program on the PATH, and no folder of that name', async () => {
    const [first, second] = [tempFolder('first'), tempFolder('second')];
    mkdirSync(join(first, 'prometheus'));
    const path = programIn(second, 'prometheus, version 2.42.0');
    const io = { env: { PATH: `${first}::${second}` }, cwd: '/' };
    expect(await findPrometheusProgram(io, undefined)).toBe(path);
    expect(await findPrometheusProgram({ env: {}, cwd: second }, './prometheus')).toBe(path);
  });

  it('DAT-08 names what to install where it is missing', async () => {
    const io = { env: { PATH: tempFolder('empty') }, cwd: '/' };
    const missing = {
      message: 'prometheus is not installed: not found on the PATH',
      hint: 'install it (Debian and Ubuntu: apt install prometheus), or pass its path with --prometheus; without --metrics everything else works',
      exitCode: 69,
    };
    await expect(findPrometheusProgram(io, undefined)).rejects.toMatchObject(missing);
    await expect(findPrometheusProgram(io, 'none')).rejects.toThrow('not a program: /none');
  });

  it('refuses a program that is too old, or another one', async () => {
    const old = programIn(tempFolder('old'), 'prometheus, version 2.3.0');
    await expect(findPrometheusProgram({ env: {}, cwd: '/' }, old)).rejects.toThrow('found 2.3');
    await expect(findPrometheusProgram({ env: {}, cwd: '/' }, '/bin/true')).rejects.toThrow('2.15 or newer');
  });
});

it('asks for no program without --metrics, and refuses a path without it', async () => {
  expect(await requestedPrometheus({ env: {}, cwd: '/' }, {})).toBeUndefined();
  const refused = requestedPrometheus({ env: {}, cwd: '/' }, { prometheus: 'x' });
  await expect(refused).rejects.toThrow('--prometheus needs --metrics');
});
