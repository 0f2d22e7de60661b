import { expect, it } from 'vitest';
import { programPaths } from '../../../src/agent/install/programs.ts';
import { agentUnit, target } from '../../support/agent/targets.ts';

const { directory, ...V1 } = target('1.0');

function pathsFor(hostDirectory: string, argv: readonly string[]): readonly string[] {
  const exec = { argv: [...argv], env: {}, user: 'root' };
  const artifact = V1.artifact && { ...V1.artifact, install: [] };
  const units = [agentUnit('proxy', { exec })];
  return programPaths(
    { directory: hostDirectory },
    { ...V1, directory, ...(artifact && { artifact }), units },
  );
}

it('watches the program of a unit, and the script that an interpreter of the host runs', () => {
  const [program, script] = [`${directory}/proxy`, `${directory}/main.mjs`];
  expect(pathsFor('/', [program, '--port=80', '/etc/proxy.conf'])).toEqual([program]);
  expect(pathsFor('/', ['/usr/bin/node', script, `${directory}-other/x`])).toEqual([script]);
  expect(pathsFor('/tmp/n1', ['/usr/bin/node', `/tmp/n1${script}`])).toEqual([script]);
});
